import { describe, expect } from 'vitest'
import { interactionsAdapter } from '../../src/adapters/gemini-interactions.ts'
import { say } from '../../src/adapters/say.ts'
import { strictInteractionDefects } from './checkers/gemini-interactions.ts'
import {
  contentOf,
  type InteractionBody,
  isCall,
  isResult,
  isThought,
  sentInteraction,
  stepsIn,
} from './checkers/gemini-interactions-body.ts'
import { saidIn } from './fault-history.ts'
import type { Fault } from './fixtures.ts'
import { serialiseFaults, testFaults } from './serialise-faults.ts'

/** Which targets of `faults.json` are this API's too: the same models stand behind it. */
const TARGETS = ['google', 'anthropic, google', 'any']
const MODELS = ['gemini-3.8-flash', 'gemini-2.5-flash']

/** Faults of other targets that it could have as well. */
const ALSO = ['S01', 'S10', 'S21', 'S41', 'S50']

function encodeFault(fault: Fault, model: string): InteractionBody {
  const { context, options } = saidIn(fault, 'google-interactions')
  return sentInteraction(say(interactionsAdapter(), context, { model, ...options }).body)
}

const types = (body: InteractionBody) => stepsIn(body).map(({ type }) => type)
const calls = (body: InteractionBody) => stepsIn(body).filter(isCall)
const results = (body: InteractionBody) => stepsIn(body).filter(isResult)
const texts = (body: InteractionBody) =>
  stepsIn(body)
    .flatMap(contentOf)
    .flatMap((content) => (content.type === 'text' ? [content.text] : []))
/** What came of each call, and whether it is an error. */
const outcomes = (body: InteractionBody) =>
  results(body).map(({ result, is_error: isError }) => [
    typeof result === 'string'
      ? result
      : result.map((part) => (part.type === 'text' ? part.text : part.type)),
    isError === true,
  ])

/** The rule of each fault (its `right`), on the request that we make of its input. */
const RIGHT: Readonly<Record<string, (body: InteractionBody, model: string) => void>> = {
  S01: (body) => {
    expect(types(body)).toEqual(['user_input', 'thought', 'function_call', 'function_result', 'user_input'])
    expect(texts(body)).toEqual(['hi', 'go'])
    expect(outcomes(body)).toEqual([[['(no output)'], false]])
  },
  S10: (body) =>
    expect(outcomes(body)).toEqual([
      [['1'], false],
      [['Not executed: there is no result.'], true],
    ]),
  S21: (body, model) => {
    const inside = outcomes(body)
      .flatMap(([result]) => result)
      .filter((part) => part === 'image')
    const beside = stepsIn(body)
      .flatMap(contentOf)
      .filter(({ type }) => type === 'image')
    expect([inside.length, beside.length]).toEqual(/-3\./.test(model) ? [2, 0] : [0, 2])
  },
  // The proof stands on the first call, as it came; no other gets one, and none is made up.
  S23: (body) => {
    expect(calls(body).map(({ signature }) => signature)).toEqual(['SIG', undefined])
    expect(stepsIn(body).filter(isThought)).toEqual([])
  },
  S25: (body) => {
    expect(types(body)[0]).toBe('user_input')
    expect(types(body).filter((type) => type === 'user_input')).toHaveLength(1)
  },
  S26: (body) => {
    const after = types(body).slice(types(body).indexOf('function_call'))
    expect(after).toEqual([
      'function_call',
      'function_call',
      'function_result',
      'function_result',
      'user_input',
    ])
  },
  S27: (body) => expect(outcomes(body)).toEqual([[['boom'], true]]),
  S29: (body) =>
    expect(body.tools).toEqual([
      {
        type: 'function',
        name: 'f',
        parameters: {
          $schema: 'x',
          type: 'object',
          additionalProperties: false,
          properties: { a: { enum: [1] }, b: { type: ['string', 'null'] } },
        },
      },
    ]),
  S41: (body) => expect(texts(body)).toEqual(['a', 'x\n\n', 'y', 'Continue.']),
  S46: (body) => {
    expect(types(body)).toEqual(['user_input', 'model_output', 'user_input'])
    expect(body).not.toHaveProperty('system_instruction')
    expect(texts(body)).toEqual(['a', 'x', 'b', '<system>\nFrom now on be brief.\n</system>'])
  },
  S49: (body) => expect([types(body), texts(body)]).toEqual([['user_input'], ['a', 'b']]),
  S50: (body) => expect(results(body).map(({ name }) => name)).toEqual(calls(body).map(({ name }) => name)),
  S52: (body) => {
    expect(new Set(calls(body).map(({ id }) => id)).size).toBe(2)
    expect(results(body).map((result) => result.call_id)).toEqual(calls(body).map(({ id }) => id))
    expect(outcomes(body)).toEqual([
      [['1'], false],
      [['2'], false],
    ])
  },
}

describe('requests do not have the faults reported against other adapters', () => {
  const ours = serialiseFaults((target) => TARGETS.includes(target), ALSO)

  testFaults(ours, RIGHT, (fault) => {
    for (const model of MODELS) {
      const body = encodeFault(fault, model)
      RIGHT[fault.id]?.(body, model)
      expect(strictInteractionDefects(body)).toEqual([])
    }
  })
})
