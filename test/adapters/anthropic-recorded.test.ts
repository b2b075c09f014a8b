import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { messagesAdapter } from '../../src/adapters/anthropic.ts'
import type { AssistantDraft } from '../../src/adapters/contract.ts'
import type { AssistantBlock } from '../../src/message/schema.ts'
import { callsIn, textIn } from './answers.ts'
import { type Expected, expectedAnswers } from './fixtures.ts'
import { sha256 } from './outcome.ts'
import { hearRecorded } from './recorded.ts'

const digest = (text: string): string => sha256(text).slice(0, 16)
const Raw = z.looseObject({ type: z.string(), content: z.optional(z.unknown()) })
const Typed = z.looseObject({ type: z.string() })

/** The type of what a server's tool answered, where it is one thing and not a list. */
const contentType = (content: unknown): string | undefined => Typed.safeParse(content).data?.type

/** A block in the words of `expected.json`. */
function blockOf(block: AssistantBlock): Record<string, unknown> {
  switch (block.type) {
    case 'text':
      return { type: 'text', len: [...block.text].length, sha256: digest(block.text) }
    case 'thinking': {
      const { text, signature = '' } = block
      const proof = { signatureLen: signature.length, signatureSha256: digest(signature) }
      return { type: 'thinking', len: [...text].length, sha256: digest(text), ...proof }
    }
    case 'toolCall': {
      const { id, name, server, rawArguments: argumentsRaw } = block
      const args = { arguments: block.arguments ?? null, ...(argumentsRaw !== undefined && { argumentsRaw }) }
      return { type: 'toolCall', id, name, ...args, ...(server && { server }) }
    }
    case 'other': {
      const raw = Raw.parse(block.raw)
      const inner = contentType(raw.content)
      return { type: 'other', rawType: raw.type, ...(inner !== undefined && { contentType: inner }) }
    }
    default:
      throw new Error(`nobody expects a block of type ${block.type}`)
  }
}

/** What an expectation says of a block, and of how many citations stand in it. */
const WantedBlock = z.looseObject({ head: z.optional(z.string()), annotations: z.optional(z.number()) })

const Citations = z.object({ citations: z.array(z.unknown()) })
const citationsIn = (block: AssistantBlock): number =>
  block.type === 'text' && block.signature !== undefined
    ? Citations.parse(JSON.parse(block.signature)).citations.length
    : 0

const RawUsage = z.nullish(
  z.looseObject({ output_tokens_details: z.nullish(z.looseObject({ thinking_tokens: z.number() })) }),
)

function outcomeOf(message: AssistantDraft): unknown {
  const { model = null, responseId = null, stopReason, usage = null } = message
  const content = message.content.filter((block) => block.type !== 'source')
  const calls = callsIn(message).filter(({ server }) => !server)
  return {
    model,
    responseId,
    stopReason,
    content: content.map(blockOf),
    citations: content.map(citationsIn),
    text: sha256(textIn(message)),
    thinking: sha256(textIn(message, 'thinking')),
    toolCalls: calls.map((call) => ({ id: call.id, name: call.name, arguments: call.arguments ?? null })),
    usage: usage && { reasoning: 0, ...usage },
  }
}

function wantedOf({ model, responseId, stopReason, content, toolCalls, ...expected }: Expected): unknown {
  // The expectations leave it out; the provider says how much of the output was thinking.
  const reasoning = RawUsage.parse(expected.rawUsage)?.output_tokens_details?.thinking_tokens ?? 0
  const blocks = content.map((block) => WantedBlock.parse(block))
  return {
    model,
    responseId,
    stopReason,
    content: blocks.map(({ head: _, annotations: __, ...block }) => block),
    citations: blocks.map(({ annotations = 0 }) => annotations),
    text: expected.textSha256,
    thinking: expected.thinkingSha256 ?? sha256(''),
    toolCalls: toolCalls.map((call) => ({ ...call, arguments: call.arguments ?? null })),
    usage: expected.usage && { reasoning, ...expected.usage },
  }
}

describe('every recorded Messages answer comes out as expected, without exception', () => {
  const answers = expectedAnswers('anthropic')

  test('there are answers to test', () => expect(answers).toHaveLength(76))

  test.each(answers)('%s', async (file, expected) => {
    const { message } = await hearRecorded(messagesAdapter({ provider: expected.provider }), file, expected)
    expect(outcomeOf(message)).toEqual(wantedOf(expected))
  })
})
