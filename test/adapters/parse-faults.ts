import { expect } from 'vitest'
import type { Adapter } from '../../src/adapters/adapter.ts'
import type { AssistantDraft } from '../../src/adapters/contract.ts'
import { callsIn, type Heard, hearAll, responseOf, textIn } from './answers.ts'
import { type Fault, faults } from './fixtures.ts'

/** Faults of hearing that were reported against other adapters, in one API. */
export const parseFaults = (api: string): [string, string, Fault][] =>
  faults()
    .filter(({ direction, input }) => direction === 'parse' && input.api === api)
    .map((fault) => [fault.id, fault.symptom, fault])

/** A fault's bodies: one, several that must come out alike, or two turns. */
function bodiesOf({ input }: Fault): string[] {
  if (input.json !== undefined) return [JSON.stringify(input.json)]
  if (input.twoAnswers) return input.twoAnswers
  return typeof input.body === 'string' ? [input.body] : (input.body ?? [])
}

export const callsAsTuples = (message: AssistantDraft): unknown[] =>
  callsIn(message).map((call) => [call.id, call.name, call.arguments])

/** What a word of an expectation means for what was heard. */
export type Check = (heard: Heard[], value: unknown) => void

/** What each word of an expectation means, in any dialect. */
const CHECKS: Readonly<Record<string, Check>> = {
  text: ([heard], value) => expect(heard && textIn(heard.message)).toBe(value),
  thinking: ([heard], value) => expect(heard && textIn(heard.message, 'thinking')).toBe(value),
  thinkingSignature: ([heard], value) =>
    expect(heard?.message.content.find((block) => block.type === 'thinking')).toMatchObject({
      signature: value,
    }),
  toolCalls: ([heard], value) => {
    // An id that is null in the expectation is made up.
    const wanted = (Array.isArray(value) ? value : []).map(([id, ...rest]: unknown[]) => [
      id ?? expect.stringMatching(/./),
      ...rest,
    ])
    expect(heard && callsAsTuples(heard.message)).toEqual(wanted)
  },
  toolNames: ([heard], value) =>
    expect(heard && callsIn(heard.message).map(({ name }) => name)).toEqual(value),
  toolIdsUnique: ([heard]) => {
    const ids = heard ? callsIn(heard.message).map(({ id }) => id) : []
    expect(new Set(ids).size).toBe(ids.length)
  },
  stopReason: ([heard], value) => expect(heard?.message.stopReason).toBe(value),
  stopReasons: (heard, value) => expect(heard.map(({ message }) => message.stopReason)).toEqual(value),
  errorIncludes: ([heard], value) => expect(heard?.error?.message).toContain(value),
  usage: ([heard], value) => expect(heard?.message.usage).toMatchObject(Object(value)),
  refusal: ([heard], value) =>
    expect(heard?.message.content.some((block) => block.type === 'text' && block.refusal === true)).toBe(
      value,
    ),
  toolEndEvents: ([heard], value) =>
    expect(heard?.events.filter((event) => event.type === 'toolCall' && event.phase === 'end')).toHaveLength(
      Number(value),
    ),
  toolCallInvalidArgs: ([heard]) => {
    for (const call of heard ? callsIn(heard.message) : []) expect(call).not.toHaveProperty('arguments')
  },
  rawArguments: ([heard], value) =>
    expect(heard && callsIn(heard.message).map((call) => call.rawArguments)).toEqual([value]),
  noPrototypePollution: () => {
    expect(Reflect.get({}, 'x')).toBeUndefined()
    expect(Object.keys(Object.prototype)).toEqual([])
  },
}

/** Hears a fault's bodies and holds what comes out against its expectation. A word that nobody knows fails. */
export async function expectRight(
  adapter: Adapter,
  fault: Fault,
  more: Readonly<Record<string, Check>> = {},
): Promise<void> {
  const heard: Heard[] = []
  for (const body of bodiesOf(fault)) heard.push(await hearAll(adapter, responseOf([body])))
  expect(heard.length).toBeGreaterThan(0)
  const expectations = Object.entries(fault.expect ?? {})
  expect(expectations.length).toBeGreaterThan(0)
  for (const [word, value] of expectations) {
    const check = more[word] ?? CHECKS[word]
    if (!check) throw new Error(`nobody knows how to check "${word}"`)
    check(heard, value)
  }
}
