import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSseParser, formatSse, type SseFrame } from '../../src/lib/sse.ts'
import { decodeFrame, decodeMessage, decodePage, frameOf } from '../../src/protocol/codec.ts'
import { ChatEvent, type Envelope } from '../../src/protocol/events.ts'
import { anyEvent, anyEventId, anyMessage } from './any-event.ts'
import { SESSION } from './server-model.ts'

const defaults = { sessionId: SESSION, now: 7, parentId: null }

/** Down to bytes and up again. */
function roundTrip(envelope: Envelope): unknown {
  const frames: SseFrame[] = []
  const parser = createSseParser({ onFrame: (frame) => frames.push(frame) })
  parser.feed(new TextEncoder().encode(formatSse(frameOf(envelope))))
  return frames.map((frame) => decodeFrame(frame, defaults))
}

describe('an event', () => {
  test('of every type there is has a test here', () => {
    const types = ChatEvent.def.options.flatMap((option) => [...option.def.shape.type.options])
    expect(Object.keys(anyEvent).toSorted()).toEqual(types.filter((type) => type !== 'unknown').toSorted())
  })

  test.each(Object.entries(anyEvent))(
    '%s comes back as it was written',
    (_, events: fc.Arbitrary<object>) => {
      fc.assert(
        fc.property(events, fc.option(anyEventId, { nil: undefined }), (event, id) => {
          const envelope: Envelope = { ...(id && { id }), event: ChatEvent.parse(event) }
          // Nothing of it is lost by the schema, either.
          expect(envelope.event).toEqual(event)
          expect(roundTrip(envelope)).toEqual([{ type: 'event', envelope }])
        }),
      )
    },
  )

  test('that nobody knows comes back by its number', () => {
    const envelope: Envelope = { id: { n: 3, tag: 'x' }, event: { type: 'unknown' } }
    expect(roundTrip(envelope)).toEqual([{ type: 'event', envelope }])
  })

  test('is written without a number where it has none', () => {
    expect(frameOf({ event: { type: 'run.started', runId: 'r' } })).toEqual({
      event: 'run.started',
      data: '{"runId":"r"}',
    })
  })

  test('of ours alone is never on the wire', () => {
    expect(frameOf({ event: { type: 'message.finished', id: 'a' } })).toEqual({
      event: 'message.completed',
      data: '{"id":"a"}',
    })
    for (const event of ['message.finished', 'message_finished', 'unknown'])
      expect(decodeFrame({ event, data: '{"id":"a"}' }, defaults)).toEqual({ type: 'ignored' })
  })
})

describe('a frame that is no event of ours', () => {
  test.each<SseFrame>([
    { event: 'message.reacted', data: '{}' },
    { event: 'ping', data: '' },
    { event: 'toString', data: '{}' },
    { event: '__proto__', data: '{}' },
    { data: '[DONE]' },
    { data: '' },
    { data: 'null' },
    { data: '[1]' },
    { data: '"message.delta"' },
    { data: '{}' },
    { data: '{"type":"message.reacted"}' },
    { data: '{"type":7}' },
    { data: '{"type":{"message":"delta"}}' },
    { data: '{"type":"__proto__"}' },
    { event: '', data: '{"type":""}' },
  ])('is ignored: %j', (frame) => {
    expect(decodeFrame(frame, defaults)).toEqual({ type: 'ignored' })
    // Its number is not: the next event would seem to come after a hole.
    expect(decodeFrame({ ...frame, id: '5.x' }, defaults)).toEqual({
      type: 'event',
      envelope: { id: { n: 5, tag: 'x' }, event: { type: 'unknown' } },
    })
  })

  test('is ignored whatever it says', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.option(fc.string(), { nil: undefined }),
        (data, event) => {
          expect(decodeFrame({ data, event }, defaults)).toEqual({ type: 'ignored' })
        },
      ),
    )
  })
})

describe('a page', () => {
  test('comes back as it was written', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 4 }), (messages) => {
        const page = {
          messages,
          hasMore: false,
          limited: false,
          eventId: null,
          rev: 3,
          deleted: [{ id: 'x', rev: 1 }],
        }
        expect(decodePage(JSON.parse(JSON.stringify(page)), defaults)).toEqual({ page, malformed: 0 })
      }),
    )
  })

  const good = { id: 'u', role: 'user', content: 'hi' }
  test('stands without the rows that do not parse, and counts them', () => {
    const bad = [
      null,
      7,
      'text',
      [],
      {},
      { ...good, id: 'bad id' },
      { ...good, role: 'boss' },
      { ...good, content: [{ type: 'video' }] },
      { ...good, sessionId: 'other' },
      { ...good, status: 'asleep' },
      { ...good, rev: '7' },
    ]
    const answer = decodePage({ messages: [...bad, good, ...bad] }, defaults)
    expect(answer?.malformed).toBe(bad.length * 2)
    expect(answer?.page.messages.map(({ id }) => id)).toEqual(['u'])
  })

  test('may be a bare array, whose rows follow one another', () => {
    const rows = [good, { id: 'a', role: 'assistant', content: 'hello' }]
    expect(decodePage(rows, { ...defaults, parentId: 'before' })?.page.messages).toMatchObject([
      { id: 'u', parentId: 'before', status: 'completed', createdAt: 7, v: 1, sessionId: SESSION },
      { id: 'a', parentId: 'u', content: [{ type: 'text', text: 'hello' }] },
    ])
  })

  test.each([
    undefined,
    null,
    7,
    'page',
    {},
    { messages: {} },
    { messages: null },
    { messages: [], hasMore: 'yes' },
    { messages: [], eventId: 7 },
    { messages: [], rev: 'x' },
    { messages: [], deleted: {} },
    { messages: [], session: { id: SESSION } },
    { messages: [], session: { id: 'other', createdAt: 1, updatedAt: 1, metadata: {}, headId: null, v: 1 } },
  ])('is none: %j', (value) => {
    expect(decodePage(value, defaults)).toBeUndefined()
  })

  test('may have nulls for what it does not say', () => {
    const answer = decodePage(
      { messages: [good], hasMore: null, limited: null, eventId: null, rev: null, session: null },
      defaults,
    )
    expect(answer?.page).toMatchObject({ eventId: null })
    expect(answer?.page).not.toHaveProperty('rev')
  })
})

test('what an answer has to be comes over the wire as it was said', () => {
  const schema = { properties: { unit: { const: null }, note: { default: null } } }
  const message = { id: 'u', role: 'user', content: 'hi', output: { schema, name: null } }
  expect(decodeMessage(message, defaults)).toMatchObject({ output: { schema } })
})

test('a message of another session is none of ours', () => {
  const message = { id: 'u', role: 'user', content: 'hi' }
  expect(decodeMessage(message, defaults)?.sessionId).toBe(SESSION)
  expect(decodeMessage({ ...message, sessionId: 'other' }, defaults)).toBeUndefined()
})
