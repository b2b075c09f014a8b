import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isSettled, type Message } from '../../src/message/schema.ts'
import { validateConversation } from '../../src/message/validate.ts'
import type { ChatEvent } from '../../src/protocol/events.ts'
import { reduce } from '../../src/protocol/reduce.ts'
import { emptyState, messageOf } from '../../src/protocol/state.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { userMessage } from '../support/messages.ts'
import { fold } from './fold.ts'
import { modelOptions, playable, type RandomPiece, randomStep, tools } from './scripts.ts'
import { play, type Recorder, recorder } from './stage.ts'

const question = userMessage('u1')

interface Plot {
  steps: RandomPiece[][]
  model: Parameters<typeof scriptedModel>[1]
  /** After how many events the run is stopped. */
  stopAfter: number | undefined
  /** How many microtasks each append takes, in turn. */
  delays: number[]
  maxSteps: number
}

const plot: fc.Arbitrary<Plot> = fc.record({
  steps: fc.array(randomStep, { minLength: 1, maxLength: 4 }),
  model: modelOptions,
  stopAfter: fc.option(fc.nat(40), { nil: undefined }),
  delays: fc.array(fc.nat(6), { minLength: 1, maxLength: 8 }),
  maxSteps: fc.integer({ min: 1, max: 5 }),
})

/** Plays a plot to its end; what is stuck is stopped. */
async function perform({ steps, model, stopAfter, delays, maxSteps }: Plot) {
  const controller = new AbortController()
  const stop = () => controller.abort()
  const log: Recorder = recorder(async () => {
    const delay = delays[log.appends.length % delays.length] ?? 0
    if (stopAfter !== undefined && log.events.length >= stopAfter) stop()
    for (let n = 0; n < delay; n++) await undefined
  })
  const onStuck = () => void Promise.resolve().then(stop)
  return play({
    model: scriptedModel((_, call) => playable(steps[call] ?? ['The end.'], onStuck), model),
    tools: tools(onStuck),
    history: [question],
    maxSteps,
    log,
    signal: controller.signal,
  })
}

/** What every write has to keep to, one event after the other. */
function* disorder(events: readonly ChatEvent[]): Generator<string> {
  for (const [at, event] of events.entries()) {
    if (event.type === 'message.delta') continue
    const before = fold(events.slice(0, at)).messages
    const open = before.filter((message) => !isSettled(message))
    if (event.type === 'message.created' && event.message.role === 'assistant' && open.length > 0)
      yield `${event.message.id} is created while ${open.map(({ id }) => id).join()} is open`
    if (event.type === 'message.created' && event.message.parentId !== (before.at(-1)?.id ?? question.id))
      yield `${event.message.id} does not follow the message before it`
    if (
      event.type === 'message.completed' &&
      event.message.role === 'tool' &&
      open[0]?.id !== event.message.id
    )
      yield `${event.message.id} is answered out of turn`
    if (event.type === 'run.finished' && open.length > 0) yield 'the run ends with messages open'
  }
}

/** After every append but the last, something of the run is unsettled: a crash leaves a trace. */
const traceless = (log: Recorder): number[] =>
  log.appends.flatMap((events, at) => {
    if (events.every(({ type }) => type === 'message.delta')) return []
    const { messages, outcome } = fold(log.appends.slice(0, at + 1).flat())
    return outcome === undefined && messages.every(isSettled) ? [at] : []
  })

/** How often each call of a completed answer has a result. */
function answers(messages: readonly Message[]): number[] {
  const counts: number[] = []
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'assistant' || message.status !== 'completed') continue
    const rest = messages.slice(at + 1)
    const end = rest.findIndex(({ role }) => role !== 'tool')
    const results = end < 0 ? rest : rest.slice(0, end)
    for (const block of message.content)
      if (block.type === 'toolCall' && !block.server)
        counts.push(
          results.filter((result) => result.role === 'tool' && result.toolCallId === block.id).length,
        )
  }
  return counts
}

test('whatever model, tools, log and user do, a run is a run', async () => {
  await fc.assert(
    fc.asyncProperty(plot, async (given) => {
      const { log, outcome, folded, messages } = await perform(given)
      const { events } = log
      expect(folded.problems).toEqual([])
      expect([...disorder(events)]).toEqual([])
      expect(traceless(log)).toEqual([])
      expect(events.filter(({ type }) => type === 'run.finished')).toHaveLength(1)
      expect(events.at(-1)).toMatchObject({ type: 'run.finished', outcome })
      // In one append with the last settlement.
      expect(log.appends.at(-1)?.at(-2)?.type).toMatch(/^message\.(completed|failed|interrupted)$/)
      expect(log.most).toBeLessThanOrEqual(16)
      expect(messages.every(isSettled)).toBe(true)
      expect(new Set(answers(messages))).toEqual(new Set(answers(messages).length > 0 ? [1] : []))
      expect(validateConversation([question, ...messages])).toEqual({ valid: true, errors: [] })
      expect(messages.filter(({ role }) => role === 'assistant').length).toBeLessThanOrEqual(given.maxSteps)
    }),
    { numRuns: 300 },
  )
})

test('the library’s own reducer makes the same messages of a run', async () => {
  await fc.assert(
    fc.asyncProperty(plot, async (given) => {
      const { log, messages } = await perform(given)
      let state = emptyState('s1')
      for (const event of log.events) state = reduce(state, { event })
      expect(state.missing).toBeNull()
      expect(state.runs.size).toBe(0)
      for (const message of messages) {
        const { seq: _, ...reduced } = messageOf(state, message.id) ?? {}
        expect(reduced).toEqual(message)
      }
    }),
    { numRuns: 100 },
  )
})
