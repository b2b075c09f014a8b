import { describe, expect, test } from 'vitest'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import { EXCEPTIONS as ALL } from './exceptions.ts'
import { expectedAnswers } from './fixtures.ts'
import { outcomeOf, wantedOf } from './outcome.ts'
import { hearRecorded } from './recorded.ts'

const EXCEPTIONS = ALL['openai-chat'] ?? {}

describe('every recorded Chat Completions answer comes out as expected', () => {
  const answers = expectedAnswers('openai-chat')

  test('there are answers to test, and every exception names one', () => {
    expect(answers.length).toBeGreaterThan(250)
    const files = new Set(answers.map(([file]) => file))
    expect(Object.keys(EXCEPTIONS).filter((file) => !files.has(file))).toEqual([])
  })

  test.each(answers)('%s', async (file, expected) => {
    const { message } = await hearRecorded(chatAdapter({ provider: expected.provider }), file, expected)
    if (file in EXCEPTIONS) expect(outcomeOf(message, expected)).not.toEqual(wantedOf(expected))
    else expect(outcomeOf(message, expected)).toEqual(wantedOf(expected))
  })
})
