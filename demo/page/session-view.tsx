import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import type { Chat, ChatSession, Connection, SendOptions } from 'tidemark'
import { useSession } from 'tidemark/react'
import { useAttempt } from './attempt.tsx'
import { Composer } from './composer.tsx'
import { Banners, ConnectionState, useLine } from './connection.tsx'
import { AskedElsewhere, Stalled, WaitingElsewhere } from './elsewhere.tsx'
import { useFocusOn } from './focus.tsx'
import { Icon } from './icon.tsx'
import { isFreeEscape } from './keys.ts'
import { ConversationContext } from './message/conversation.ts'
import { titleFrom, titleOf } from './title.ts'
import { Transcript } from './transcript.tsx'

const Inspector = lazy(async () => ({ default: (await import('./inspector/inspector.tsx')).Inspector }))

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
function useActions(session: ChatSession, onSent: (id: string) => void) {
  const attempt = useAttempt()
  const focusOn = useFocusOn()
  return useMemo(
    () => ({
      stop: async () => {
        await attempt(() => session.stop())
        focusOn(`composer:${session.id}`)
      },
      send: (text: string, options: SendOptions = {}) =>
        attempt(async () => {
          const untitled = !session.get().session?.title
          const sent = await session.send(text, options)
          onSent(sent.id)
          // A message that fails says so itself, in the list.
          sent.answer.catch(() => {})
          if (untitled) await session.rename(titleFrom(text))
        }),
    }),
    [attempt, focusOn, onSent, session],
  )
}

interface BarProps extends Pick<Props, 'openDrawer'> {
  title: string
  line: Connection
  inspecting: boolean
  inspect: () => void
}

function Bar({ title, line, openDrawer, inspecting, inspect }: BarProps) {
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
      <button
        type="button"
        className="quiet"
        aria-label="What the model sees"
        aria-expanded={inspecting}
        title="What the model sees"
        data-focus="inspect"
        onClick={inspect}
      >
        <Icon name="eye" />
      </button>
    </header>
  )
}

/** Whether the inspector is open; the focus goes into it, and back to its button. */
function useInspecting() {
  const [inspecting, setInspecting] = useState(false)
  const focusOn = useFocusOn()
  const toggle = useCallback(() => {
    setInspecting(!inspecting)
    focusOn(inspecting ? 'inspect' : 'inspector')
  }, [inspecting, focusOn])
  return { inspecting, toggle }
}

/** One conversation: its name, what was said, and where one writes. */
export function SessionView({ chat, session, standIn, openDrawer }: Props) {
  const snapshot = useSession(session)
  const line = useLine(snapshot.connection)
  const conversation = useMemo(() => ({ chat, session }), [chat, session])
  const [sent, setSent] = useState<string>()
  const actions = useActions(session, setSent)
  const running = snapshot.status === 'running'
  const { inspecting, toggle } = useInspecting()
  useEscapeStops(running, actions.stop)
  const title = titleOf(snapshot.session)
  useEffect(() => {
    document.title = `${title} · tidemark`
  }, [title])
  return (
    <ConversationContext value={conversation}>
      <Bar title={title} line={line} openDrawer={openDrawer} inspecting={inspecting} inspect={toggle} />
      <Banners chat={chat} line={line} error={snapshot.error}>
        <WaitingElsewhere {...snapshot} />
        <Stalled {...snapshot} />
        <AskedElsewhere {...snapshot} />
      </Banners>
      <div className="talk">
        <div className="said">
          <Transcript key={session.id} {...{ snapshot, line, standIn, sent }} ask={actions.send} />
          <Composer key={`${session.id}/composer`} sessionId={session.id} running={running} {...actions} />
        </div>
        {inspecting ? (
          <Suspense>
            <Inspector key={session.id} session={session} snapshot={snapshot} close={toggle} />
          </Suspense>
        ) : null}
      </div>
    </ConversationContext>
  )
}
