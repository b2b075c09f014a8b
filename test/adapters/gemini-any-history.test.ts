import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { geminiAdapter } from '../../src/adapters/gemini.ts'
import { say } from '../../src/adapters/say.ts'
import { anyHistory } from '../support/histories.ts'
import { deepFreeze } from '../support/messages.ts'
import { strictGeminiDefects } from './checkers/gemini.ts'
import { sentGemini } from './checkers/gemini-body.ts'

const executed = { executableCode: { language: 'PYTHON', code: '1' }, thoughtSignature: 'S' }
const histories = anyHistory('google', executed)

describe.each(['gemini-2.0-flash', 'gemini-2.5-pro', 'gemini-3-pro-preview'])('%s', (model) => {
  test('takes any history at all', () => {
    fc.assert(
      fc.property(histories, (messages) => {
        const { body } = say(geminiAdapter(), { messages: deepFreeze(messages) }, { model })
        expect(strictGeminiDefects(sentGemini(body), model)).toEqual([])
      }),
    )
  })

  test('is told of a longer history what it was told of the shorter, so that caches hold', () => {
    fc.assert(
      fc.property(histories, anyHistory('google', executed, 4), (before, after) => {
        const callsIn = (messages: typeof before) =>
          sentGemini(say(geminiAdapter(), { messages }, { model }).body).contents.flatMap(({ parts }) =>
            parts.flatMap(({ functionCall }) => functionCall ?? []),
          )
        const first = callsIn(before)
        expect(callsIn([...before, ...after]).slice(0, first.length)).toEqual(first)
      }),
    )
  })
})
