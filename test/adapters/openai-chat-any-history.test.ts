import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import { say } from '../../src/adapters/say.ts'
import type { AssistantBlock, Message } from '../../src/message/schema.ts'
import {
  assistantMessage,
  deepFreeze,
  systemMessage,
  toolCall,
  toolMessage,
  userMessage,
} from '../support/messages.ts'
import { type ChatBody, callsOf, sentBody, strictDefects } from './checkers/openai-chat.ts'

/** What is sent of a history. It is frozen: writing to it would throw. */
const sent = (messages: Message[]): ChatBody =>
  sentBody(say(chatAdapter(), { messages: deepFreeze(messages) }, { model: 'm' }).body)

const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' } as const

const text = fc.oneof(
  fc.constantFrom('', ' ', 'hi', '你好 👋', 'half \ud83d', '\ude00 half'),
  fc.string({ unit: 'binary', maxLength: 8 }),
)
const textBlock = text.map((value) => ({ type: 'text' as const, text: value }))
const id = fc.constantFrom('a', 'b', 'call_0', 'fc|2', 'x'.repeat(64))
const block: fc.Arbitrary<AssistantBlock> = fc.oneof(
  textBlock,
  fc.record({ type: fc.constant('thinking' as const), text }),
  id.map((value) => toolCall(value)),
  id.map((value) => ({ type: 'toolCall' as const, id: value, name: 'f', rawArguments: '{"a"' })),
  fc.constant<AssistantBlock>({ type: 'other', provider: 'openai', raw: { type: 'x' } }),
)
const message: fc.Arbitrary<Message> = fc.oneof(
  fc
    .array(fc.oneof(textBlock, fc.constant(image)), { maxLength: 3 })
    .map((content) => userMessage('m', '', { content })),
  textBlock.map((content) => systemMessage('m', '', { content: [content] })),
  fc
    .record({
      content: fc.array(block, { maxLength: 4 }),
      status: fc.constantFrom('completed' as const, 'failed' as const, 'interrupted' as const),
      provider: fc.constantFrom('openai', 'other'),
    })
    .map((more) => assistantMessage('m', '', more)),
  fc
    .tuple(id, fc.array(fc.oneof(textBlock, fc.constant(image)), { maxLength: 2 }))
    .map(([call, content]) => toolMessage('m', call, { content })),
)

describe('any history at all', () => {
  test('becomes a request that no server refuses for its shape', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
        expect(strictDefects(sent(messages))).toEqual([])
      }),
    )
  })

  test('gets the same ids again when it has grown', () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 8 }),
        fc.array(message, { maxLength: 4 }),
        (before, after) => {
          const idsOf = (messages: Message[]) =>
            sent(messages)
              .messages.flatMap(callsOf)
              .map((call) => call.id)
          const first = idsOf(before)
          expect(idsOf([...before, ...after]).slice(0, first.length)).toEqual(first)
        },
      ),
    )
  })
})
