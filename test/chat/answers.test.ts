import { describe, expect, test } from 'vitest'
import { answersTo, createAnswers, outcomeOf } from '../../src/chat/answers.ts'
import type { OutboxRow } from '../../src/chat/ports.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import type { Message } from '../../src/message/schema.ts'
import { emptyState, putMessages, type SessionState } from '../../src/protocol/state.ts'
import { assistant, user } from '../protocol/rows.ts'
import { SESSION } from '../protocol/server-model.ts'
import { ending } from './direct-chat.ts'
import { cancel, row, sendOf } from './rows.ts'
import { noStrayRejections } from './world.ts'

noStrayRejections()

const question = { messageId: 'q', runId: 'r' }
const asked = user('q', { seq: 1 })
const reply = (id: string, fields: Partial<ReturnType<typeof assistant>> = {}) =>
  assistant(id, { parentId: 'q', runId: 'r', status: 'completed', seq: 2, ...fields })
const state = (...messages: Message[]): SessionState => putMessages(emptyState(SESSION), messages)
const running = (from: SessionState): SessionState => ({ ...from, runs: new Set(['r']) })
const error = { code: 'auth' as const, message: 'no' }

describe('a question has ended', () => {
  const refused = row('q', 1, { request: sendOf('q', 'r'), state: 'refused', error })
  const waiting = { ...refused, state: 'waiting' as const }
  const stopping = row('c', 2, { request: cancel('r') })
  const tables: [
    name: string,
    state: SessionState,
    outbox: OutboxRow[],
    outcome: unknown,
    stopped?: boolean,
  ][] = [
    ['not before there is an answer', state(asked), [], undefined],
    ['not while it is in flight', state(asked, reply('a', { status: 'streaming' })), [], undefined],
    ['not while its run goes on', running(state(asked, reply('a'))), [], undefined],
    ['with the answer of its run', state(asked, reply('a')), [], 'a'],
    ['with a failed one as well', state(asked, reply('a', { status: 'failed' })), [], 'a'],
    ['with an interrupted one as well', state(asked, reply('a', { status: 'interrupted' })), [], 'a'],
    [
      'with the last of several',
      state(asked, reply('b', { seq: 5, parentId: 't' }), reply('a', { seq: 2 })),
      [],
      'b',
    ],
    ['not with another run’s', state(asked, reply('a', { runId: 'other' })), [], undefined],
    [
      'with one that names no run and follows it',
      state(asked, assistant('a', { parentId: 'q', status: 'completed', seq: 2 })),
      [],
      'a',
    ],
    [
      'not with one that names no run and follows another',
      state(asked, assistant('a', { parentId: 'p', status: 'completed' })),
      [],
      undefined,
    ],
    [
      'not with one that was there before',
      state(asked, assistant('old', { parentId: 'q', status: 'completed' })),
      [],
      undefined,
    ],
    [
      'with one that follows it under the server’s name for it',
      state(
        user('srv', { clientId: 'q', seq: 1 }),
        assistant('a', { parentId: 'srv', status: 'completed', seq: 2 }),
      ),
      [],
      'a',
    ],
    ['where it was refused', state(asked), [refused], 'refused'],
    ['not where it waits', state(asked), [waiting], undefined],
    ['not where it waits and is to be stopped', state(asked), [waiting, stopping], undefined, true],
    ['not while the stop is on its way', state(asked), [stopping], undefined, true],
    ['stopped, where nothing of it was ever said', state(asked), [], 'stopped', true],
    [
      'with what was said before the stop',
      state(asked, reply('a', { status: 'interrupted' })),
      [],
      'a',
      true,
    ],
    [
      'not while the stopped answer is unsettled',
      state(asked, reply('a', { status: 'streaming' })),
      [],
      undefined,
      true,
    ],
  ]
  test.each(tables)('%s', (_, given, outbox, expected, stopped = false) => {
    const outcome = outcomeOf(given, { ...question, stopped, known: new Set(['old']) }, outbox)
    expect(outcome?.type === 'answer' ? outcome.message.id : outcome?.type).toBe(expected)
  })

  test('and what answered before is known', () => {
    const given = state(
      asked,
      reply('a'),
      assistant('b', { parentId: 'q' }),
      user('u', { parentId: 'q' }),
      reply('x', { parentId: 'p' }),
    )
    expect([...answersTo(given, 'q')].toSorted()).toEqual(['a', 'b'])
  })
})

describe('promises of answers', () => {
  test('are kept when their run has ended, and only then', async () => {
    const answers = createAnswers()
    const mine = answers.wait(question)
    const other = answers.wait({ messageId: 'p', runId: 'r2' })
    answers.settle(running(state(asked, reply('a'))), [])
    answers.settle(state(asked, reply('a')), [])
    expect(await mine).toMatchObject({ id: 'a' })
    answers.end(new TidemarkError('aborted', 'closed'))
    expect(await ending(other)).toBe('aborted')
    expect(await ending(answers.wait(question))).toBe('aborted')
  })

  test('are broken with the words of the refusal', async () => {
    const answers = createAnswers()
    const mine = answers.wait({ messageId: 'q', runId: 'run-q' })
    answers.settle(state(asked), [row('q', 1, { state: 'refused', error: { ...error, status: 401 } })])
    await expect(mine).rejects.toMatchObject({ code: 'auth', data: { status: 401 } })
  })

  test('end with a stop, or with what is given up, for their run alone', async () => {
    const answers = createAnswers()
    const stopped = answers.wait(question)
    const dropped = answers.wait({ messageId: 'p', runId: 'r2' })
    const kept = answers.wait({ messageId: 'k', runId: 'r3' })
    answers.stop(new Set(['r']))
    answers.end(new TidemarkError('conflict', 'given up'), 'r2')
    answers.settle(state(asked), [])
    expect(await ending(stopped)).toBe('aborted')
    expect(await ending(dropped)).toBe('conflict')
    answers.settle(state(user('k'), reply('a', { runId: 'r3' })), [])
    expect(await ending(kept)).toMatchObject({ id: 'a' })
  })

  test('end where a stop in another tab was faster than the question', async () => {
    const answers = createAnswers()
    const mine = answers.wait(question)
    answers.settle(state(asked), [row('c', 2, { request: cancel('r') })])
    answers.settle(state(asked), [])
    expect(await ending(mine)).toBe('aborted')
  })

  test('end where the message was taken back in another tab', async () => {
    const answers = createAnswers()
    const mine = answers.wait(question)
    answers.settle(state(asked), [row('q', 1, { request: sendOf('q', 'r') })])
    answers.settle(state(), [])
    expect(await ending(mine)).toBe('aborted')
  })

  test('nobody looked at are no stray rejections', async () => {
    const answers = createAnswers()
    void answers.wait(question)
    answers.end(new TidemarkError('aborted', 'closed'))
  })
})
