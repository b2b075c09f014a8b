import { describe, expect, test } from 'vitest'
import type { AssembledContext } from '../../src/context/assemble.ts'
import { createEstimator } from '../../src/context/estimate.ts'
import { textOf } from '../../src/message/text.ts'
import { defaultContext } from '../../src/turn/default-context.ts'
import { deepFreeze } from '../support/messages.ts'
import { booking, CONFIRMATION, HOTEL_LINE, NEW_TASK, SYSTEM, TASK } from './booking.ts'
import { problemsOf } from './checker.ts'
import { inputOf, modelCalls, ruleSummariser, senders } from './curve.ts'

const estimate = createEstimator()
const WINDOW = 32_000
const RESERVE = 4_096

/** Tokens as somebody else adds them up. */
function recount({ system = '', messages }: Pick<AssembledContext, 'system' | 'messages'>): number {
  return estimate.text(system) + estimate.messages(messages)
}

describe.each([
  [10, false],
  [50, false],
  [50, true],
  [500, true],
])('a flight that is booked in %i turns, summaries: %s', (turns, summaries) => {
  test('at each model call the context is whole, begins with the instructions, knows the code and keeps the window', async () => {
    const journey = booking(turns)
    deepFreeze(journey)
    const { summarise, calls } = ruleSummariser()
    const context = defaultContext({
      estimate,
      window: WINDOW,
      tasks: journey.tasks,
      ...(summaries && { summarise }),
    })
    for (const { turn, messages } of modelCalls(journey)) {
      // Of very many turns, only the calls that begin them.
      if (turns > 50 && messages.at(-1)?.role !== 'user') continue
      const made = await context(inputOf(messages))
      const { system = '', tokens, messages: sent } = made
      expect(problemsOf(messages, made), `turn ${turn}`).toEqual([])
      expect(system.startsWith(SYSTEM)).toBe(true)
      expect(tokens).toBeLessThanOrEqual(WINDOW - RESERVE)
      expect(recount(made)).toBeLessThanOrEqual(WINDOW - RESERVE)
      const seen = [system, ...sent.map(textOf)].join('\n')
      if (turn > journey.bookedIn) expect(seen, `turn ${turn}`).toContain(CONFIRMATION)
      if (turn > journey.changedIn)
        expect(system, `turn ${turn}`).toContain(`[task, instead of earlier ones] ${NEW_TASK}`)
      else expect(seen, `turn ${turn}`).toContain(turn < journey.changedIn ? TASK : NEW_TASK)
      if (turn > 7 && turns > 7) expect(system).toContain(HOTEL_LINE)
    }
    if (summaries) expect(calls.length).toBeGreaterThan(0)
  })
})

test('over 50 turns, the default sends at most a third of everything', async () => {
  const journey = booking(50)
  const { everything, default: mix } = senders(journey, { window: WINDOW })
  let whole = 0
  let sent = 0
  for (const { messages } of modelCalls(journey)) {
    whole += (await everything(messages)).tokens ?? 0
    sent += (await mix(messages)).tokens ?? 0
  }
  expect(sent / whole).toBeLessThan(1 / 3)
})
