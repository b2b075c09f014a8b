import { useState } from 'react'
import type { Chat, Session } from 'tidemark'
import { useStore } from 'tidemark/react'
import { useAttempt } from './attempt.tsx'
import { ConfirmDelete } from './confirm-delete.tsx'
import { useFocusOn } from './focus.tsx'
import { hashOf, type RuntimeName } from './route.ts'
import { SessionItem } from './session-item.tsx'
import { parentOf, titleOf } from './title.ts'

interface ListProps {
  chat: Chat
  runtime: RuntimeName
  currentId: string
  /** Called after the current session is deleted, with the one to show instead. */
  replace: (sessionId: string | undefined) => void
  chosen: () => void
}

/** All sessions of a chat, newest first. */
export function SessionList({ chat, runtime, currentId, replace, chosen }: ListProps) {
  const sessions = useStore(chat.sessions)
  const attempt = useAttempt()
  const focusOn = useFocusOn()
  const [doomed, setDoomed] = useState<Session>()
  // A run of its own belongs to the session where it was asked for, which shows the way to it.
  const shown = sessions.filter((session) => !parentOf(session) || session.id === currentId)
  const remove = async (session: Session) => {
    setDoomed(undefined)
    // What belongs to it goes first: left alone, it would be listed nowhere.
    const doomed = [...sessions.filter((other) => parentOf(other) === session.id), session]
    let done = true
    for (const { id } of doomed) done = done && (await attempt(() => chat.session(id).delete()))
    if (done && session.id === currentId) replace(shown.find((other) => other.id !== session.id)?.id)
    focusOn(done ? 'new' : `delete:${session.id}`)
  }
  return (
    <>
      <ul className="sessions">
        {shown.map((session) => (
          <SessionItem
            key={session.id}
            session={session}
            href={hashOf({ runtime, sessionId: session.id })}
            current={session.id === currentId}
            rename={(title) => attempt(() => chat.session(session.id).rename(title))}
            remove={() => setDoomed(session)}
            chosen={chosen}
          />
        ))}
      </ul>
      {doomed ? (
        <ConfirmDelete
          title={titleOf(doomed)}
          runtime={runtime}
          confirm={() => remove(doomed)}
          cancel={() => setDoomed(undefined)}
        />
      ) : null}
    </>
  )
}
