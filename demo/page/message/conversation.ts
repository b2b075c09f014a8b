import { createContext, useContext } from 'react'
import type { AssistantMessage, Chat, ChatSession, ToolCallBlock, ToolMessage } from 'tidemark'

/** The chat and the session that the page shows. */
export interface Conversation {
  chat: Chat
  session: ChatSession
  /** The session on the page, where this one is shown within another. */
  home?: string
}

export const ConversationContext = createContext<Conversation | null>(null)

export function useConversation(): Conversation {
  const conversation = useContext(ConversationContext)
  if (!conversation) throw new Error('No conversation around this component')
  return conversation
}

/** The call that a tool's message answers, and where it was made; undefined where that is not loaded. */
export function useCall({
  parentId,
  toolCallId,
}: ToolMessage): { answer: AssistantMessage; index: number; call: ToolCallBlock } | undefined {
  const { session } = useConversation()
  for (let id = parentId; id !== null; ) {
    const before = session.message(id).get()
    if (before?.role === 'assistant')
      for (const [index, call] of before.content.entries())
        if (call.type === 'toolCall' && call.id === toolCallId) return { answer: before, index, call }
    id = before?.role === 'tool' ? before.parentId : null
  }
  return undefined
}
