import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import type { ChatEvent } from '../../src/protocol/events.ts'
import { reduce } from '../../src/protocol/reduce.ts'
import { messageOf, putMessages, type SessionState } from '../../src/protocol/state.ts'
import { empty, fold } from './fold.ts'
import { assistant, created, delta, numberedFrom, plain, started, text, user } from './rows.ts'

const error = { code: 'server', message: 'it broke' } as const
const row = (state: SessionState, id: string): Message | undefined => messageOf(state, id)
const at = (status: Message['status'], fields = {}) =>
  fold(plain(created(assistant('a', { status, content: text('abc'), ...fields }))))

describe('an end', () => {
  const ends: ChatEvent[] = [
    { type: 'message.finished', id: 'a' },
    { type: 'message.failed', id: 'a', error },
    { type: 'message.interrupted', id: 'a' },
    { type: 'message.completed', message: assistant('a', { status: 'completed', content: text('other') }) },
    { type: 'message.failed', id: 'a', error, message: assistant('a', { content: text('other') }) },
  ]

  test.each(ends)('without a revision ($type) leaves what has ended as it is', (event) => {
    for (const status of ['completed', 'failed'] as const) {
      const state = at(status)
      expect(reduce(state, { event })).toBe(state)
    }
  })

  test.each(ends)('with a lower revision ($type) comes too late', (event) => {
    const dated =
      'message' in event && event.message
        ? { ...event, message: { ...event.message, rev: 4 } }
        : { ...event, rev: 4 }
    if (event.type === 'message.finished') return
    const state = at('completed', { rev: 5 })
    expect(reduce(state, { event: dated as ChatEvent })).toBe(state)
  })

  test('of the revision that is there already changes nothing, nor does a start', () => {
    const state = at('streaming', { rev: 5 })
    expect(reduce(state, { event: { type: 'message.failed', id: 'a', rev: 5, error } })).toBe(state)
    expect(reduce(state, { event: { type: 'message.interrupted', id: 'a', rev: 5 } })).toBe(state)
    const pending = at('pending', { rev: 5 })
    expect(reduce(pending, { event: started('a', 5) })).toBe(pending)
  })

  test('with the whole message of a higher revision replaces every status', () => {
    for (const status of ['pending', 'streaming', 'interrupted', 'completed', 'failed'] as const) {
      const message = assistant('a', { rev: 6, content: text('all of it') })
      const state = reduce(at(status, { rev: 5 }), { event: { type: 'message.completed', message } })
      expect(row(state, 'a')).toMatchObject({ status: 'completed', rev: 6, content: text('all of it') })
    }
  })

  test('takes its revision from the event where its message has none', () => {
    const message = assistant('a', { content: text('abc') })
    const state = reduce(at('streaming', { rev: 5 }), {
      event: { type: 'message.failed', id: 'a', rev: 6, error, message },
    })
    expect(row(state, 'a')).toMatchObject({ status: 'failed', rev: 6, error })
    expect(reduce(state, { event: { type: 'message.interrupted', id: 'a', rev: 6, message } })).toBe(state)
  })

  test('keeps the text, calls and usage produced so far', () => {
    const usage = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, total: 3 }
    const before = at('streaming', { usage })
    for (const event of [ends[1], ends[2]] as ChatEvent[])
      expect(row(reduce(before, { event }), 'a')).toMatchObject({ content: text('abc'), usage })
  })
})

describe('the end of a minimal server’s answer', () => {
  test('finishes what was streamed', () => {
    const state = fold(plain(started('a'), delta('a', 'Hi'), { type: 'message.finished', id: 'a' }))
    expect(row(state, 'a')).toMatchObject({ status: 'completed', stopReason: 'stop', content: text('Hi') })
  })

  test('replaces what was streamed by the content it brings', () => {
    const finished = { type: 'message.finished', id: 'a', content: text('Hello') } as const
    expect(row(fold(plain(started('a'), delta('a', 'Hi'), finished)), 'a')).toMatchObject({
      status: 'completed',
      content: text('Hello'),
    })
  })

  test('is an answer of its own where nothing was streamed', () => {
    const finished = { type: 'message.finished', id: 'a', content: text('Hello') } as const
    expect(row(fold(plain(created(user('u')), finished)), 'a')).toMatchObject({
      status: 'completed',
      parentId: 'u',
      content: text('Hello'),
    })
  })

  test('gives a user message no fields of an answer', () => {
    const before = fold(plain(created(user('u', { status: 'pending' }))))
    const finished = {
      type: 'message.finished',
      id: 'u',
      content: [{ type: 'thinking', text: 'hm' }],
    } as const
    const state = reduce(before, { event: { ...finished, content: [...finished.content] } })
    expect(row(state, 'u')).toMatchObject({ status: 'completed', content: user('u').content })
    expect(row(state, 'u')).not.toHaveProperty('stopReason')
  })
})

describe('an answer that a server began without creating it', () => {
  test('follows the newest acknowledged message and ends the branch', () => {
    const before = fold(plain(created(user('u1')), created(user('u2', { parentId: 'u1' }))))
    const state = fold(plain(started('a'), delta('a', 'x')), before)
    expect(row(state, 'a')).toMatchObject({
      parentId: 'u2',
      seq: 3,
      status: 'streaming',
      sessionId: 's',
      v: 1,
    })
    expect(state.headId).toBe('a')
  })

  test('follows nothing that was not accepted yet', () => {
    const own = user('own', { parentId: 'u1', status: 'pending' })
    const before = putMessages(fold(plain(created(user('u1')))), [own])
    expect(row(reduce(before, { event: started('a') }), 'a')?.parentId).toBe('u1')
  })

  test('may be said to wait still', () => {
    const state = reduce(empty, { event: { type: 'message.started', id: 'a', status: 'pending' } })
    expect(row(state, 'a')?.status).toBe('pending')
    expect(row(reduce(state, { event: delta('a', 'x') }), 'a')?.status).toBe('streaming')
  })

  test('may fail before it streams', () => {
    const state = reduce(empty, { event: { type: 'message.failed', id: 'a', error } })
    expect(row(state, 'a')).toMatchObject({ status: 'failed', error })
  })

  test('is dated by the clock that is handed in', () => {
    expect(row(reduce(empty, { event: started('a') }, 42), 'a')).toMatchObject({
      createdAt: 42,
      updatedAt: 42,
    })
  })
})

describe('resuming', () => {
  test('needs a number: a late start of an interrupted answer is none', () => {
    const state = at('interrupted', { rev: 5 })
    expect(reduce(state, { event: started('a', 6) })).toBe(state)
    expect(row(fold(numberedFrom(0, started('a', 6)), state), 'a')).toMatchObject({
      status: 'streaming',
      rev: 6,
    })
  })

  test.each(['completed', 'failed'] as const)('never wakes a %s answer', (status) => {
    const state = at(status, { rev: 5 })
    expect(row(fold(numberedFrom(0, started('a', 6)), state), 'a')).toBe(row(state, 'a'))
  })
})

test('text shown is the text of the fold', () => {
  const state = fold(plain(started('a'), delta('a', 'one '), delta('a', 'two')))
  expect(textOf(row(state, 'a') ?? { content: [] })).toBe('one two')
})
