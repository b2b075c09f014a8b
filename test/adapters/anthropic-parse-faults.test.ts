import { describe, expect, test } from 'vitest'
import { messagesAdapter } from '../../src/adapters/anthropic.ts'
import { isRetryable } from '../../src/lib/errors.ts'
import { callsIn, type Heard, hearAll, responseOf, textIn } from './answers.ts'
import { faults } from './fixtures.ts'

const adapter = messagesAdapter()
const ours = faults().filter(({ direction, input }) => direction === 'parse' && input.api === 'anthropic')

/** What each word of an expectation means. A word that is not here fails the test. */
const CHECKS: Readonly<Record<string, (heard: Heard, value: unknown) => void>> = {
  text: ({ message }, value) => expect(textIn(message)).toBe(value),
  stopReason: ({ message }, value) => expect(message.stopReason).toBe(value),
  errorIncludes: ({ error }, value) => expect(error?.message).toContain(value),
  retryable: ({ error }, value) => expect(error && isRetryable(error)).toBe(value),
  redacted: ({ message }, value) => {
    const thoughts = message.content.filter((block) => block.type === 'thinking')
    expect(thoughts.filter(({ redacted }) => redacted).map(({ signature }) => signature)).toEqual(value)
  },
  toolCalls: ({ message }, value) =>
    expect(callsIn(message).map((call) => [call.id, call.name, call.arguments])).toEqual(value),
}

describe('faults reported against other adapters are not ours', () => {
  test('there are faults to test', () => expect(ours).toHaveLength(9))

  test.each(ours.map((fault) => [fault.id, fault.symptom, fault] as const))(
    '%s: %s',
    async (_id, _symptom, { input, expect: expected }) => {
      const heard = await hearAll(adapter, responseOf([String(input.body)]))
      const expectations = Object.entries(expected ?? {})
      expect(expectations.length).toBeGreaterThan(0)
      for (const [word, value] of expectations) {
        const check = CHECKS[word]
        if (!check) throw new Error(`nobody knows how to check "${word}"`)
        check(heard, value)
      }
    },
  )
})
