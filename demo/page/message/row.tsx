import { memo, type ReactNode, useEffect, useRef } from 'react'
import { type Connection, type Message, textOf } from 'tidemark'
import { useMessage } from 'tidemark/react'
import { useAnnounce } from '../announcer.tsx'
import { AssistantMessage } from './assistant-message.tsx'
import { spokenOf } from './card.tsx'
import { useConversation } from './conversation.ts'
import { StatusLine } from './status-line.tsx'
import { ToolMessage } from './tool-message.tsx'
import { UserMessage } from './user-message.tsx'

interface Props {
  id: string
  /** Ids of all its versions, joined by a space: a text, so that an equal list renders nothing. */
  siblings: string
  /** At or above the tidemark. */
  settled: boolean
  /** A run is in flight. */
  busy: boolean
  /** Nothing is written just now: one may look at other versions. */
  still: boolean
  /** It waits behind an answer that has not ended. */
  queued: boolean
  line: Connection
}

const NAMES: Readonly<Record<Message['role'], string>> = {
  user: 'You',
  assistant: 'Answer',
  tool: 'Tool',
  system: 'Instructions',
}

const ENDINGS: Readonly<Partial<Record<Message['status'], string>>> = {
  completed: 'Answer',
  interrupted: 'The answer stopped',
  failed: 'The answer failed',
}

/** Says a finished answer once, and not each word as it comes. */
function useAnnouncedEnd(message: Message | undefined): void {
  const announce = useAnnounce()
  const before = useRef(message?.status)
  useEffect(() => {
    const was = before.current
    before.current = message?.status
    const ending = message && ENDINGS[message.status]
    if (!ending || message.role !== 'assistant' || (was !== 'pending' && was !== 'streaming')) return
    announce(`${ending}: ${spokenOf(message) || (message.error?.message ?? 'no text')}`)
  }, [announce, message])
}

const timeOf = (message: Message): string =>
  new Date(message.createdAt).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })

interface BodyProps {
  message: Message
  siblings: readonly string[]
  busy: boolean
  still: boolean
  /** What is to be said about the message, where its content ends. */
  children: ReactNode
}

function Body({ message, ...rest }: BodyProps) {
  switch (message.role) {
    case 'user':
      return <UserMessage message={message} {...rest} />
    case 'assistant':
      return <AssistantMessage message={message} {...rest} />
    case 'tool':
      return <ToolMessage message={message} />
    case 'system':
      return <p className="faint">{textOf(message)}</p>
  }
}

/** One message. It watches that message alone: while an answer grows, no other row renders. */
export const Row = memo(function Row({ id, siblings, settled, queued, line, ...run }: Props) {
  const { session } = useConversation()
  const message = useMessage(session, id)
  useAnnouncedEnd(message)
  if (!message) return null
  const growing =
    message.status === 'streaming' || (message.status === 'pending' && message.role === 'assistant')
  return (
    <article
      className="message"
      data-role={message.role}
      data-status={message.status}
      data-settled={settled}
      data-message={message.id}
      aria-busy={growing}
      aria-label={`${NAMES[message.role]}, ${timeOf(message)}`}
    >
      <p className="byline" aria-hidden="true">
        <span>{NAMES[message.role]}</span> <time>{timeOf(message)}</time>
      </p>
      <Body message={message} siblings={siblings.split(' ')} {...run}>
        <StatusLine message={message} line={line} queued={queued} />
      </Body>
    </article>
  )
})
