import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import type { AssistantDraft } from '../../src/adapters/contract.ts'
import { geminiAdapter } from '../../src/adapters/gemini.ts'
import type { AssistantBlock } from '../../src/message/schema.ts'
import { callsIn, textIn } from './answers.ts'
import { type Expected, expectedAnswers } from './fixtures.ts'
import { sha256 } from './outcome.ts'
import { hearRecorded } from './recorded.ts'

const digest = (text: string): string => sha256(text).slice(0, 16)

/** What a part holds, besides its proof. */
const Raw = z.looseObject({})
const Held = z.looseObject({ toolType: z.optional(z.string()), outcome: z.optional(z.string()) })

const proofOf = (signature: string | undefined, told: boolean): object =>
  signature === undefined || !told ? {} : { signatureLen: signature.length }

/** A block in the words of `expected.json`. */
function blockOf(block: AssistantBlock): Record<string, unknown> {
  switch (block.type) {
    case 'text':
    case 'thinking': {
      const { type, text, signature } = block
      // The expectations count code points.
      return { type, len: [...text].length, sha256: digest(text), ...proofOf(signature, true) }
    }
    case 'toolCall': {
      const { type, name, arguments: args, signature } = block
      const proof = signature === undefined ? {} : { signatureSha256: digest(signature) }
      return { type, name, arguments: args, ...proof, ...proofOf(signature, true) }
    }
    case 'image':
      return { type: 'image', mimeType: block.mimeType, base64Len: block.data?.length }
    case 'other': {
      const [[rawType, value] = ['', {}]] = Object.entries(Raw.parse(block.raw)).filter(
        ([key]) => key !== 'thoughtSignature',
      )
      const { toolType, outcome } = Held.parse(value)
      const details = rawType === 'toolResponse' ? { outcome } : { toolType, outcome }
      return { type: 'other', rawType, ...JSON.parse(JSON.stringify(details)) }
    }
    default:
      throw new Error(`nobody expects a block of type ${block.type}`)
  }
}

function outcomeOf(message: AssistantDraft, expected: Expected): unknown {
  const { model = null, responseId = null, stopReason, usage = null } = message
  const content = message.content.filter(({ type }) => type !== 'source')
  return {
    model,
    responseId,
    stopReason,
    content: content.map(blockOf),
    text: sha256(textIn(message)),
    thinking: sha256(textIn(message, 'thinking')),
    toolCalls: callsIn(message).map(({ id, name, arguments: args }, i) => {
      // A call that came without an id was given one.
      return { id: expected.toolCalls[i]?.id ? id : id.length > 0, name, arguments: args }
    }),
    usage: expected.usageAmbiguous ? 'ambiguous' : usage && { reasoning: 0, ...usage },
  }
}

const WantedBlock = z.looseObject({ head: z.optional(z.string()), id: z.optional(z.unknown()) })

function wantedOf({ model, responseId, stopReason, content, ...expected }: Expected): unknown {
  return {
    model,
    responseId,
    stopReason,
    content: content.map((block) => {
      const { head: _, id: __, ...rest } = WantedBlock.parse(block)
      return rest
    }),
    text: expected.textSha256,
    thinking: expected.thinkingSha256 ?? sha256(''),
    toolCalls: expected.toolCalls.map((call) => ({ ...call, id: call.id ?? true })),
    usage: expected.usageAmbiguous ? 'ambiguous' : expected.usage && { reasoning: 0, ...expected.usage },
  }
}

describe('every recorded Gemini answer comes out as expected, without exception', () => {
  const answers = expectedAnswers('gemini')

  test('there are answers to test', () => expect(answers).toHaveLength(97))

  test.each(answers)('%s', async (file, expected) => {
    const { message } = await hearRecorded(geminiAdapter({ provider: expected.provider }), file, expected)
    expect(outcomeOf(message, expected)).toEqual(wantedOf(expected))
  })
})
