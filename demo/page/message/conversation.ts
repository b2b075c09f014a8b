import { createContext, useContext } from 'react'
import type { Chat, ChatSession } from 'tidemark'

/** The chat and the session that the page shows. */
export interface Conversation {
  chat: Chat
  session: ChatSession
}

export const ConversationContext = createContext<Conversation | null>(null)

export function useConversation(): Conversation {
  const conversation = useContext(ConversationContext)
  if (!conversation) throw new Error('No conversation around this component')
  return conversation
}
