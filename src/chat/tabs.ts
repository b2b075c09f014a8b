import type { Platform } from './platform.ts'

/** What one tab tells the others: something of this session was stored. */
export interface TabMessage {
  type: 'stored'
  sessionId: string
}

/** The other tabs of the same database. */
export interface Tabs {
  /** Calls `onLead` when no other tab writes this session any more. The function it returns gives the place up. */
  lead(sessionId: string, onLead: () => void): () => void
  post(message: TabMessage): void
  close(): void
}

const alone: Tabs = {
  lead(_, onLead) {
    onLead()
    return () => {}
  },
  post() {},
  close() {},
}

const isTabMessage = (value: unknown): value is TabMessage =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  value.type === 'stored' &&
  'sessionId' in value &&
  typeof value.sessionId === 'string'

type Locks = NonNullable<NonNullable<Platform['navigator']>['locks']>

/** Holds a lock until it is given up. Where locks are refused (in an opaque origin, say), the tab works as if it were alone. */
function hold(locks: Locks, name: string, onHeld: () => void): () => void {
  const waiting = new AbortController()
  let release = () => waiting.abort()
  const held = () =>
    new Promise<void>((resolve) => {
      release = resolve
      onHeld()
    })
  const request = async () => locks.request(name, { signal: waiting.signal }, held)
  request().catch(() => {
    // Given up while waiting: there is nothing to release.
    if (!waiting.signal.aborted) onHeld()
  })
  return () => release()
}

/**
 * Tabs over Web Locks and BroadcastChannel. Without these APIs, or without a name to share, a tab works alone.
 * @see https://w3c.github.io/web-locks/
 */
export function createTabs(
  { navigator, BroadcastChannel }: Platform,
  name: string | undefined,
  onMessage: (message: TabMessage) => void,
): Tabs {
  const locks = navigator?.locks
  if (!name || !locks || !BroadcastChannel) return alone
  const channel = new BroadcastChannel(`tidemark:${name}`)
  const held = new Set<() => void>()
  let closed = false
  channel.onmessage = ({ data }) => {
    if (isTabMessage(data)) onMessage(data)
  }
  return {
    lead(sessionId, onLead) {
      const release = hold(locks, `tidemark:${name}:${sessionId}`, onLead)
      const give = () => {
        held.delete(give)
        release()
      }
      held.add(give)
      return give
    },
    post(message) {
      // What is stored while the chat closes, the next tab to lead reads anyway.
      if (!closed) channel.postMessage(message)
    },
    close() {
      closed = true
      for (const give of [...held]) give()
      channel.close()
    },
  }
}
