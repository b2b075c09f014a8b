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

/**
 * Tabs over Web Locks and BroadcastChannel. Without these APIs, or without a name to share, a tab works alone.
 * @see https://w3c.github.io/web-locks/
 */
export function createTabs(name: string | undefined, onMessage: (message: TabMessage) => void): Tabs {
  const locks = globalThis.navigator?.locks
  if (!name || !locks || !globalThis.BroadcastChannel) return alone
  const channel = new BroadcastChannel(`tidemark:${name}`)
  const held = new Set<() => void>()
  channel.onmessage = ({ data }) => {
    if (isTabMessage(data)) onMessage(data)
  }
  return {
    lead(sessionId, onLead) {
      const waiting = new AbortController()
      let release = () => waiting.abort()
      const give = () => {
        held.delete(give)
        release()
      }
      held.add(give)
      const hold = () =>
        new Promise<void>((resolve) => {
          release = resolve
          onLead()
        })
      locks.request(`tidemark:${name}:${sessionId}`, { signal: waiting.signal }, hold).catch(() => {
        // Given up while waiting: there is nothing to release.
      })
      return give
    },
    post: (message) => channel.postMessage(message),
    close() {
      for (const give of [...held]) give()
      channel.close()
    },
  }
}
