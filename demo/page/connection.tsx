import { type ReactNode, useEffect, useState } from 'react'
import type { Chat, Connection, ErrorData } from 'tidemark'
import { useStore } from 'tidemark/react'

const LINES: Readonly<Record<Connection, string>> = {
  idle: 'Ready',
  connecting: 'Connecting',
  online: 'Connected',
  reconnecting: 'Reconnecting',
  offline: 'Offline',
}

/** The state of the line, in a word. */
export function ConnectionState({ line }: { line: Connection }) {
  return (
    <p className="line" data-line={line} role="status" aria-label="Connection">
      <span className="lamp" aria-hidden="true" />
      {LINES[line]}
    </p>
  )
}

/** The state of the line as the user should see it: a browser that has no network outranks every attempt to reconnect. */
export function useLine(connection: Connection): Connection {
  return useBrowserOffline() ? 'offline' : connection
}

function useBrowserOffline(): boolean {
  const [offline, setOffline] = useState(() => !navigator.onLine)
  useEffect(() => {
    const look = () => setOffline(!navigator.onLine)
    window.addEventListener('online', look)
    window.addEventListener('offline', look)
    return () => {
      window.removeEventListener('online', look)
      window.removeEventListener('offline', look)
    }
  }, [])
  return offline
}

/** What the user must know about the line and the disk; nothing while all is well. */
export function Banners({
  chat,
  line,
  error,
  children,
}: {
  chat: Chat
  line: Connection
  error: ErrorData | undefined
  children?: ReactNode
}) {
  const health = useStore(chat.health)
  const kept = health.storage === 'disk'
  return (
    <div className="banners" aria-live="polite">
      {line === 'offline' ? (
        <p className="banner" data-kind="offline">
          You are offline. What you write is kept{kept ? '' : ' while this page is open'} and sent once you
          are back.
          {health.outbox > 0 ? <strong> Something waits to be sent.</strong> : null}
        </p>
      ) : null}
      {error ? (
        <p className="banner" data-kind="error">
          {/* The rest of the sentence is the server's, or the library's. */}
          This session cannot be followed: {error.message}.
        </p>
      ) : null}
      {kept ? null : (
        <p className="banner" data-kind="storage">
          {health.storage === 'failed'
            ? 'The browser’s storage has failed.'
            : 'The browser gives this page no storage.'}{' '}
          Everything works, but what is said here is lost on this device when the page is closed.
        </p>
      )}
      {health.quarantined > 0 ? (
        <p className="banner" data-kind="storage">
          {health.quarantined} stored or received {health.quarantined === 1 ? 'piece' : 'pieces'} could not be
          read and
          {health.quarantined === 1 ? ' was' : ' were'} set aside.
        </p>
      ) : null}
      {children}
    </div>
  )
}
