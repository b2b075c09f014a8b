import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { messagesAdapter } from '../../src/adapters/anthropic.ts'
import type { AssistantDraft } from '../../src/adapters/contract.ts'
import type { AssistantBlock } from '../../src/message/schema.ts'
import { hearAll, responseOf } from './answers.ts'
import { answerBytes, expectedAnswers } from './fixtures.ts'

/** The official SDK's accumulator on the same bytes; the beta one, since the other hears nothing of MCP calls' arguments. */
async function secondOpinion(text: string): Promise<unknown> {
  const client = new Anthropic({
    apiKey: 'none',
    maxRetries: 0,
    fetch: async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } }),
  })
  const stream = client.beta.messages.stream({
    model: 'm',
    max_tokens: 1,
    messages: [{ role: 'user', content: 'x' }],
  })
  return JSON.parse(JSON.stringify(await stream.finalMessage()))
}

const count = z._default(z.nullable(z.number()), 0)
const Part = z.looseObject({ type: z.string() })
const Opinion = z.object({
  id: z.string(),
  model: z.string(),
  content: z.array(Part),
  stop_reason: z.string(),
  usage: z.object({
    input_tokens: z.number(),
    output_tokens: z.number(),
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
  }),
})
type Opinion = z.infer<typeof Opinion>

/** Where we differ on purpose, by what the SDK's message has in it. */
const DIFFERENCES: Readonly<Record<string, { reason: string; isIn(opinion: Opinion): boolean }>> = {
  emptyText: {
    reason: 'a text that says nothing is no block of ours',
    isIn: ({ content }) => content.some(({ type, text }) => type === 'text' && text === ''),
  },
  halfCall: {
    reason: 'half of a call’s arguments is not an input: it is kept as it was written, and never executed',
    isIn: ({ content, stop_reason: reason }) =>
      reason === 'max_tokens' && content.some(({ type }) => type === 'tool_use'),
  },
  fallback: {
    reason:
      'the message is of the model that was named first; the SDK names the one that took over, as the block does',
    isIn: ({ content }) => content.some(({ type }) => type === 'fallback'),
  },
  refusal: {
    reason: 'a refusal is an error; the SDK leaves it to its caller to look at the reason',
    isIn: ({ stop_reason: reason }) => reason === 'refusal',
  },
}

const REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  tool_use: 'toolUse',
  max_tokens: 'length',
  refusal: 'error',
}

/** A block of the SDK's as we would have it, but for what differs. */
function blockOf(part: z.infer<typeof Part>): unknown[] {
  const { type, text, citations, thinking, signature, data, id, name, input } = part
  if (type === 'text') return text === '' ? [] : [{ type, text, citations: citations ?? [] }]
  if (type === 'thinking') return [{ type, text: thinking, signature }]
  if (type === 'redacted_thinking') return [{ type: 'thinking', text: '', signature: data }]
  if (/tool_use$/.test(type)) return [{ type: 'toolCall', id, name, server: type !== 'tool_use', input }]
  return [{ type: 'other', raw: part }]
}

const Citations = z.object({ citations: z.array(z.unknown()) })

function oursOf(block: AssistantBlock): unknown[] {
  if (block.type === 'text') {
    const { citations } = Citations.parse(JSON.parse(block.signature ?? '{"citations":[]}'))
    return [{ type: 'text', text: block.text, citations }]
  }
  if (block.type === 'thinking') return [{ type: 'thinking', text: block.text, signature: block.signature }]
  if (block.type === 'toolCall') {
    const { id, name, server = false, arguments: input } = block
    return [{ type: 'toolCall', id, name, server, input }]
  }
  return block.type === 'other' ? [{ type: 'other', raw: block.raw }] : []
}

const ours = ({ model, responseId, content, stopReason, usage }: AssistantDraft) => ({
  model,
  responseId,
  stopReason,
  content: content.flatMap(oursOf),
  usage: usage && [usage.input, usage.output, usage.cacheRead, usage.cacheWrite],
})

const theirs = ({ model, id, content, stop_reason: reason, usage }: Opinion) => ({
  model,
  responseId: id,
  stopReason: REASONS[reason],
  content: content.flatMap(blockOf),
  usage: [
    usage.input_tokens,
    usage.output_tokens,
    usage.cache_read_input_tokens ?? 0,
    usage.cache_creation_input_tokens ?? 0,
  ],
})

describe('the official SDK hears the same in the same bytes', () => {
  const streams = expectedAnswers('anthropic').filter(
    ([, { stream, httpStatus }]) => stream && httpStatus === 200,
  )
  const seen = new Set<string>()

  test('there are streams to hear', () => expect(streams.length).toBeGreaterThan(35))

  test.each(streams)('%s', async (file, expected) => {
    const text = new TextDecoder().decode(answerBytes(file, expected))
    // A last event that no empty line ends is none to the SDK; a gateway that leaves out the line means it all the same.
    const isUnended = !/\n\s*\n$/.test(text)
    if (isUnended)
      await expect(secondOpinion(text)).rejects.toThrow('stream ended without producing a Message')
    const opinion = Opinion.parse(await secondOpinion(isUnended ? `${text}\n\n` : text))
    const { message, error } = await hearAll(messagesAdapter(), responseOf([text]))
    for (const [name, { isIn }] of Object.entries(DIFFERENCES)) if (isIn(opinion)) seen.add(name)
    expect(error?.code).toBe(DIFFERENCES.refusal?.isIn(opinion) ? 'refusal' : undefined)
    const said = ours(message)
    const heard = theirs(opinion)
    if (DIFFERENCES.fallback?.isIn(opinion)) {
      expect(said.model).not.toBe(heard.model)
      heard.model = expected.model ?? ''
    }
    if (!DIFFERENCES.halfCall?.isIn(opinion)) {
      expect(said).toEqual(heard)
      return
    }
    const last = message.content.at(-1)
    expect(last).toMatchObject({ type: 'toolCall', rawArguments: expect.stringContaining('{') })
    expect(last).not.toHaveProperty('arguments')
    expect({ ...said, content: said.content.slice(0, -1) }).toEqual({
      ...heard,
      content: heard.content.slice(0, -1),
    })
  })

  test('and every difference is one that there is', () => {
    expect([...seen].sort()).toEqual(Object.keys(DIFFERENCES).sort())
  })
})
