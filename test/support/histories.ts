import fc from 'fast-check'
import type { AssistantBlock, Message } from '../../src/message/schema.ts'
import { assistantMessage, systemMessage, toolCall, toolMessage, userMessage } from './messages.ts'

const text = fc.oneof(
  fc.constantFrom('', ' ', 'hi', '你好 👋', 'half \ud83d', '\ude00 half'),
  fc.string({ unit: 'binary', maxLength: 8 }),
)
const textBlock = text.map((value) => ({ type: 'text' as const, text: value }))
const image = fc.constantFrom(
  { type: 'image' as const, mimeType: 'image/png', data: 'iVBORw0KGgo=' },
  { type: 'image' as const, mimeType: 'image/png', url: 'https://a.example/b.png' },
  { type: 'image' as const, mimeType: 'image/png', attachmentId: 'a1' },
)
const id = fc.constantFrom('a', 'b', 'call_0', 'fc|2', 'ünïcode', 'x'.repeat(64))
const signature = fc.option(fc.constant('c2ln'), { nil: undefined })
const name = fc.constantFrom('f', 'g')
const args = fc.constantFrom<unknown>({}, { a: 'half \ud83d' }, [1], 'text', null)

const signed = <Block extends AssistantBlock>(block: Block, proof: string | undefined): Block =>
  proof === undefined ? block : { ...block, signature: proof }

/** A block of an answer, also such as no answer should have. `raw` is what the provider itself may say that nobody else knows. */
const block = (provider: string, raw: unknown): fc.Arbitrary<AssistantBlock> =>
  fc.oneof(
    fc.tuple(textBlock, signature).map(([value, proof]) => signed(value, proof)),
    fc.tuple(text, signature).map(([value, proof]) => signed({ type: 'thinking', text: value }, proof)),
    fc
      .tuple(id, name, args, signature)
      .map(([value, f, given, proof]) => signed(toolCall(value, { name: f, arguments: given }), proof)),
    id.map((value) => ({ type: 'toolCall' as const, id: value, name: 'f', rawArguments: '{"a"' })),
    id.map((value) => toolCall(value, { server: true })),
    fc.constant<AssistantBlock>({ type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' }),
    fc.constant<AssistantBlock>({ type: 'source', url: 'https://a.example' }),
    fc.constant<AssistantBlock>({ type: 'other', provider, raw }),
  )

/**
 * Histories of any kind, most of them invalid: orphans, doubles, empty texts, half characters, aborted answers, thinking of
 * others, odd ids.
 */
export const anyHistory = (provider: string, raw: unknown, maxLength = 12): fc.Arbitrary<Message[]> => {
  const message: fc.Arbitrary<Message> = fc.oneof(
    fc
      .array(fc.oneof(textBlock, image), { maxLength: 3 })
      .map((content) => userMessage('m', '', { content })),
    textBlock.map((content) => systemMessage('m', '', { content: [content] })),
    fc
      .record({
        content: fc.array(block(provider, raw), { maxLength: 4 }),
        status: fc.constantFrom('completed' as const, 'failed' as const, 'interrupted' as const),
        stopReason: fc.constantFrom('stop' as const, 'toolUse' as const, 'aborted' as const),
        provider: fc.constantFrom(provider, 'other'),
      })
      .map((more) => assistantMessage('m', '', more)),
    fc
      .tuple(id, fc.array(fc.oneof(textBlock, image), { maxLength: 2 }), fc.boolean())
      .map(([call, content, isError]) => toolMessage('m', call, { content, isError })),
  )
  return fc.array(message, { maxLength })
}
