import { describe, expect } from 'vitest'
import { geminiAdapter } from '../../src/adapters/gemini.ts'
import { say } from '../../src/adapters/say.ts'
import { strictGeminiDefects } from './checkers/gemini.ts'
import { type GeminiBody, type Part, sentGemini } from './checkers/gemini-body.ts'
import { saidIn } from './fault-history.ts'
import type { Fault } from './fixtures.ts'
import { serialiseFaults, testFaults } from './serialise-faults.ts'

/** Which models a target of `faults.json` is. */
const TARGETS = ['google', 'anthropic, google', 'any']
const MODELS = ['gemini-3-flash-preview', 'gemini-2.5-flash']

/** Faults of other targets that Gemini could have as well. */
const ALSO = ['S01', 'S10', 'S21', 'S41', 'S50']

function encodeFault(fault: Fault, model: string): GeminiBody {
  const { context, options } = saidIn(fault, 'google')
  return sentGemini(say(geminiAdapter(), context, { model, ...options }).body)
}

const roles = ({ contents }: GeminiBody) => contents.map(({ role }) => role?.[0]).join('')
const parts = ({ contents }: GeminiBody): Part[] => contents.flatMap((content) => content.parts)
const calls = (body: GeminiBody) => parts(body).flatMap(({ functionCall }) => functionCall ?? [])
const results = (body: GeminiBody) => parts(body).flatMap(({ functionResponse }) => functionResponse ?? [])
const texts = (body: GeminiBody) => parts(body).flatMap(({ text }) => text ?? [])

/** The rule of each fault (its `right`), on the request that we make of its input. */
const RIGHT: Readonly<Record<string, (body: GeminiBody, model: string) => void>> = {
  S01: (body) => {
    expect(roles(body)).toBe('umuu')
    expect(texts(body)).toEqual(['hi', 'go'])
    expect(results(body).map(({ response }) => response)).toEqual([{ output: '(no output)' }])
  },
  S10: (body) => {
    expect(roles(body)).toBe('umuu')
    expect(results(body).map(({ response }) => response)).toEqual([
      { output: '1' },
      { error: 'Not executed: there is no result.' },
    ])
  },
  S21: (body, model) => {
    const media = results(body).flatMap(({ parts: inner = [] }) => inner)
    const beside = parts(body).filter(({ inlineData }) => inlineData)
    expect([media.length, beside.length]).toEqual(/-3-/.test(model) ? [2, 0] : [0, 2])
  },
  S23: (body) =>
    expect(
      parts(body)
        .filter(({ functionCall }) => functionCall)
        .map(({ thoughtSignature }) => thoughtSignature),
    ).toEqual(['SIG', undefined]),
  S25: (body) => expect(roles(body)).toBe('umumu'),
  S26: (body) => {
    expect(roles(body)).toBe('umuu')
    expect(body.contents[2]?.parts).toHaveLength(2)
    expect(body.contents[3]?.parts).toEqual([{ text: 'next' }])
  },
  S27: (body) => expect(results(body).map(({ response }) => response)).toEqual([{ error: 'boom' }]),
  S29: (body) => {
    expect(body.tools).toEqual([
      {
        functionDeclarations: [
          {
            name: 'f',
            parametersJsonSchema: {
              $schema: 'x',
              type: 'object',
              additionalProperties: false,
              properties: { a: { enum: [1] }, b: { type: ['string', 'null'] } },
            },
          },
        ],
      },
    ])
  },
  S41: (body) => expect(texts(body)).toEqual(['a', 'x\n\n', 'y', 'Continue.']),
  S46: (body) => {
    expect(roles(body)).toBe('umu')
    expect(body).not.toHaveProperty('systemInstruction')
    expect(texts(body)).toEqual(['a', 'x', 'b', '<system>\nFrom now on be brief.\n</system>'])
  },
  S49: (body) => expect([roles(body), texts(body)]).toEqual(['u', ['a', 'b']]),
  S50: (body) => expect(results(body).map(({ name }) => name)).toEqual(calls(body).map(({ name }) => name)),
  S52: (body) => {
    expect(new Set(calls(body).map(({ id }) => id)).size).toBe(2)
    expect(results(body).map(({ id }) => id)).toEqual(calls(body).map(({ id }) => id))
    expect(results(body).map(({ response }) => response)).toEqual([{ output: '1' }, { output: '2' }])
  },
}

describe('requests do not have the faults reported against other adapters', () => {
  const ours = serialiseFaults((target) => TARGETS.includes(target), ALSO)

  testFaults(ours, RIGHT, (fault) => {
    for (const model of MODELS) {
      const body = encodeFault(fault, model)
      RIGHT[fault.id]?.(body, model)
      expect(strictGeminiDefects(body, model)).toEqual([])
    }
  })
})
