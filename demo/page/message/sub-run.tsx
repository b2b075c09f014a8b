import { type ReactNode, useEffect, useMemo } from 'react'
import { type ChatSession, subSessionOf, type ToolMessage } from 'tidemark'
import { useSession } from 'tidemark/react'
import { hashFor } from '../route.ts'
import { Approval } from './approval.tsx'
import { ConversationContext, useCall, useConversation } from './conversation.ts'

/** Milliseconds. */
const LOOK_AGAIN = 1000

/** Where the run is on a server, its session may not be there yet: it is looked for until it is. */
function useFound(session: ChatSession, isEmpty: boolean): void {
  useEffect(() => {
    if (!isEmpty) return
    const timer = setInterval(() => session.resync().catch(() => undefined), LOOK_AGAIN)
    return () => clearInterval(timer)
  }, [session, isEmpty])
}

/** What a run of its own waits for, shown where it was asked for. */
function Waiting({ id }: { id: string }) {
  const { chat, session: around } = useConversation()
  const session = chat.session(id)
  const { messages, waiting } = useSession(session)
  useFound(session, messages.length === 0)
  const conversation = useMemo(() => ({ chat, session, home: around.id }), [chat, session, around])
  return (
    <ConversationContext value={conversation}>
      {waiting.map((message) =>
        message.stage === 'approval' ? <Approval key={message.id} message={message} /> : null,
      )}
    </ConversationContext>
  )
}

/** A call that is worked at in a session of its own: the way there, and what that waits for. */
export function SubRun({ message, children }: { message: ToolMessage; children: ReactNode }) {
  const called = useCall(message)
  if (message.toolName !== 'research' || !called) return children
  const id = subSessionOf(called.answer, called.index)
  return (
    <div className="sub-run">
      {children}
      <a href={hashFor(id)}>Its own conversation</a>
      {message.status === 'pending' ? <Waiting id={id} /> : null}
    </div>
  )
}
