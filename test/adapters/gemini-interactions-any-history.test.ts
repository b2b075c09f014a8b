import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { interactionsAdapter } from '../../src/adapters/gemini-interactions.ts'
import { say } from '../../src/adapters/say.ts'
import type { Message } from '../../src/message/schema.ts'
import { anyHistory } from '../support/histories.ts'
import { deepFreeze } from '../support/messages.ts'
import { strictInteractionDefects } from './checkers/gemini-interactions.ts'
import { isCall, isResult, isThought, sentInteraction, stepsIn } from './checkers/gemini-interactions-body.ts'

const PROVIDER = 'google-interactions'
const searched = { type: 'google_search_call', id: 's', arguments: { queries: ['q'] }, signature: 'S' }
/** Every other one answered by the API itself, to the end: what goes back as it came is rare else. */
const histories = fc
  .tuple(anyHistory(PROVIDER, searched), fc.boolean())
  .map(([messages, own]) =>
    messages.map(
      (message): Message =>
        own && message.role === 'assistant'
          ? { ...message, provider: PROVIDER, status: 'completed', stopReason: 'stop' }
          : message,
    ),
  )
const longer = anyHistory(PROVIDER, searched, 4)

describe.each(['gemini-2.5-flash', 'gemini-3-pro-preview', 'gemini-3.8-flash'])('%s', (model) => {
  const sent = (messages: Message[]) =>
    sentInteraction(say(interactionsAdapter(), { messages: deepFreeze(messages) }, { model }).body)

  test('takes any history at all', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(histories, (messages) => {
        const body = sent(messages)
        expect(strictInteractionDefects(body)).toEqual([])
        for (const step of stepsIn(body))
          seen.add(isThought(step) && step.signature === 'c2ln' ? 'own thought' : step.type)
      }),
      { numRuns: 300 },
    )
    // Without these, this would prove little.
    const rare = ['own thought', 'thought', 'function_call', 'function_result', 'google_search_call']
    expect([...seen]).toEqual(expect.arrayContaining(rare))
  })

  test('is told of a longer history what it was told of the shorter, so that caches hold', () => {
    fc.assert(
      fc.property(histories, longer, (before, after) => {
        const callsIn = (messages: Message[]) => stepsIn(sent(messages)).filter(isCall)
        const first = callsIn(before)
        expect(callsIn([...before, ...after]).slice(0, first.length)).toEqual(first)
      }),
    )
  })

  test('hears of every call what came of it, in its place', () => {
    fc.assert(
      fc.property(histories, (messages) => {
        const steps = stepsIn(sent(messages))
        expect(steps.filter(isResult).map((step) => step.call_id)).toEqual(
          steps.filter(isCall).map((step) => step.id),
        )
      }),
    )
  })
})
