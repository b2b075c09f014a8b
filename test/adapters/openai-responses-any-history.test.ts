import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import type { CallOptions } from '../../src/adapters/contract.ts'
import { responsesAdapter } from '../../src/adapters/openai-responses.ts'
import { RESPONSES_QUIRKS } from '../../src/adapters/openai-responses-quirks.ts'
import { say } from '../../src/adapters/say.ts'
import { type AssistantBlock, type FileBlock, type ImageBlock, Message } from '../../src/message/schema.ts'
import {
  assistantMessage,
  deepFreeze,
  systemMessage,
  toolCall,
  toolMessage,
  userMessage,
} from '../support/messages.ts'
import { responsesDefects } from './checkers/openai-responses.ts'
import { itemsIn, kindOf, type ResponsesBody, sentResponses } from './checkers/openai-responses-body.ts'

type Options = CallOptions & { model: string }
const PROVIDERS = ['openai', 'xai', 'deepseek'] as const
type Provider = (typeof PROVIDERS)[number]
const tools = [{ name: 'clock', parameters: { properties: { a: {} } } }]

/** What is sent of a history. It is frozen: writing to it would throw. */
function encode(messages: Message[], options: Options, provider: Provider = 'openai'): unknown {
  const quirks = provider === 'openai' ? {} : RESPONSES_QUIRKS[provider]
  const adapter = responsesAdapter({ provider, quirks })
  return JSON.parse(
    JSON.stringify(say(adapter, { messages: deepFreeze(numbered(messages)), tools }, options).body),
  )
}

const text = fc.oneof(
  fc.constantFrom('', ' ', '\n', 'hi', '你好 👋', 'half \ud83d', '\ude00 half'),
  fc.string({ unit: 'binary', maxLength: 8 }),
)
const id = fc.constantFrom('a', 'b', 'call_0', 'cut_', 'fc|2', 'x'.repeat(64), 'y'.repeat(80), 'é')
const ID = 'i_ID'
/** The items of a history, each with an id of its own. */
function numbered(messages: Message[]): Message[] {
  let n = 0
  return z.array(Message).parse(JSON.parse(JSON.stringify(messages).replaceAll(ID, () => `i_${n++}`)))
}

/** What an item said of itself, as we keep it, or a part of that, or what others keep there. */
const proof = (type: string) =>
  fc
    .record(
      {
        id: fc.constant(ID),
        encrypted_content: fc.constant('gAAA'),
        phase: fc.constantFrom('commentary', 'final_answer'),
      },
      { requiredKeys: [] },
    )
    .map((fields) => JSON.stringify({ type, ...fields }))
const signed = <Block extends { type: string }>(block: fc.Arbitrary<Block>, type: string) =>
  fc
    .tuple(block, fc.option(fc.oneof(proof(type), fc.constantFrom('s', '{}', '[]', 'null'))))
    .map(([bare, signature]) => (signature === null ? bare : { ...bare, signature }))
const textBlock = text.map((value) => ({ type: 'text' as const, text: value }))
const image = fc.constantFrom<ImageBlock>(
  { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
  { type: 'image', mimeType: 'image/png', url: 'blob:x' },
  { type: 'image', mimeType: 'image/png', url: 'https://a.example' },
)
const file = fc.constantFrom<FileBlock>(
  { type: 'file', mimeType: 'application/pdf', data: 'JVBERi0=' },
  { type: 'file', mimeType: 'application/pdf', url: 'https://a.example/x.pdf' },
  { type: 'file', mimeType: 'audio/mpeg', data: 'SUQz' },
  { type: 'file', mimeType: 'application/zip', attachmentId: 'a' },
)
/** What the provider's server did, in whole pairs and in halves. */
const serverBlock = fc
  .tuple(fc.constantFrom('shell_call', 'shell_call_output', 'web_search_call'), fc.boolean())
  .map(
    ([type, isFirst]): AssistantBlock => ({
      type: 'other',
      provider: 'openai',
      raw: {
        type,
        id: ID,
        ...(type !== 'web_search_call' && { call_id: isFirst ? 's1' : 's2' }),
      },
    }),
  )
const block: fc.Arbitrary<AssistantBlock> = fc.oneof(
  signed(
    fc.tuple(textBlock, fc.boolean()).map(([bare, refusal]) => ({ ...bare, refusal })),
    'message',
  ),
  signed(
    text.map((value) => ({ type: 'thinking' as const, text: value })),
    'reasoning',
  ),
  signed(
    id.map((value) => toolCall(value)),
    'function_call',
  ),
  signed(
    id.map((value) => toolCall(value, { name: 'a.b', arguments: 'SELECT \ud83d' })),
    'custom_tool_call',
  ),
  id.map((value) => ({ type: 'toolCall' as const, id: value, name: '', rawArguments: '{"a"' })),
  id.map((value) => toolCall(value, { server: true })),
  serverBlock,
  image,
  fc.constant<AssistantBlock>({ type: 'source', url: 'https://a.example' }),
  fc.constant<AssistantBlock>({ type: 'other', provider: 'openai', raw: null }),
)
/** An answer as OpenAI writes it, whole, or with something missing. */
const written = fc
  .record({
    blocks: fc.array(
      fc.tuple(fc.constantFrom('reasoning', 'message', 'function_call', 'web_search_call'), id, text),
      { minLength: 1, maxLength: 5 },
    ),
    without: fc.nat(20),
    isNamed: fc.boolean(),
  })
  .map(({ blocks, without, isNamed }) => {
    const content = blocks.map(([type, call, said]): AssistantBlock => {
      const signature = JSON.stringify({ type, ...(isNamed && { id: ID }), encrypted_content: 'gAAA' })
      if (type === 'reasoning') return { type: 'thinking', text: said, signature }
      if (type === 'message') return { type: 'text', text: said, signature }
      if (type === 'function_call') return toolCall(call, { signature })
      return { type: 'other', provider: 'openai', raw: { type, ...(isNamed && { id: ID }) } }
    })
    const kept = content.filter((_, i) => i !== without)
    return assistantMessage('m', '', { content: kept, provider: 'openai', model: 'gpt-5-2025-08-07' })
  })
const message: fc.Arbitrary<Message> = fc.oneof(
  written,
  fc
    .array(fc.oneof(textBlock, image, file), { maxLength: 3 })
    .map((content) => userMessage('m', '', { content })),
  textBlock.map((content) => systemMessage('m', '', { content: [content] })),
  fc
    .record({
      content: fc.array(block, { maxLength: 5 }),
      status: fc.constantFrom('completed' as const, 'failed' as const, 'interrupted' as const),
      provider: fc.constantFrom(...PROVIDERS),
      model: fc.constantFrom('gpt-5', 'gpt-5-2025-08-07', 'gpt-4o'),
      stopReason: fc.constantFrom('stop' as const, 'length' as const, 'aborted' as const),
    })
    .map((more) => assistantMessage('m', '', more)),
  fc
    .tuple(id, fc.array(fc.oneof(textBlock, image), { maxLength: 2 }), fc.boolean())
    .map(([call, content, isError]) => toolMessage('m', call, { content, isError })),
)
const histories = (maxLength: number) => fc.array(message, { maxLength })
const options: fc.Arbitrary<Options> = fc.record(
  {
    model: fc.constantFrom('gpt-5', 'gpt-5.1', 'gpt-4o', 'gpt-5-chat-latest', 'o3', 'grok-4'),
    thinking: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'max'),
    toolChoice: fc.constantFrom('auto' as const, 'none' as const, 'required' as const, { name: 'clock' }),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    topP: fc.constant(0.5),
    maxOutputTokens: fc.integer({ min: 1, max: 40_000 }),
    stop: fc.array(fc.constantFrom('', 'X'), { maxLength: 2 }),
    output: fc.constant({ schema: { type: 'object' } }),
  },
  { requiredKeys: ['model'] },
)

describe('any history at all', () => {
  test('becomes a request that no server refuses for its shape', () => {
    const isExact = new Set<boolean>()
    fc.assert(
      fc.property(histories(12), options, fc.constantFrom(...PROVIDERS), (messages, call, provider) => {
        const body = encode(messages, call, provider)
        expect(responsesDefects(body, provider)).toEqual([])
        isExact.add(itemsIn(sentResponses(body)).some((item) => kindOf(item) === 'reasoning'))
      }),
      { numRuns: 500 },
    )
    // Reasoning is hard to come by: without it, this would prove little.
    expect(isExact.size).toBe(2)
  })

  test('is answered by every call’s own result, in its place', () => {
    fc.assert(
      fc.property(histories(12), (messages) => {
        const items = itemsIn(sentResponses(encode(messages, { model: 'gpt-5' })))
        const idsOf = (kinds: RegExp) =>
          items.flatMap((item) => (kinds.test(kindOf(item)) && 'call_id' in item ? [item.call_id] : []))
        const calls = idsOf(/^(function_call|custom_tool_call)$/)
        expect(idsOf(/^(function|custom_tool)_call_output$/)).toEqual(calls)
        expect(new Set(calls).size).toBe(calls.length)
      }),
    )
  })

  test('begins the same when it has grown', () => {
    fc.assert(
      fc.property(histories(8), histories(4), (before, after) => {
        const sent = (messages: Message[]): ResponsesBody['input'] =>
          sentResponses(encode([userMessage('0'), ...messages, userMessage('1')], { model: 'gpt-5' })).input
        const first = sent(before).slice(0, -1)
        // A late result of an early call changes what was said of it.
        fc.pre(!after.some(({ role }) => role === 'tool'))
        const grown = sentResponses(
          encode([userMessage('0'), ...before, userMessage('1'), ...after, userMessage('2')], {
            model: 'gpt-5',
          }),
        ).input
        expect(grown.slice(0, first.length)).toEqual(first)
      }),
    )
  })
})
