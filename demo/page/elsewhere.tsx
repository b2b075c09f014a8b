import type { SessionSnapshot } from 'tidemark'
import { useAttempt } from './attempt.tsx'
import { useFocusOn } from './focus.tsx'
import { useConversation } from './message/conversation.ts'
import { hashFor } from './route.ts'
import { parentOf } from './title.ts'

/** A call that waits on a branch that is not shown: said, with the way there. Nothing else would say why nothing goes on. */
export function WaitingElsewhere({ waiting, messages }: Pick<SessionSnapshot, 'waiting' | 'messages'>) {
  const { session } = useConversation()
  const attempt = useAttempt()
  const focusOn = useFocusOn()
  const shown = new Set(messages.map(({ id }) => id))
  const hidden = waiting.find(({ id }) => !shown.has(id))
  if (!hidden) return null
  const show = async () => {
    if (await attempt(() => session.selectBranch(hidden.id))) focusOn(`approval:${hidden.id}`)
  }
  return (
    <p className="banner" data-kind="waiting">
      In another version of this conversation an answer waits: may it use <code>{hidden.toolName}</code>?{' '}
      <button type="button" className="word" onClick={show}>
        Show it
      </button>
    </p>
  )
}

/** A run that was asked for in another session: said, with the way there. */
export function AskedElsewhere({ session }: Pick<SessionSnapshot, 'session'>) {
  const parent = parentOf(session)
  if (parent === undefined) return null
  return (
    <p className="banner" data-kind="parent">
      Another conversation had this looked into. <a href={hashFor(parent)}>Back to it</a>
    </p>
  )
}

/** The answer is written in another tab, which is frozen: said, with what can be done about it. */
export function Stalled({ status }: Pick<SessionSnapshot, 'status'>) {
  const { session } = useConversation()
  const attempt = useAttempt()
  const focusOn = useFocusOn()
  if (status !== 'stalled') return null
  const takeOver = async () => {
    if (await attempt(() => session.takeOver())) focusOn(`composer:${session.id}`)
  }
  return (
    <p className="banner" data-kind="waiting">
      Another tab writes this answer, and nothing is heard of it.{' '}
      <button type="button" className="word" onClick={takeOver}>
        Go on here
      </button>
    </p>
  )
}
