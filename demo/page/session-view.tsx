import { useEffect, useMemo } from 'react'
import type { Chat, ChatSession, Connection } from 'tidemark'
import { useSession } from 'tidemark/react'
import { useAttempt } from './attempt.tsx'
import { Composer } from './composer.tsx'
import { Banners, ConnectionState, useLine } from './connection.tsx'
import { useFocusOn } from './focus.tsx'
import { Icon } from './icon.tsx'
import { isFreeEscape } from './keys.ts'
import { ConversationContext } from './message/conversation.ts'
import { titleFrom, titleOf } from './title.ts'
import { Transcript } from './transcript.tsx'

interface Props {
  chat: Chat
  session: ChatSession
  /** The local stand-in answers. */
  standIn: boolean
  /** The drawer with the sessions is shut, and there is a button for it. */
  openDrawer: (() => void) | undefined
}

/** Escape stops the answer, wherever the focus is; unless something nearer has a use for it. */
function useEscapeStops(running: boolean, stop: () => void): void {
  useEffect(() => {
    if (!running) return
    const onKey = (event: KeyboardEvent) => {
      // In an open drawer, Escape shuts the drawer.
      if (isFreeEscape(event) && !document.querySelector('.sidebar[data-open="true"]')) stop()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [running, stop])
}

/** What one does with a session while looking at it. A failure is shown, and the answer is false. */
function useActions(session: ChatSession) {
  const attempt = useAttempt()
  const focusOn = useFocusOn()
  return useMemo(
    () => ({
      stop: async () => {
        await attempt(() => session.stop())
        focusOn(`composer:${session.id}`)
      },
      send: (text: string) =>
        attempt(async () => {
          const untitled = !session.get().session?.title
          const sent = await session.send(text)
          // A message that fails says so itself, in the list.
          sent.answer.catch(() => {})
          if (untitled) await session.rename(titleFrom(text))
        }),
    }),
    [attempt, focusOn, session],
  )
}

function Bar({ title, line, openDrawer }: { title: string; line: Connection } & Pick<Props, 'openDrawer'>) {
  return (
    <header className="bar">
      {openDrawer ? (
        <button
          type="button"
          className="quiet"
          aria-label="Sessions"
          data-focus="drawer"
          onClick={openDrawer}
        >
          <Icon name="menu" />
        </button>
      ) : null}
      <h1>{title}</h1>
      <ConnectionState line={line} />
    </header>
  )
}

/** One conversation: its name, what was said, and where one writes. */
export function SessionView({ chat, session, standIn, openDrawer }: Props) {
  const snapshot = useSession(session)
  const line = useLine(snapshot.connection)
  const conversation = useMemo(() => ({ chat, session }), [chat, session])
  const actions = useActions(session)
  const running = snapshot.status === 'running'
  useEscapeStops(running, actions.stop)
  const title = titleOf(snapshot.session)
  useEffect(() => {
    document.title = `${title} · tidemark`
  }, [title])
  return (
    <ConversationContext value={conversation}>
      <Bar title={title} line={line} openDrawer={openDrawer} />
      <Banners chat={chat} line={line} error={snapshot.error} />
      <Transcript key={session.id} snapshot={snapshot} line={line} standIn={standIn} ask={actions.send} />
      <Composer key={`${session.id}/composer`} sessionId={session.id} running={running} {...actions} />
    </ConversationContext>
  )
}
