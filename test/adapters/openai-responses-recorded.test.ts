import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import type { AssistantDraft } from '../../src/adapters/contract.ts'
import { responsesAdapter } from '../../src/adapters/openai-responses.ts'
import type { AssistantBlock } from '../../src/message/schema.ts'
import { callsIn, hearAll, responseOf, textIn } from './answers.ts'
import { EXCEPTIONS as ALL } from './exceptions.ts'
import { type Expected, expectedAnswers, hasFixture, readFixture } from './fixtures.ts'
import { sha256 } from './outcome.ts'
import { hearRecorded } from './recorded.ts'

const EXCEPTIONS = ALL['openai-responses'] ?? {}

/** Recordings whose pieces were shortened by hand: what the item says in the end is another text. */
const RESTATED: readonly string[] = ['openai/vercel-responses-openai-shell-container.1.chunks.txt']

const digest = (text: string): string => sha256(text).slice(0, 16)
const sized = (text: string) => ({ len: [...text].length, sha256: digest(text) })

const Item = z.looseObject({ type: z.string(), status: z.nullish(z.string()) })
const Proof = z.looseObject({ type: z.string(), encrypted_content: z.optional(z.string()) })

const proofOf = ({ signature = '{}' }: { signature?: string | undefined }) =>
  Proof.parse(JSON.parse(signature))

/** A block in the words of `expected.json`. */
function blockOf(block: AssistantBlock): unknown {
  switch (block.type) {
    case 'text':
      return { type: 'text', ...sized(block.text), ...(block.refusal && { refusal: true }) }
    case 'thinking': {
      const { encrypted_content: proof } = proofOf(block)
      const signed = proof === undefined ? {} : { signatureLen: proof.length, signatureSha256: digest(proof) }
      return { type: 'thinking', ...sized(block.text), ...signed }
    }
    case 'toolCall': {
      const { type, id, name, arguments: args } = block
      return {
        type,
        id,
        name,
        arguments: args,
        ...(proofOf(block).type === 'custom_tool_call' && { custom: true }),
      }
    }
    case 'image':
      return { type: 'image', mimeType: block.mimeType, base64Len: block.data?.length }
    case 'other': {
      const { type, status } = Item.parse(block.raw)
      return { type: 'other', rawType: type, status: status ?? null }
    }
    default:
      throw new Error(`nobody expects a block of type ${block.type}`)
  }
}

function outcomeOf(message: AssistantDraft): unknown {
  const { model = null, responseId = null, stopReason, usage = null, content } = message
  return {
    model,
    responseId,
    stopReason,
    content: content.filter(({ type }) => type !== 'source').map(blockOf),
    text: sha256(textIn(message)),
    thinking: sha256(textIn(message, 'thinking')),
    toolCalls: callsIn(message).map(({ id, name, ...call }) => ({ id, name, arguments: call.arguments })),
    usage: usage && { reasoning: 0, ...usage },
  }
}

const WantedBlock = z.looseObject({ head: z.optional(z.string()), annotations: z.optional(z.number()) })

function wantedOf({
  model,
  responseId,
  stopReason,
  content,
  toolCalls,
  usage,
  ...expected
}: Expected): unknown {
  return {
    model,
    responseId,
    stopReason,
    content: content.map((block) => {
      const { head: _, annotations: __, ...wanted } = WantedBlock.parse(block)
      return wanted
    }),
    text: expected.textSha256,
    thinking: expected.thinkingSha256 ?? sha256(''),
    toolCalls,
    usage: usage && { reasoning: 0, ...usage },
  }
}

describe('every recorded Responses answer comes out as expected', () => {
  const answers = expectedAnswers('openai-responses')

  test('there are answers to test, and every exception names one', () => {
    expect(answers).toHaveLength(123)
    const files = new Set(answers.map(([file]) => file))
    expect(Object.keys(EXCEPTIONS).filter((file) => !files.has(file))).toEqual([])
    expect(answers.filter(([file]) => !hasFixture(`streams/${file}`))).toHaveLength(1)
  })

  test.each(answers.filter(([file]) => !(file in EXCEPTIONS)))('%s', async (file, expected) => {
    const adapter = responsesAdapter({ provider: expected.provider })
    const restated = RESTATED.includes(file)
    const { message } = await hearRecorded(adapter, file, expected, { restated })
    expect(outcomeOf(message)).toEqual(wantedOf(expected))
  })

  test('the receipt of an answer that is still queued says by which id to ask for it, and is no answer', async () => {
    const [file = ''] = Object.keys(EXCEPTIONS)
    const { message, error } = await hearAll(responsesAdapter(), responseOf([readFixture(`streams/${file}`)]))
    expect(message).toMatchObject({
      content: [],
      stopReason: 'error',
      responseId: expect.stringMatching(/^resp_/),
    })
    expect(error).toMatchObject({ code: 'protocol', message: 'there is no answer yet: queued' })
  })
})
