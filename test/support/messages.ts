import {
  type AssistantMessage,
  SCHEMA_VERSION,
  type SystemMessage,
  type ToolCallBlock,
  type ToolMessage,
  type UserMessage,
} from '../../src/message/schema.ts'

const common = (id: string) =>
  ({
    id,
    sessionId: 's1',
    parentId: null,
    status: 'completed',
    createdAt: 1,
    updatedAt: 1,
    v: SCHEMA_VERSION,
  }) as const

export const userMessage = (
  id: string,
  text = `question ${id}`,
  more: Partial<UserMessage> = {},
): UserMessage => ({
  role: 'user',
  ...common(id),
  content: [{ type: 'text', text }],
  ...more,
})

export const assistantMessage = (
  id: string,
  text = `answer ${id}`,
  more: Partial<AssistantMessage> = {},
): AssistantMessage => ({
  role: 'assistant',
  ...common(id),
  content: text === '' ? [] : [{ type: 'text', text }],
  ...more,
})

export const toolCall = (id: string, more: Partial<ToolCallBlock> = {}): ToolCallBlock => ({
  type: 'toolCall',
  id,
  name: 'clock',
  arguments: {},
  ...more,
})

/** An assistant message that makes these calls. */
export const callingMessage = (id: string, calls: readonly string[], more: Partial<AssistantMessage> = {}) =>
  assistantMessage(id, '', { content: calls.map((call) => toolCall(call)), stopReason: 'toolUse', ...more })

export const toolMessage = (
  id: string,
  toolCallId: string,
  more: Partial<ToolMessage> = {},
): ToolMessage => ({
  role: 'tool',
  ...common(id),
  toolCallId,
  toolName: 'clock',
  content: [{ type: 'text', text: '{"ok":true,"data":"noon"}' }],
  isError: false,
  ...more,
})

export const systemMessage = (
  id: string,
  text: string,
  more: Partial<SystemMessage> = {},
): SystemMessage => ({
  role: 'system',
  ...common(id),
  content: [{ type: 'text', text }],
  ...more,
})

/** Everything in it frozen, so that whoever writes to it is caught. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const item of Object.values(value)) deepFreeze(item)
  }
  return value
}
