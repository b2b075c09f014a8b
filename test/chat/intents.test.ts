import { describe, expect, test } from 'vitest'
import { blocksOf, editIntent, regenerateIntent, selectIntent, sendIntent } from '../../src/chat/intents.ts'
import type { UserInput } from '../../src/chat/types.ts'
import type { Message } from '../../src/message/schema.ts'
import { emptyState, putMessages, type SessionState } from '../../src/protocol/state.ts'
import { assistant, session, user } from '../protocol/rows.ts'
import { SESSION } from '../protocol/server-model.ts'

const given = () => {
  let ids = 0
  return { createId: () => `id${++ids}`, now: 5 }
}
const state = (...messages: Message[]): SessionState => ({
  ...putMessages(emptyState(SESSION), messages),
  session: session(),
})
const talk = state(
  user('q', { seq: 1 }),
  assistant('a', { seq: 2, parentId: 'q', status: 'completed' }),
  user('r', { seq: 3, parentId: 'a' }),
  assistant('b', { seq: 4, parentId: 'r', status: 'completed' }),
  assistant('c', { seq: 5, parentId: 'q', status: 'completed' }),
)

describe('what is said', () => {
  test('is a pending message and the request that says it, under one name', () => {
    const { message, requests, runId, headId, session: begun } = sendIntent(talk, 'b', 'hi', {}, given())
    expect(message).toMatchObject({ id: 'id1', parentId: 'b', role: 'user', status: 'pending', createdAt: 5 })
    expect(message.seq).toBeUndefined()
    expect([headId, runId, begun]).toEqual(['id1', 'id2', undefined])
    expect(requests).toEqual([
      {
        id: 'id1',
        request: { type: 'send', body: { id: 'id1', runId: 'id2', parentId: 'b', content: message.content } },
      },
    ])
  })

  test.each([true, 'object', { schema: 'object' }, 1])('of %j no answer can be asked for', (output) => {
    expect(() => sendIntent(talk, 'b', 'hi', Object({ output }), given())).toThrow(
      expect.objectContaining({
        code: 'invalid-request',
        message: expect.stringMatching(/^output: expected/),
      }),
    )
  })

  test('first begins the session', () => {
    const { requests, session: begun } = sendIntent(emptyState(SESSION), null, 'hi', {}, given())
    expect(requests.map(({ request }) => request.type)).toEqual(['createSession', 'send'])
    expect(requests[0]).toEqual({ id: 'id3', request: { type: 'createSession', body: { id: SESSION } } })
    expect(begun).toMatchObject({ id: SESSION, headId: null, createdAt: 5, updatedAt: 5 })
  })

  test('carries options only where they are given', () => {
    const options = { whenBusy: 'interrupt' as const, metadata: { a: undefined, b: [1, new Date(0)] } }
    const { message, requests } = sendIntent(talk, 'b', 'hi', options, given())
    const named = sendIntent(
      emptyState(SESSION),
      null,
      'hi',
      { id: 'mine', session: { title: 'T', metadata: { a: 1 } } },
      given(),
    )
    expect(named.requests.map(({ request }) => request)).toMatchObject([
      { type: 'createSession', body: { id: SESSION, title: 'T', metadata: { a: 1 } } },
      { type: 'send', body: { id: 'mine', runId: 'mine_run' } },
    ])
    expect(named.session).toMatchObject({ title: 'T', metadata: { a: 1 } })
    for (const id of ['no id', '', 'x'.repeat(61)])
      expect(() => sendIntent(talk, 'b', 'hi', { id }, given())).toThrow(/^id: /)
    const goal = sendIntent(talk, 'b', 'hi', { metadata: { a: 1 }, goal: true }, given())
    expect(goal.message.metadata).toEqual({ a: 1, goal: true })
    expect(goal.requests[0]?.request).toMatchObject({ body: { metadata: { goal: true } } })
    const metadata = { b: [1, '1970-01-01T00:00:00.000Z'] }
    expect(message.metadata).toEqual(metadata)
    expect(requests[0]?.request).toMatchObject({ body: { whenBusy: 'interrupt', metadata } })
  })

  const inputs: [name: string, input: unknown, says: number | string][] = [
    ['text', 'hi', 1],
    ['text with blanks around', ' hi ', 1],
    [
      'blocks',
      [
        { type: 'text', text: 'a' },
        { type: 'image', mimeType: 'image/png', url: 'x' },
      ],
      2,
    ],
    ['an image alone', [{ type: 'image', mimeType: 'image/png', data: 'AA==' }], 1],
    [
      'an empty text beside a file',
      [
        { type: 'text', text: '' },
        { type: 'file', mimeType: 'a/b', url: 'x' },
      ],
      2,
    ],
    ['nothing', '', 'invalid-request'],
    ['blanks', '\n\t ', 'invalid-request'],
    ['no blocks', [], 'invalid-request'],
    ['a block of another kind', [{ type: 'toolCall', id: 'x', name: 'y' }], 'invalid-request'],
    ['a block without a kind', [{}], 'invalid-request'],
    ['an image without a type', [{ type: 'image' }], 'invalid-request'],
  ]
  test.each(inputs)('as %s', (_, input, says) => {
    const blocks = () => blocksOf(input as UserInput)
    if (typeof says === 'number') expect(blocks().length).toBe(says)
    else expect(blocks).toThrow(expect.objectContaining({ code: says }))
  })
})

describe('what is asked of the history', () => {
  test('another answer goes to the question, wherever in its answer one asks', () => {
    for (const [id, question] of [
      ['q', 'q'],
      ['a', 'q'],
      ['b', 'r'],
      ['r', 'r'],
    ] as const) {
      const intent = regenerateIntent(talk, id, given())
      expect(intent).toMatchObject({ headId: question, questionId: question, runId: 'id1' })
      expect(intent.requests[0]?.request).toMatchObject({ body: { type: 'regenerate', messageId: question } })
    }
  })

  test('another version stands beside the old one', () => {
    const { message, headId, requests } = editIntent(talk, 'r', 'x', given())
    expect(message).toMatchObject({ id: 'id1', parentId: 'a', status: 'pending' })
    expect(headId).toBe('id1')
    expect(requests[0]?.request).toMatchObject({
      body: { type: 'edit', messageId: 'r', newId: 'id1', runId: 'id2' },
    })
  })

  test('a branch is shown to its end', () => {
    expect(selectIntent(talk, 'a', given()).headId).toBe('b')
    expect(selectIntent(talk, 'c', given()).headId).toBe('c')
    expect(selectIntent(talk, 'q', given()).headId).toBe('c')
  })

  const refused: [name: string, ask: () => unknown, code: string][] = [
    ['an answer to nobody', () => regenerateIntent(talk, 'x', given()), 'not-found'],
    [
      'an answer to no question',
      () => regenerateIntent(state(assistant('a')), 'a', given()),
      'invalid-request',
    ],
    [
      'an answer to a question that is not loaded',
      () => regenerateIntent(state(assistant('a', { parentId: 'x' })), 'a', given()),
      'invalid-request',
    ],
    ['a version of nobody', () => editIntent(talk, 'x', 'y', given()), 'not-found'],
    ['a version of an answer', () => editIntent(talk, 'a', 'y', given()), 'invalid-request'],
    ['an empty version', () => editIntent(talk, 'q', ' ', given()), 'invalid-request'],
    ['a branch of nobody', () => selectIntent(talk, 'x', given()), 'not-found'],
  ]
  test.each(refused)('%s is refused', (_, ask, code) => {
    expect(ask).toThrow(expect.objectContaining({ code }))
  })
})
