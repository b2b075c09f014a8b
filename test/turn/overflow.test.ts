import { describe, expect, test } from 'vitest'
import type { ModelContext } from '../../src/adapters/contract.ts'
import type { CallRecord } from '../../src/context/call-record.ts'
import type { ErrorData } from '../../src/lib/error-data.ts'
import { textOf } from '../../src/message/text.ts'
import { type ScriptStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { defaultContext } from '../../src/turn/default-context.ts'
import { smallerRoom } from '../../src/turn/refused.ts'
import type { ContextInput } from '../../src/turn/run-turn.ts'
import { directChat } from '../chat/direct-chat.ts'
import { noStrayRejections } from '../chat/world.ts'
import { assistantMessage, userMessage } from '../support/messages.ts'
import { type Play, play, tool } from './stage.ts'

noStrayRejections()

/** Twenty turns of a thousand letters and a question, linked. */
const history = () => {
  const messages = Array.from({ length: 20 }, (_, n) => [
    userMessage(`u${n}`, 'q'.repeat(500)),
    assistantMessage(`a${n}`, 'a'.repeat(500)),
  ]).flat()
  const all = [...messages, userMessage('now', 'What is a tidemark?')]
  return all.map((message, at) => ({ ...message, parentId: all[at - 1]?.id ?? null }))
}

const lettersIn = ({ messages }: ModelContext) =>
  messages.reduce((sum, message) => sum + textOf(message).length, 0)

interface Small extends Partial<Play> {
  /** Letters that it has room for. */
  most: number
  refusal?: ErrorData
  says?: ScriptStep
}

const FULL: ErrorData = { code: 'context-overflow', message: 'too long' }

/** A run over a long history whose model has little room. */
async function refused({ most, refusal = FULL, says = 'A line.', ...more }: Small) {
  const records: CallRecord[] = []
  const model = scriptedModel((context) => (lettersIn(context) > most ? [{ error: refusal }] : says))
  const staged = await play({
    model,
    history: history(),
    watch: [() => ({ end: (record) => void records.push(record) })],
    ...more,
  })
  expect(staged.folded.problems).toEqual([])
  return { ...staged, calls: model.calls, records }
}

describe('a context that the model finds too long', () => {
  test.each<[string, Partial<ErrorData>, number]>([
    ['three quarters where nobody says of what', {}, 15_500],
    ['as much as the numbers say', { tokens: { needed: 20_000, available: 10_000 } }, 9_700],
    ['as much as a little excess makes necessary', { tokens: { needed: 20_000, available: 19_000 } }, 19_000],
  ])('is made smaller once: %s', async (_, told, most) => {
    const { calls, messages, records } = await refused({ most, refusal: { ...FULL, ...told } })
    expect(calls).toHaveLength(2)
    const sent = calls[1]?.context.messages ?? []
    expect(sent.at(-1)?.id).toBe('now')
    expect(lettersIn({ messages: sent })).toBeGreaterThan(most * 0.7)
    expect(messages).toMatchObject([{ status: 'completed', content: [{ text: 'A line.' }] }])
    expect(records.map(({ attempt, status, error }) => [attempt, status, error?.code])).toEqual([
      [0, 'failed', 'context-overflow'],
      [1, 'completed', undefined],
    ])
    const estimates = records.map(({ sent }) => sent?.estimated ?? 0)
    expect(estimates[1]).toBeLessThan(estimates[0] ?? 0)
    expect(records[1]?.sent?.dropped[0]).toMatchObject({ id: 'u0', reason: 'budget' })
  })

  test('is told of where less of it is refused, too', async () => {
    const { calls, messages } = await refused({ most: 1 })
    expect(calls).toHaveLength(2)
    expect(messages).toMatchObject([{ status: 'failed', error: FULL, content: [] }])
  })

  test('is told of in the model’s words where the question alone is too long', async () => {
    const tokens = { needed: 20_000, available: 10 }
    const { calls, messages } = await refused({ most: 10, refusal: { ...FULL, tokens } })
    expect(calls).toHaveLength(1)
    expect(messages).toMatchObject([{ status: 'failed', error: { message: 'too long', tokens } }])
  })

  test('is told of once something was said', async () => {
    const model = scriptedModel([['A li', { error: FULL }], 'A line.'])
    const { messages } = await play({ model, history: history() })
    expect(model.calls).toHaveLength(1)
    expect(messages).toMatchObject([{ status: 'failed', content: [{ text: 'A li' }] }])
  })

  test('stays smaller for the rest of the run, which is not refused again', async () => {
    const look = tool('look', () => 'x')
    let call = 0
    const model = scriptedModel((context) => {
      if (lettersIn(context) > 15_500) return [{ error: FULL }]
      return call++ === 0 ? [{ toolCall: { name: 'look' } }] : 'Done.'
    })
    const { messages } = await play({ model, history: history(), tools: [look] })
    expect(model.calls).toHaveLength(3)
    expect(messages.at(-1)).toMatchObject({ status: 'completed' })
  })

  test('is not what other failures count against', async () => {
    let call = 0
    const model = scriptedModel((context) => {
      if (lettersIn(context) > 15_500) return [{ error: FULL }]
      return call++ < 2 ? [{ error: 'server' }] : 'Done.'
    })
    const { messages } = await play({ model, history: history(), maxRetries: 2 })
    expect(messages.at(-1)).toMatchObject({ status: 'completed' })
    expect(model.calls).toHaveLength(4)
  })

  test('is smaller too where defaultContext was given a window that is larger', async () => {
    const { calls, messages } = await refused({
      most: 15_500,
      context: defaultContext({ window: 1_000_000, turns: 50 }),
    })
    expect(calls).toHaveLength(2)
    expect(messages).toMatchObject([{ status: 'completed' }])
  })

  test.each<[string, (input: ContextInput) => ModelContext]>([
    ['says nothing of its size', ({ messages }) => ({ messages })],
    ['is the same again', ({ messages }) => ({ messages, tokens: 5_000 }) as ModelContext],
  ])('is asked about no more where it %s', async (_, context) => {
    const { calls, messages } = await refused({ most: 1, context })
    expect(calls).toHaveLength(1)
    expect(messages).toMatchObject([{ status: 'failed', error: FULL }])
  })

  test('is made for nobody once the run is stopped', async () => {
    const controller = new AbortController()
    let asked = 0
    const context = async ({ messages, room = 9_000 }: ContextInput) => {
      if (asked++ > 0) controller.abort()
      return { messages, tokens: room }
    }
    const { calls, messages } = await refused({ most: 1, context, signal: controller.signal })
    expect(calls).toHaveLength(1)
    expect(messages).toMatchObject([{ status: 'interrupted' }])
  })
})

test.each<[number, ErrorData['tokens'], number]>([
  [1_000, undefined, 750],
  // The estimate is off by half, and in proportion.
  [1_000, { needed: 2_000, available: 1_000 }, 356],
  // Half of what was needed is the answer's.
  [1_000, { needed: 2_000, available: 1_800 }, 760],
  [1_000, { needed: 1_000, available: 900 }, 855],
  [100, { needed: 100_000, available: 1_000 }, 0],
])('of %i tokens that were refused, needing %o, %i are sent', (estimated, tokens, expected) => {
  expect(smallerRoom(estimated, { ...FULL, ...(tokens && { tokens }) })).toBe(expected)
})

test('over direct, both attempts are in the records of the session', async () => {
  const { session, world } = directChat({
    steps: ({ messages }) => (messages.length > 6 ? [{ error: FULL }] : 'x'.repeat(900)),
  })
  for (let n = 0; n < 4; n++) await world.ended((await session.send(`question ${n}`)).answer)
  const calls = await session.calls()
  expect(calls.map(({ attempt, error }) => [attempt, error?.code])).toEqual([
    ...[0, 0, 0].map((attempt) => [attempt, undefined]),
    [0, 'context-overflow'],
    [1, undefined],
  ])
  expect(session.get().messages.at(-1)?.status).toBe('completed')
})
