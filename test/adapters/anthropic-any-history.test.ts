import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { messagesAdapter } from '../../src/adapters/anthropic.ts'
import type { CallOptions } from '../../src/adapters/contract.ts'
import { say } from '../../src/adapters/say.ts'
import type { AssistantBlock, FileBlock, ImageBlock, Message } from '../../src/message/schema.ts'
import {
  assistantMessage,
  deepFreeze,
  systemMessage,
  toolCall,
  toolMessage,
  userMessage,
} from '../support/messages.ts'
import { messagesDefects } from './checkers/anthropic.ts'
import { type MessagesBody, sentMessages } from './checkers/anthropic-body.ts'

type Options = CallOptions & { model: string }
const tools = [{ name: 'clock', parameters: {} }]

/** What is sent of a history. It is frozen: writing to it would throw. */
const encode = (messages: Message[], options: Options): unknown =>
  JSON.parse(JSON.stringify(say(messagesAdapter(), { messages: deepFreeze(messages), tools }, options).body))
const sent = (messages: Message[]): MessagesBody =>
  sentMessages(encode(messages, { model: 'claude-sonnet-4-5' }))

const text = fc.oneof(
  fc.constantFrom('', ' ', '\n', 'hi', 'hi ', '你好 👋', 'half \ud83d', '\ude00 half'),
  fc.string({ unit: 'binary', maxLength: 8 }),
)
const textBlock = fc.record(
  { type: fc.constant('text' as const), text, signature: fc.constantFrom('s', '{"citations":[]}') },
  { requiredKeys: ['type', 'text'] },
)
const id = fc.constantFrom('a', 'b', 'call_0', 'fc|2', 'x'.repeat(64), 'é')
const image = fc.constantFrom<ImageBlock>(
  { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
  { type: 'image', mimeType: 'image/heic', data: 'AAAA' },
  { type: 'image', mimeType: 'image/png', url: 'blob:x' },
  { type: 'image', mimeType: 'image/png', url: 'https://a.example' },
)
const file = fc.constantFrom<FileBlock>(
  { type: 'file', mimeType: 'application/pdf', data: 'JVBERi0=' },
  { type: 'file', mimeType: 'text/plain', data: 'aGk=' },
  { type: 'file', mimeType: 'application/zip', attachmentId: 'a' },
)
/** What the provider's server did, in whole pairs and in halves. */
const serverBlock = fc.tuple(fc.constantFrom('s1', 's2', 's3'), fc.boolean()).map(
  ([server, isCall]): AssistantBlock =>
    isCall
      ? toolCall(server, { server: true, signature: '{"type":"server_tool_use"}' })
      : {
          type: 'other',
          provider: 'anthropic',
          raw: { type: 'web_search_tool_result', tool_use_id: server },
        },
)
const block: fc.Arbitrary<AssistantBlock> = fc.oneof(
  textBlock,
  fc.record(
    {
      type: fc.constant('thinking' as const),
      text,
      signature: fc.constant('S'),
      redacted: fc.constant(true),
    },
    { requiredKeys: ['type', 'text'] },
  ),
  id.map((value) => toolCall(value)),
  id.map((value) => toolCall(value, { name: 'a.b', arguments: ['\ud83d'] })),
  id.map((value) => ({ type: 'toolCall' as const, id: value, name: 'f', rawArguments: '{"a"' })),
  serverBlock,
  image,
  fc.constant<AssistantBlock>({ type: 'source', url: 'https://a.example' }),
  fc.constant<AssistantBlock>({
    type: 'other',
    provider: 'anthropic',
    raw: { type: 'compaction', content: 'x' },
  }),
  fc.constant<AssistantBlock>({ type: 'other', provider: 'anthropic', raw: null }),
)
const message: fc.Arbitrary<Message> = fc.oneof(
  fc
    .array(fc.oneof(textBlock, image, file), { maxLength: 3 })
    .map((content) => userMessage('m', '', { content })),
  textBlock.map((content) => systemMessage('m', '', { content: [content] })),
  fc
    .record({
      content: fc.array(block, { maxLength: 5 }),
      status: fc.constantFrom('completed' as const, 'failed' as const, 'interrupted' as const),
      provider: fc.constantFrom('anthropic', 'other'),
      stopReason: fc.constantFrom('stop' as const, 'length' as const, 'aborted' as const),
    })
    .map((more) => assistantMessage('m', '', more)),
  fc
    .tuple(id, fc.array(fc.oneof(textBlock, image), { maxLength: 2 }), fc.boolean())
    .map(([call, content, isError]) => toolMessage('m', call, { content, isError })),
)
const options: fc.Arbitrary<Options> = fc.record(
  {
    model: fc.constantFrom(
      'claude-3-haiku-20240307',
      'claude-3-7-sonnet-latest',
      'claude-sonnet-4-5',
      'claude-opus-4-6',
      'claude-opus-4-8',
      'claude-fable-5',
      'glm-5',
    ),
    thinking: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'max'),
    toolChoice: fc.constantFrom('auto' as const, 'none' as const, 'required' as const, { name: 'clock' }),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    topP: fc.constant(0.5),
    maxOutputTokens: fc.integer({ min: 1, max: 40_000 }),
    stop: fc.array(fc.constantFrom('', ' ', 'X'), { maxLength: 2 }),
    cache: fc.constantFrom('short', 'long'),
  },
  { requiredKeys: ['model'] },
)

describe('any history at all', () => {
  test('becomes a request that Anthropic does not refuse for its shape, with any options', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), options, (messages, call) => {
        expect(messagesDefects(encode(messages, call))).toEqual([])
      }),
      { numRuns: 1000, seed: 8 },
    )
  })

  test('gets the same ids again when it has grown', () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 8 }),
        fc.array(message, { maxLength: 4 }),
        (before, after) => {
          const idsOf = (messages: Message[]) =>
            JSON.stringify(sent(messages)).match(/(?<="tool_use_id":")[^"]*/g) ?? []
          const ours = (messages: Message[]) => idsOf(messages).filter((value) => !/^s\d$/.test(value))
          const first = ours(before)
          expect(ours([...before, ...after]).slice(0, first.length)).toEqual(first)
        },
      ),
    )
  })
})
