import { describe, expect, test } from 'vitest'
import type { SseFrame } from '../../src/lib/sse.ts'
import { createSseParser } from '../../src/lib/sse.ts'
import { decodeFrame, decodePage } from '../../src/protocol/codec.ts'
import type { ChatEvent, Envelope } from '../../src/protocol/events.ts'
import { mergePage } from '../../src/protocol/page.ts'
import { reduceAll } from '../../src/protocol/reduce.ts'
import { messageOf, messagesOf } from '../../src/protocol/state.ts'
import { empty } from './fold.ts'
import { assistant, text, user } from './rows.ts'
import { SESSION } from './server-model.ts'

const defaults = { sessionId: SESSION, now: 7, parentId: 'u' }
const json = (event: string | undefined, data: unknown): SseFrame => ({ event, data: JSON.stringify(data) })
const decoded = (frame: SseFrame) => decodeFrame(frame, defaults)
const isEvent = (event: ChatEvent) => ({ type: 'event', envelope: { event } })

const delta = { type: 'message.delta', id: 'a', index: 0, delta: 'Hi' } as const
const finished = { type: 'message.finished', id: 'a' } as const
const failed = { type: 'message.failed', id: 'a' } as const
const whole = assistant('a', { status: 'completed', content: text('Hi') })

describe('a minimal server may', () => {
  const table: [string, SseFrame, ChatEvent][] = [
    ['send an id and a delta', json('message.delta', { id: 'a', delta: 'Hi' }), delta],
    ['spell names with an underscore', json('message_delta', { id: 'a', delta: 'Hi' }), delta],
    ['say the type in the data', json(undefined, { type: 'message.delta', id: 'a', delta: 'Hi' }), delta],
    [
      'say it there with an underscore',
      json(undefined, { type: 'message_delta', id: 'a', delta: 'Hi' }),
      delta,
    ],
    ['name every frame message', json('message', { type: 'message_delta', id: 'a', delta: 'Hi' }), delta],
    [
      'say the type twice: the name counts',
      json('message.delta', { type: 'message.failed', id: 'a', delta: 'Hi' }),
      delta,
    ],
    [
      'send nulls for what it does not say',
      json('message.delta', { id: 'a', delta: 'Hi', index: null, offset: null, block: null }),
      delta,
    ],
    [
      'send fields that nobody knows',
      json('message.delta', { id: 'a', delta: 'Hi', mood: { good: [1] } }),
      delta,
    ],
    ['begin with an id', json('message_started', { id: 'a' }), { type: 'message.started', id: 'a' }],
    [
      'begin with nulls',
      json('message.started', { id: 'a', runId: null, rev: null, status: null }),
      { type: 'message.started', id: 'a' },
    ],
    ['end with an id', json('message_completed', { id: 'a' }), finished],
    [
      'end with a text',
      json('message.completed', { id: 'a', content: 'Hi' }),
      { ...finished, content: text('Hi') },
    ],
    [
      'end with blocks',
      json('message.completed', { id: 'a', content: text('Hi') }),
      { ...finished, content: text('Hi') },
    ],
    [
      'end with a message of the least kind',
      json('message.completed', { message: { id: 'a', content: 'Hi' } }),
      { ...finished, content: text('Hi') },
    ],
    [
      'end with a message that has no content',
      json('message.completed', { message: { id: 'a', content: null } }),
      finished,
    ],
    [
      'end with a whole message',
      json('message.completed', { message: whole }),
      { type: 'message.completed', message: whole },
    ],
    [
      'fail with a text',
      json('message.failed', { id: 'a', error: 'no luck' }),
      { ...failed, error: { code: 'server', message: 'no luck' } },
    ],
    [
      'fail with a message',
      json('message.failed', { id: 'a', error: { message: 'no luck' } }),
      { ...failed, error: { code: 'server', message: 'no luck' } },
    ],
    [
      'fail with a code of ours',
      json('message.failed', { id: 'a', error: { code: 'quota' } }),
      { ...failed, error: { code: 'quota', message: 'the server said no more' } },
    ],
    [
      'fail with a code of its own',
      json('message.failed', { id: 'a', error: { code: 'E42', message: 'm' } }),
      { ...failed, error: { code: 'server', message: 'm' } },
    ],
    [
      'fail without a word',
      json('message_failed', { id: 'a' }),
      { ...failed, error: { code: 'server', message: 'the server said no more' } },
    ],
    [
      'fail with part of a message',
      json('message.failed', { message: { id: 'a', content: 'H' }, error: 'no' }),
      { ...failed, error: { code: 'server', message: 'no' } },
    ],
    [
      'interrupt with an id',
      json('message.interrupted', { id: 'a' }),
      { type: 'message.interrupted', id: 'a' },
    ],
    [
      'create with a text',
      json('message.created', { message: { id: 'x', role: 'user', content: 'Hi' } }),
      {
        type: 'message.created',
        message: user('x', { parentId: 'u', content: text('Hi') as [], createdAt: 7, updatedAt: 7 }),
      },
    ],
    [
      'leave out whose answer it is, and that it is one',
      json('message.updated', {
        message: { id: 'a', content: 'Hi', parentId: null, createdAt: 1, updatedAt: 1 },
      }),
      { type: 'message.updated', message: whole },
    ],
  ]

  test.each(table)('%s', (_, frame, event) => {
    expect(decoded(frame)).toEqual(isEvent(event))
  })

  test.each(['5', 'abc', '', '0.x', 'a.b.c'])('have ids of its own, which prove nothing: %j', (id) => {
    expect(decoded({ ...json('message.delta', { id: 'a', delta: 'Hi' }), id })).toEqual(isEvent(delta))
  })
})

describe('what a minimal server sends', () => {
  const stream = [
    'event: message_started\ndata: {"id":"a"}',
    'event: message_delta\ndata: {"id":"a","delta":"Hel"}',
    'data: {"type":"message_delta","id":"a","delta":"lo"}',
    ': still here',
    'event: usage\ndata: {"tokens":3}',
    'event: message_completed\ndata: {"id":"a"}',
    'data: [DONE]',
  ]

  test('folds to an answer of the newest message', () => {
    const envelopes: Envelope[] = []
    const parser = createSseParser({
      onFrame(frame) {
        const outcome = decoded(frame)
        expect(outcome.type).not.toBe('malformed')
        if (outcome.type === 'event') envelopes.push(outcome.envelope)
      },
    })
    parser.feed(`${stream.join('\n\n')}\n\n`)
    const asked = mergePage(empty, { messages: [user('u')] })
    const state = reduceAll(asked, envelopes)
    expect(messageOf(state, 'a')).toMatchObject({
      status: 'completed',
      parentId: 'u',
      content: text('Hello'),
    })
    expect(state).toMatchObject({ headId: 'a', missing: null, cursor: null, rev: 0 })
    expect(reduceAll(state, envelopes)).toBe(state)
  })

  test('is shown from its pages alone, and a page asked for again later is no news', () => {
    const answer = [
      { id: 'u', role: 'user', content: 'Hi' },
      { id: 'a', role: 'assistant', content: 'Hello' },
    ]
    const first = decodePage(answer, { ...defaults, parentId: null })
    const again = decodePage(answer, { ...defaults, parentId: null, now: 99 })
    if (!first || !again) throw new Error('not a page')
    const state = mergePage(empty, first.page)
    expect([...messagesOf(state)]).toMatchObject([
      { id: 'u', seq: 1, createdAt: 7 },
      { id: 'a', seq: 2, parentId: 'u', createdAt: 7 },
    ])
    expect(state.headId).toBe('a')
    expect(mergePage(state, again.page)).toBe(state)
    // The tail alone, whose first row does not say what it follows.
    const tail = decodePage(answer.slice(1), { ...defaults, parentId: null, now: 99 })
    expect(tail && mergePage(state, tail.page)).toBe(state)
  })
})
