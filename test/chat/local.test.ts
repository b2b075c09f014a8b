import { describe, expect, test } from 'vitest'
import { acknowledge, behindAnswers, refuse, retryLocally, withHeadBack } from '../../src/chat/local.ts'
import { numberEvents } from '../../src/chat/number.ts'
import { asAsked } from '../../src/chat/others.ts'
import { type Message, SCHEMA_VERSION } from '../../src/message/schema.ts'
import type { ChatEvent } from '../../src/protocol/events.ts'
import { reduceAll } from '../../src/protocol/reduce.ts'
import { emptyState, messageOf, newTrace, putMessages, type SessionState } from '../../src/protocol/state.ts'
import { assistant, created, delta, session, started, user } from '../protocol/rows.ts'
import { SESSION } from '../protocol/server-model.ts'
import { command, row, send } from './rows.ts'

const state = (...messages: Message[]): SessionState => putMessages(emptyState(SESSION), messages)
const error = { code: 'server' as const, message: 'no' }

describe('what this client says of its own message', () => {
  const pending = user('q', { status: 'pending' })
  const failed = user('q', { status: 'failed', error })

  test('accepted, it is completed, has its place behind all that is known, and no error', () => {
    const before = state(user('a', { seq: 7 }), { ...pending, error })
    const after = acknowledge(before, 'q', 5, newTrace())
    expect(messageOf(after, 'q')).toEqual(user('q', { status: 'completed', seq: 8, updatedAt: 5 }))
    expect(acknowledge(after, 'q', 6, newTrace())).toBe(after)
  })

  test('refused, it says why; tried again, it has forgotten', () => {
    const refused = refuse(state(pending), 'q', error, 5, newTrace())
    expect(messageOf(refused, 'q')).toEqual({ ...failed, updatedAt: 5 })
    const again = retryLocally(refused, 'q', 6, newTrace())
    expect(messageOf(again, 'q')).toEqual({ ...pending, updatedAt: 6 })
  })

  test('what may not happen to it does not, and nobody unknown is touched', () => {
    const trace = newTrace()
    const done = state(user('q', { seq: 1 }), assistant('a', { status: 'completed', seq: 2 }))
    for (const id of ['q', 'a', 'nobody']) {
      expect(acknowledge(done, id, 5, trace)).toBe(done)
      expect(refuse(done, id, error, 5, trace)).toBe(done)
      expect(retryLocally(done, id, 5, trace)).toBe(done)
    }
    expect(trace).toEqual(newTrace())
  })
})

describe('what waits to be sent', () => {
  const outbox = ['b', 'c'].map((id, at) => row(id, at))
  const fold = (before: SessionState, ...events: ChatEvent[]) => {
    const trace = newTrace()
    const after = reduceAll(
      before,
      events.map((event) => ({ event })),
      0,
      trace,
    )
    return behindAnswers(after, outbox, trace)
  }
  const parentOf = (given: SessionState, id: string) => messageOf(given, id)?.parentId
  const before = state(
    user('a', { seq: 1 }),
    user('b', { parentId: 'a', status: 'pending' }),
    user('c', { parentId: 'b', status: 'pending' }),
  )
  const reply = assistant('r', { parentId: 'a', seq: 2, runId: 'run' })

  test('goes behind the answer that came meanwhile, and behind all that follows that', () => {
    const one = fold(before, created(reply))
    expect([parentOf(one, 'b'), parentOf(one, 'c')]).toEqual(['r', 'b'])
    const tool: Message = {
      ...assistant('t', { parentId: 'r', seq: 3 }),
      role: 'tool',
      toolCallId: 'c',
      toolName: 'clock',
      content: [],
      isError: false,
    }
    const two = fold(
      before,
      created(reply),
      { type: 'message.created', message: tool },
      created(assistant('r2', { parentId: 't', seq: 4 })),
    )
    expect(parentOf(two, 'b')).toBe('r2')
  })

  test('stays where it is while an answer only grows', () => {
    const one = fold(before, created(reply))
    expect(parentOf(fold(one, started('r'), delta('r', 'text')), 'b')).toBe('r')
  })

  test('stands behind what somebody else was the first to say there', () => {
    expect(parentOf(fold(before, created(user('x', { parentId: 'a', seq: 2 }))), 'b')).toBe('x')
    expect(parentOf(fold(before, created(user('x', { parentId: 'z', seq: 2 }))), 'b')).toBe('a')
  })

  test('is not moved where it was accepted, or is another version of a question', () => {
    const accepted = putMessages(before, [user('b', { parentId: 'a', seq: 2 })])
    expect(parentOf(fold(accepted, created(reply)), 'b')).toBe('a')
    const trace = newTrace()
    const after = putMessages(before, [reply], trace)
    const edit = row('e', 0, {
      request: command({
        id: 'e',
        type: 'edit',
        messageId: 'a',
        newId: 'b',
        runId: 'x',
        content: [{ type: 'text', text: 'b' }],
      }),
    })
    expect(parentOf(behindAnswers(after, [edit], trace), 'b')).toBe('a')
  })

  test('ends where answers go round', () => {
    const round = [assistant('r', { parentId: 'a', seq: 2 }), assistant('a', { parentId: 'r', seq: 1 })]
    const lonely = state(user('b', { parentId: 'a', status: 'pending' }))
    const trace = newTrace()
    expect(parentOf(behindAnswers(putMessages(lonely, round, trace), outbox, trace), 'b')).toBe('a')
  })
})

test('a new answer that nobody gives leaves the old one shown', () => {
  const branch = {
    ...state(user('q', { seq: 1 }), assistant('a', { parentId: 'q', seq: 2, status: 'completed' })),
    headId: 'q',
  }
  const asked = row('g', 0, { request: command({ id: 'g', type: 'regenerate', messageId: 'q', runId: 'r' }) })
  expect(withHeadBack(branch, asked).headId).toBe('a')
  const moved = { ...branch, headId: 'elsewhere' }
  expect(withHeadBack(moved, asked)).toBe(moved)
  expect(withHeadBack(branch, row('q', 0, { request: send('q') }))).toBe(branch)
})

test('what waits is shown as it was asked; where nobody else says what becomes of it, only until somebody has begun to send it', () => {
  const branch = {
    ...state(user('q', { seq: 1 }), assistant('a', { parentId: 'q', seq: 2, status: 'completed' })),
    headId: 'a',
  }
  const asked = row('g', 0, { request: command({ id: 'g', type: 'regenerate', messageId: 'q', runId: 'r' }) })
  expect(asAsked(branch, [asked]).headId).toBe('q')
  for (const tried of [{ claim: 'a tab' }, { attempts: 1 }]) {
    expect(asAsked(branch, [{ ...asked, ...tried }]).headId).toBe('q')
    expect(asAsked(branch, [{ ...asked, ...tried }], true)).toBe(branch)
    expect(asAsked(branch, [row('q2', 0, { request: send('q2', 'a'), ...tried })])).toBe(branch)
  }
})

test('a branch that was chosen where its end was not known yet is shown to its end', () => {
  const branch = {
    ...state(
      user('q', { seq: 1 }),
      assistant('a', { seq: 2, parentId: 'q', status: 'completed' }),
      assistant('b', { seq: 3, parentId: 'q', status: 'completed' }),
      user('q2', { seq: 4, parentId: 'a' }),
    ),
    headId: 'b',
  }
  const chosen = row('s', 0, { request: command({ id: 's', type: 'selectBranch', messageId: 'a' }) })
  expect(asAsked(branch, [chosen]).headId).toBe('q2')
})

describe('numbers of a client that owns its truth', () => {
  const number = (from: SessionState, ...events: ChatEvent[]) => {
    let tags = 0
    return numberEvents(from, events, () => `t${++tags}`)
  }

  test('go on without holes, each with a tag, each change with a revision', () => {
    const from = { ...state(user('q', { seq: 4, rev: 9 })), cursor: { n: 6, tag: 'x' }, rev: 9 }
    const reply = assistant('a', { parentId: 'q' })
    const envelopes = number(
      from,
      { type: 'run.started', runId: 'r' },
      created(reply),
      started('a'),
      delta('a', 'x', 0),
      { type: 'message.failed', id: 'a', error, message: { ...reply, status: 'failed' } },
      { type: 'message.interrupted', id: 'b' },
      { type: 'run.finished', runId: 'r', outcome: 'failed' },
    )
    expect(envelopes.map(({ id }) => id)).toEqual(
      [7, 8, 9, 10, 11, 12, 13].map((n, at) => ({ n, tag: `t${at + 1}` })),
    )
    expect(
      envelopes.map(({ event }) =>
        'rev' in event ? event.rev : 'message' in event ? event.message?.rev : undefined,
      ),
    ).toEqual([undefined, 10, 11, undefined, 12, 13, undefined])
    expect(envelopes[1]?.event).toMatchObject({ message: { seq: 5, rev: 10 } })
    expect(envelopes[4]?.event).toMatchObject({ message: { seq: 5, rev: 12 } })
    expect(reduceAll(from, envelopes)).toMatchObject({
      cursor: { n: 13 },
      rev: 13,
      nextSeq: 7,
      missing: null,
    })
  })

  test('give every new message a place of its own, and a known one the one it has', () => {
    const from = state(user('q', { seq: 3 }))
    const envelopes = number(from, created(assistant('a')), created(assistant('b')), created(user('q')), {
      type: 'message.completed',
      message: assistant('a', { status: 'completed' }),
    })
    expect(envelopes.map(({ event }) => ('message' in event ? event.message?.seq : 0))).toEqual([4, 5, 3, 4])
  })

  test('and change nothing else', () => {
    const event: ChatEvent = { type: 'session.updated', session: session({ title: 'x', v: SCHEMA_VERSION }) }
    expect(number(emptyState(SESSION), event)).toEqual([{ id: { n: 1, tag: 't1' }, event }])
  })
})
