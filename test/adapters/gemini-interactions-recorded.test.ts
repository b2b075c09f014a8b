import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { interactionsAdapter } from '../../src/adapters/gemini-interactions.ts'
import { expectedAnswers } from './fixtures.ts'
import { outcomeOf, sha256, wantedOf } from './outcome.ts'
import { hearRecorded } from './recorded.ts'

/** How `expected.json` names a proof. */
const Signed = z.looseObject({
  signatureSha256: z.optional(z.string()),
  signatureLen: z.optional(z.number()),
})

describe('every recorded Interactions answer comes out as expected, without exception', () => {
  const answers = expectedAnswers('gemini-interactions')

  test('there are answers to test', () => expect(answers).toHaveLength(10))

  test.each(answers)('%s', async (file, expected) => {
    const { message } = await hearRecorded(
      interactionsAdapter({ provider: expected.provider }),
      file,
      expected,
    )
    expect(outcomeOf(message, expected)).toEqual(wantedOf(expected))
    const proofs = message.content.map((block) => ('signature' in block ? block.signature : undefined))
    expect(proofs.map((proof) => [proof && sha256(proof).slice(0, 16), proof?.length])).toEqual(
      expected.content
        .map((block) => Signed.parse(block))
        .map(({ signatureSha256: digest, signatureLen: length }) => [digest, length]),
    )
  })
})
