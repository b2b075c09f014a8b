import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Id } from '../../src/message/schema.ts'
import { decodeFrame, decodeMessage, decodePage } from '../../src/protocol/codec.ts'
import { mergePage } from '../../src/protocol/page.ts'
import { reduce } from '../../src/protocol/reduce.ts'
import { messageOf } from '../../src/protocol/state.ts'
import { anyEvent, anyJson } from './any-event.ts'
import { empty } from './fold.ts'
import { assistant, session, text, user } from './rows.ts'
import { SESSION } from './server-model.ts'

const defaults = { sessionId: SESSION, now: 7, parentId: null }
const decode = (event: string, data: unknown) =>
  decodeFrame({ event, data: typeof data === 'string' ? data : JSON.stringify(data) }, defaults)
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const message = user('u')

describe('a known event that does not parse is counted as missing:', () => {
  const table: [string, string, unknown][] = [
    ['no JSON', 'message.delta', '{"id":"a","delta":"x"'],
    ['nothing', 'message.delta', ''],
    ['an array', 'message.delta', [{ id: 'a', delta: 'x' }]],
    ['null', 'message.delta', null],
    ['a number', 'message.delta', 7],
    ['no id', 'message.delta', { delta: 'x' }],
    ['an id that is a number', 'message.delta', { id: 1, delta: 'x' }],
    ['an empty id', 'message.delta', { id: '', delta: 'x' }],
    ['an id with a space', 'message.delta', { id: 'a b', delta: 'x' }],
    ['an id with a slash', 'message.delta', { id: '../x', delta: 'x' }],
    ['an id with a line end', 'message.delta', { id: 'a\n', delta: 'x' }],
    ['an id of another script', 'message.delta', { id: 'ä', delta: 'x' }],
    ['an id of 65 characters', 'message.delta', { id: 'x'.repeat(65), delta: 'x' }],
    ['a delta that is no text', 'message.delta', { id: 'a', delta: { text: 'x' } }],
    ['no delta', 'message.delta', { id: 'a' }],
    ['an index below 0', 'message.delta', { id: 'a', delta: 'x', index: -1 }],
    ['half an index', 'message.delta', { id: 'a', delta: 'x', index: 0.5 }],
    ['an index that is a text', 'message.delta', { id: 'a', delta: 'x', index: '0' }],
    ['an index beyond all numbers', 'message.delta', '{"id":"a","delta":"x","index":1e999}'],
    ['an offset below 0', 'message.delta', { id: 'a', delta: 'x', offset: -3 }],
    ['half an offset', 'message.delta', { id: 'a', delta: 'x', offset: 1.5 }],
    ['an offset that is a text', 'message.delta', { id: 'a', delta: 'x', offset: '1' }],
    ['an offset beyond all numbers', 'message.delta', '{"id":"a","delta":"x","offset":1e999}'],
    ['a block that is none', 'message.delta', { id: 'a', delta: 'x', block: { type: 'video' } }],
    ['a block that is a text', 'message.delta', { id: 'a', delta: 'x', block: 'text' }],
    [
      'a block nested too deeply',
      'message.delta',
      `{"id":"a","delta":"x","block":{"type":"text","text":"","x":${nested(10_000)}}}`,
    ],
    [
      'an event nested too deeply',
      'message.created',
      `{"message":${JSON.stringify(message).slice(0, -1)},"x":${nested(10_000)}}}`,
    ],
    [
      'metadata nested too deeply',
      'message.created',
      `{"message":${JSON.stringify(message).slice(0, -1)},"metadata":{"x":${nested(10_000)}}}}`,
    ],
    ['a message of another session', 'message.created', { message: { ...message, sessionId: 'other' } }],
    ['a session that is another', 'session.updated', { session: session({ id: 'other' }) }],
    ['the end of another session', 'session.deleted', { id: 'other', rev: 1 }],
    ['an end that names another message', 'message.failed', { id: 'a', error: 'x', message: assistant('b') }],
    [
      'an interruption that names another message',
      'message.interrupted',
      { id: 'a', message: assistant('b') },
    ],
    ['no message', 'message.created', {}],
    ['a message that is an array', 'message.created', { message: [message] }],
    ['content that is an object', 'message.created', { message: { ...message, content: { 0: 'x' } } }],
    [
      'a block of another role',
      'message.created',
      { message: { ...message, content: [{ type: 'thinking', text: '' }] } },
    ],
    ['a status that is none', 'message.created', { message: { ...message, status: 'done' } }],
    ['a revision that is a text', 'message.created', { message: { ...message, rev: '9' } }],
    [
      'a revision beyond all numbers',
      'message.created',
      `{"message":${JSON.stringify(message).slice(0, -1)},"rev":1e999}}`,
    ],
    ['a deletion without a revision', 'message.deleted', { id: 'a' }],
    ['an end without an id', 'message.completed', { content: 'x' }],
    ['a failure without an id', 'message.failed', { error: 'x' }],
    ['a run without an id', 'run.started', {}],
    ['a gap without a reason', 'gap', { from: 1 }],
  ]

  test.each(table)('%s', (_, event, data) => {
    expect(decode(event, data)).toEqual({ type: 'malformed', event, problem: expect.any(String) })
  })

  test('whatever is put where something of it was', () => {
    const events = fc
      .constantFrom(...Object.entries(anyEvent))
      .chain(([type, given]) => fc.record({ type: fc.constant(type), event: given }))
    fc.assert(
      fc.property(events, fc.nat(), anyJson, ({ type, event }, pick, junk) => {
        const data: Record<string, unknown> = JSON.parse(JSON.stringify(event))
        const target = pick % 3 === 0 && typeof data.message === 'object' ? data.message : data
        const keys = Object.keys(target ?? {}).filter((key) => key !== 'type')
        Object.assign(target ?? {}, { [keys[pick % keys.length] ?? 'x']: junk })
        const outcome = decode(type, data)
        expect(['event', 'malformed', 'ignored']).toContain(outcome.type)
        if (outcome.type === 'event') expect(reduce(empty, outcome.envelope).sessionId).toBe(SESSION)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('names that objects have anyway', () => {
  const evil = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":"x"'

  test('are no way into our objects', () => {
    const row = `${JSON.stringify(message).slice(0, -1)},"metadata":${evil}},${evil.slice(1)}}`
    const outcome = decode('message.created', `{"message":${row},${evil.slice(1)}}`)
    if (outcome.type !== 'event') throw new Error(JSON.stringify(outcome))
    const state = reduce(empty, outcome.envelope)
    const stored = messageOf(state, 'u')
    expect(Object.getPrototypeOf(stored)).toBe(Object.prototype)
    expect(Object.hasOwn(stored ?? {}, '__proto__')).toBe(false)
    expect(Object.hasOwn(stored?.metadata ?? {}, '__proto__')).toBe(false)
    expect(Object.getPrototypeOf(stored?.metadata)).toBe(Object.prototype)
    expect(stored?.metadata).toMatchObject({ toString: 'x' })
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
    expect({}).not.toHaveProperty('polluted')
  })

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'are ids like any other: %s',
    (id) => {
      const outcome = decode('message.delta', { id, delta: 'Hi' })
      if (outcome.type !== 'event') throw new Error('not an event')
      const state = reduce(empty, outcome.envelope)
      expect(messageOf(state, id)).toMatchObject({ id, content: text('Hi') })
      expect(messageOf(empty, id)).toBeUndefined()
    },
  )
})

describe('what is deep', () => {
  test.each(['x', 'metadata'])('is refused before it is walked to its end: %s', (field) => {
    const data = `{"message":${JSON.stringify(message).slice(0, -1)},"${field}":{"x":${nested(10_000)}}}}`
    expect(decode('message.created', data)).toMatchObject({
      problem: expect.stringMatching(/^nested deeper than \d+ levels$/),
    })
  })

  const within = (depth: number) => ({ ...message, metadata: { x: JSON.parse(nested(depth)) } })

  test('is read as far as it can be compared, cloned and stored everywhere', () => {
    const row = decodeMessage(within(200), defaults)
    expect(
      row && mergePage(mergePage(empty, { messages: [row] }), { messages: [structuredClone(row)] }).rest.size,
    ).toBe(1)
    expect(decodeMessage(within(300), defaults)).toBeUndefined()
    expect(decodeMessage(within(10_000), defaults)).toBeUndefined()
  })

  test('costs a page that row, or the page itself', () => {
    expect(decodePage([within(10_000), message], defaults)).toMatchObject({
      malformed: 1,
      page: { messages: [{ id: 'u' }] },
    })
    expect(decodePage({ messages: [], x: JSON.parse(nested(10_000)) }, defaults)).toBeUndefined()
  })
})

describe('what is long', () => {
  const long = 'x'.repeat(5_000_000)

  test('is read like the rest', () => {
    const outcome = decode('message.delta', { id: 'a', delta: long })
    expect(outcome.type === 'event' && outcome.envelope.event).toMatchObject({ delta: long })
    expect(decodeMessage({ id: 'u', role: 'user', content: long }, defaults)?.content).toEqual(text(long))
  })

  test('is no id, and no name', () => {
    expect(decode('message.delta', { id: long, delta: 'x' }).type).toBe('malformed')
    expect(decodeFrame({ event: long, data: long, id: long }, defaults)).toEqual({ type: 'ignored' })
  })

  test('is not repeated in what is said about it', () => {
    for (const outcome of [
      decode('message.created', { message: { ...message, status: long } }),
      decode('message.delta', long),
    ])
      expect(outcome.type === 'malformed' && outcome.problem.length).toBeLessThan(300)
  })
})

test('the ids of deltas are those of the schema', () => {
  const ids = fc.oneof(fc.string({ maxLength: 70 }), fc.stringMatching(/^[A-Za-z0-9_-]{0,66}$/))
  fc.assert(
    fc.property(ids, (id) => {
      expect(decode('message.delta', { id, delta: '' }).type === 'event').toBe(Id.safeParse(id).success)
    }),
    { numRuns: 500 },
  )
})
