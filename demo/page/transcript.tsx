import { Fragment, useEffect, useState } from 'react'
import { type Connection, isSettled, keyOf, type Message, type SessionSnapshot } from 'tidemark'
import { useStore } from 'tidemark/react'
import { useAttempt } from './attempt.tsx'
import { Icon } from './icon.tsx'
import { useConversation } from './message/conversation.ts'
import { Row } from './message/row.tsx'
import { Unanswered } from './message/status-line.tsx'
import { useFollowedScroll } from './scroll.ts'
import { TidemarkLine } from './tidemark-line.tsx'
import { Welcome } from './welcome.tsx'

function LoadOlder() {
  const { session } = useConversation()
  const attempt = useAttempt()
  const [busy, setBusy] = useState(false)
  const load = async () => {
    setBusy(true)
    await attempt(() => session.loadOlder())
    setBusy(false)
  }
  return (
    <button type="button" className="older word" aria-disabled={busy} onClick={busy ? undefined : load}>
      {busy ? 'Loading…' : 'Load earlier messages'}
    </button>
  )
}

/**
 * The place of the last message at or above the tidemark, or -1. The mark lies in the order of the whole session: where
 * its message is on another branch, it shows at the one before it on this.
 */
function settledUpTo(messages: readonly Message[], mark: Message | undefined): number {
  return messages.findLastIndex(
    ({ id, seq }) => id === mark?.id || (seq !== undefined && mark?.seq !== undefined && seq <= mark.seq),
  )
}

interface RowsProps {
  snapshot: SessionSnapshot
  line: Connection
  messages: readonly Message[]
}

function Rows({ snapshot, line, messages }: RowsProps) {
  const { session } = useConversation()
  const mark = settledUpTo(messages, snapshot.tidemark ? session.message(snapshot.tidemark).get() : undefined)
  // Versions of a message share one row: whoever goes from one to another keeps the focus on the arrow, even where the
  // branch goes to and fro before it settles.
  const rowOf = (message: Message) => {
    const [oldest = message.id] = session.branches(message.id)
    return keyOf(session.message(oldest).get() ?? message)
  }
  // A server takes what waits at once; here it waits on the page.
  const open = messages.findIndex(({ role, status }) => role !== 'user' && !isSettled({ status }))
  return messages.map((message, index) => (
    <Fragment key={rowOf(message)}>
      <Row
        id={message.id}
        siblings={session.branches(message.id).join(' ')}
        settled={index <= mark}
        busy={snapshot.status === 'running'}
        still={snapshot.status !== 'running' || snapshot.waiting.length > 0}
        queued={open >= 0 && index > open}
        line={line}
      />
      {index === mark ? <TidemarkLine last={index === messages.length - 1} /> : null}
    </Fragment>
  ))
}

/** Whether nothing was said yet: nothing stored, and nothing that the server may still send. */
function useIsEmpty({ id, messages, status, connection }: SessionSnapshot): boolean {
  const { chat } = useConversation()
  const known = useStore(chat.sessions).some((session) => session.id === id)
  return messages.length === 0 && status !== 'loading' && !(known && connection === 'connecting')
}

/** Whether the branch ends with what a tool gave back, and nobody goes on with it. */
const hasNoAnswer = ({ messages, status, connection }: SessionSnapshot): boolean =>
  status === 'ready' && connection !== 'connecting' && messages.at(-1)?.role === 'tool'

interface TranscriptProps {
  snapshot: SessionSnapshot
  line: Connection
  standIn: boolean
  ask: (text: string) => void
  /** What was sent last on this page. */
  sent: string | undefined
}

/** The conversation: what was said, oldest first, with the newest in view. */
export function Transcript({ snapshot, line, standIn, ask, sent }: TranscriptProps) {
  const { messages } = snapshot
  const empty = useIsEmpty(snapshot)
  const oldest = messages[0]
  const { scroller, content, atEnd, toEnd } = useFollowedScroll(oldest && keyOf(oldest))
  // Who sends wants to see what they sent, wherever they were reading.
  useEffect(() => {
    if (sent) toEnd()
  }, [sent, toEnd])
  return (
    <div className="stage">
      <div className="scroller" ref={scroller}>
        <div className="column" ref={content}>
          {snapshot.hasOlder ? <LoadOlder /> : null}
          <div role="log" aria-label="Conversation" aria-live="off" aria-busy={snapshot.status !== 'ready'}>
            <Rows snapshot={snapshot} line={line} messages={messages} />
            {hasNoAnswer(snapshot) ? <Unanswered id={messages.at(-1)?.id ?? ''} /> : null}
          </div>
          {empty ? <Welcome standIn={standIn} ask={ask} /> : null}
        </div>
      </div>
      {atEnd ? null : (
        <button type="button" className="jump" onClick={toEnd}>
          <Icon name="down" /> Newest
        </button>
      )}
    </div>
  )
}
