import { describe, expect, test } from 'vitest'
import { type ChatEvent, type EventId, formatEventId, parseEventId } from '../../src/protocol/events.ts'
import { mergePage } from '../../src/protocol/page.ts'
import { reduce } from '../../src/protocol/reduce.ts'
import { messageOf, putMessages } from '../../src/protocol/state.ts'
import { empty, fold } from './fold.ts'
import { assistant, created, delta, numberedFrom, plain, session, started, user } from './rows.ts'

const numbered = (n: number, event: ChatEvent, tag = `t${n}`) => ({ id: { n, tag }, event })

describe('a number', () => {
  const state = fold(numberedFrom(0, created(user('u', { rev: 1 })), started('a', 2)))

  test('below the last one is known, whatever its tag says', () => {
    expect(reduce(state, numbered(1, delta('a', 'x'), 'other'))).toBe(state)
  })

  test('that is the last one with another tag is another history', () => {
    expect(reduce(state, numbered(2, delta('a', 'x'), 'other'))).toEqual({
      ...state,
      missing: { reason: 'diverged' },
    })
  })

  test('beyond the next one leaves a hole, which is named once', () => {
    const torn = reduce(state, numbered(5, delta('a', 'x')))
    expect(torn).toEqual({ ...state, missing: { from: 3, to: 4, reason: 'hole' } })
    expect(reduce(torn, numbered(9, delta('a', 'y')))).toBe(torn)
  })

  test('is the first one there is only if it is 1', () => {
    expect(reduce(empty, numbered(2, started('a'))).missing).toEqual({ from: 1, to: 1, reason: 'hole' })
  })

  test('that fills the hole takes it away', () => {
    const torn = reduce(state, numbered(5, delta('a', 'x')))
    const half = reduce(torn, numbered(3, delta('a', '1')))
    expect(half).toMatchObject({ missing: { from: 3, to: 4 }, cursor: { n: 3 } })
    expect(reduce(half, numbered(4, delta('a', '2')))).toMatchObject({ missing: null, cursor: { n: 4 } })
  })

  test('moves the cursor for an event that nobody knows, and for that alone', () => {
    const next = reduce(state, numbered(3, { type: 'unknown' }))
    expect(next).toEqual({ ...state, cursor: { n: 3, tag: 't3' } })
    expect(reduce(state, { event: { type: 'unknown' } })).toBe(state)
  })

  test('proves nothing once the other side cannot continue', () => {
    for (const reason of ['trimmed', 'diverged', 'restarted'] as const) {
      const stopped = reduce(state, { event: { type: 'gap', reason, from: 3, to: 8 } })
      expect(stopped).toEqual({ ...state, missing: { reason, from: 3, to: 8 } })
      expect(reduce(stopped, numbered(3, delta('a', 'x')))).toBe(stopped)
      expect(reduce({ ...stopped, missing: null }, numbered(3, delta('a', 'x'))).cursor?.n).toBe(3)
    }
  })
})

describe('the change cursor', () => {
  const rows: ChatEvent[] = [
    created(user('u', { rev: 7 })),
    { type: 'message.updated', message: user('u', { rev: 7 }) },
    { type: 'message.completed', message: assistant('a', { rev: 7 }) },
    { type: 'message.failed', id: 'a', rev: 7, error: { code: 'server', message: '' } },
    { type: 'message.interrupted', id: 'a', rev: 7 },
    { type: 'message.deleted', id: 'a', rev: 7 },
    started('a', 7),
    { type: 'session.updated', session: session({ rev: 7 }) },
    { type: 'session.deleted', id: 's', rev: 7 },
  ]

  test.each(rows)('moves with a numbered $type', (event) => {
    expect(reduce(empty, numbered(1, event)).rev).toBe(7)
    expect(reduce({ ...empty, rev: 9 }, numbered(1, event)).rev).toBe(9)
  })

  test.each(rows)('does not move with a $type whose order nothing proves', (event) => {
    expect(reduce(empty, { event }).rev).toBe(0)
    expect(reduce(empty, numbered(2, event)).rev).toBe(0)
  })

  test('does not move with rows put in, nor with a page: whoever asked for it knows whether it was the last', () => {
    expect(putMessages(empty, [user('u', { rev: 7 })]).rev).toBe(0)
    const page = {
      messages: [user('u', { rev: 7 })],
      session: session({ rev: 8 }),
      deleted: [{ id: 'x', rev: 6 }],
      rev: 9,
    }
    expect(mergePage(empty, page)).toMatchObject({ rev: 0, cursor: null })
  })
})

describe('runs', () => {
  const run = (type: 'run.started' | 'run.finished'): ChatEvent =>
    type === 'run.started' ? { type, runId: 'r' } : { type, runId: 'r', outcome: 'completed' }

  test('are in flight from their start to their end', () => {
    const running = fold(plain(run('run.started')))
    expect([...running.runs]).toEqual(['r'])
    expect(reduce(running, { event: run('run.started') })).toBe(running)
    expect(reduce(running, { event: { type: 'run.waiting', runId: 'r', calls: ['c'] } })).toBe(running)
    const ended = reduce(running, { event: run('run.finished') })
    expect([...ended.runs]).toEqual([])
    expect(reduce(ended, { event: run('run.finished') })).toBe(ended)
  })
})

describe('an event id', () => {
  test.each<[string, EventId | undefined]>([
    ['12.aB3', { n: 12, tag: 'aB3' }],
    ['1.x', { n: 1, tag: 'x' }],
    ['9007199254740991.x', { n: Number.MAX_SAFE_INTEGER, tag: 'x' }],
    ['9007199254740992.x', undefined],
    ['9999999999999999.x', undefined],
    ['99999999999999999999.x', undefined],
    ['0.x', undefined],
    ['01.x', undefined],
    ['-1.x', undefined],
    ['1e3.x', undefined],
    ['1.5.x', undefined],
    [' 1.x', undefined],
    ['1.x ', undefined],
    ['1.x\n', undefined],
    ['1.', undefined],
    ['.x', undefined],
    ['12', undefined],
    ['', undefined],
    ['1.ü', undefined],
    [`1.${'x'.repeat(65)}`, undefined],
    ['١.x', undefined],
  ])('%j is %j', (text, id) => {
    expect(parseEventId(text)).toEqual(id)
    if (id) expect(formatEventId(id)).toBe(text)
  })
})

test('a message put in by a hole stays what it was', () => {
  const state = fold(numberedFrom(0, created(user('u', { rev: 1 }))))
  const torn = reduce(state, numbered(3, { type: 'message.deleted', id: 'u', rev: 2 }))
  expect(messageOf(torn, 'u')).toBe(messageOf(state, 'u'))
})
