import { valueIn } from '../message/output.ts'
import { type Message, SCHEMA_VERSION } from '../message/schema.ts'
import { textOf } from '../message/text.ts'
import type { Structured } from './output.ts'

/** Holds answers to the shapes that `send(…, { output })` asks for: `direct({ model, structured })`. A server does so anyway. */
export const structured: Structured = async (shape, message, { content }, isCut) => {
  if (content.some((block) => block.type === 'toolCall' && !block.server)) return undefined
  const found = await valueIn(textOf({ content: [...content] }), shape.schema)
  if (!('problem' in found)) return undefined
  const problem = isCut ? `it was cut off, there being no room for more: ${found.problem}` : found.problem
  const { usage: _, ...common } = { ...message, status: 'completed' as const, v: SCHEMA_VERSION }
  const text = `This answer does not fit what was asked for: ${problem}. Answer again with JSON that fits, and nothing else.`
  const { sessionId, parentId, createdAt, updatedAt, status, v } = common
  const said: Message[] = content.length > 0 ? [{ ...common, content: [...content] }] : []
  const note: Message = {
    ...{ id: `${message.id.slice(0, 57)}_misfit`, sessionId, parentId, createdAt, updatedAt, status, v },
    role: 'user',
    content: [{ type: 'text', text }],
  }
  return { problem, shown: [...said, note] }
}
