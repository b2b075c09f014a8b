import { describe, expect, test } from 'vitest'
import { ollamaAdapter } from '../../src/adapters/ollama.ts'
import { expectedAnswers } from './fixtures.ts'
import { outcomeOf, wantedOf } from './outcome.ts'
import { hearRecorded } from './recorded.ts'

describe('every recorded Ollama answer comes out as expected, without exception', () => {
  const answers = expectedAnswers('ollama')

  test('there are answers to test', () => expect(answers).toHaveLength(20))

  test.each(answers)('%s', async (file, expected) => {
    const { message } = await hearRecorded(ollamaAdapter(), file, expected)
    expect(outcomeOf(message, expected)).toEqual(wantedOf(expected))
  })
})
