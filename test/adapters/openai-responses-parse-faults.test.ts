import { describe, expect, test } from 'vitest'
import { responsesAdapter } from '../../src/adapters/openai-responses.ts'
import { expectRight, parseFaults } from './parse-faults.ts'

describe('faults reported against other adapters are not ours', () => {
  const ours = parseFaults('openai-responses')

  test('there are faults to test', () => expect(ours).toHaveLength(6))

  test.each(ours)('%s: %s', async (_id, _symptom, fault) => {
    await expectRight(responsesAdapter(), fault)
  })
})
