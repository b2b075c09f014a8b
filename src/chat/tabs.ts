import type { Env } from '../lib/env.ts'
import type { Platform } from './platform.ts'

/** What one tab tells the others: something of this session was stored; who leads it? I do. */
export interface TabMessage {
  type: 'stored' | 'ask' | 'here'
  sessionId: string
}

/** Called when no other tab writes a session any more. The signal ends that: by giving it up, or since another took it over. */
type OnLead = (lost: AbortSignal) => void

/** The other tabs of the same database. */
export interface Tabs {
  /** Whether every tab leads, since nothing keeps them apart: then rows are claimed in storage before they are sent. */
  readonly apart: boolean
  /** Leads when no other tab does. The function it returns gives the place up. */
  lead(sessionId: string, onLead: OnLead): () => void
  post(message: TabMessage): void
  close(): void
}

export interface TabsOptions {
  platform: Platform
  env: Env
  /** What the tabs share; without it there are no others. */
  name: string | undefined
  /** Whether a tab that nothing is heard of may be passed over. Not where it runs something that would be run twice. */
  steals: boolean
  /** Something was stored. */
  onStored(sessionId: string): void
}

const TYPES: readonly unknown[] = ['stored', 'ask', 'here']

const isTabMessage = (value: unknown): value is TabMessage =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  TYPES.includes(value.type) &&
  'sessionId' in value &&
  typeof value.sessionId === 'string'

type Locks = NonNullable<NonNullable<Platform['navigator']>['locks']>

interface Place {
  leads(): boolean
  /** Takes the place, whoever has it. */
  steal(): void
  give(): void
}

/** Holds a lock as soon and as long as it can. Where locks are refused (in an opaque origin, say), the tab works as if it were alone. */
function hold(locks: Locks, name: string, onLead: OnLead, onLost: () => void): Place {
  let given = false
  let leading: AbortController | undefined
  let release = () => {}
  const begin = () => {
    leading = new AbortController()
    onLead(leading.signal)
  }
  const ask = (steal: boolean): void => {
    const waiting = new AbortController()
    const { signal } = waiting
    release = () => waiting.abort()
    const held = () =>
      new Promise<void>((resolve) => {
        if (given || signal.aborted) return resolve()
        release = resolve
        begin()
      })
    const request = async () => locks.request(name, steal ? { steal } : { signal }, held)
    request().catch((thrown: unknown) => {
      // Given up while waiting: there is nothing to release.
      if (given || signal.aborted) return
      waiting.abort()
      const isStolen = thrown instanceof DOMException && thrown.name === 'AbortError'
      if (!isStolen) return begin()
      leading?.abort()
      leading = undefined
      ask(false)
      onLost()
    })
  }
  ask(false)
  return {
    leads: () => !!leading,
    steal() {
      release()
      ask(true)
    },
    give() {
      given = true
      leading?.abort()
      release()
    },
  }
}

/** Milliseconds within which a leading tab answers, unless it is frozen. */
const BEAT = 5_000

/**
 * Tabs over Web Locks and BroadcastChannel. Without a name or channels a tab works alone; with channels and without locks
 * every tab leads.
 * @see https://w3c.github.io/web-locks/
 */
export function createTabs({ platform, env, name, steals, onStored }: TabsOptions): Tabs {
  const { navigator, document, BroadcastChannel } = platform
  const channel = name && BroadcastChannel ? new BroadcastChannel(`tidemark:${name}`) : undefined
  const locks = channel && navigator?.locks
  const places = new Map<string, Place>()
  const silent = new Set<string>()
  const ended = new AbortController()
  const { signal } = ended
  let watching = false

  const post = (message: TabMessage) => {
    // What is stored while the chat closes, the next tab to lead reads anyway.
    if (!signal.aborted) channel?.postMessage(message)
  }
  if (channel)
    channel.onmessage = ({ data }) => {
      if (!isTabMessage(data)) return
      const { type, sessionId } = data
      if (type === 'stored') onStored(sessionId)
      else if (type === 'here') silent.delete(sessionId)
      else if (places.get(sessionId)?.leads()) post({ type: 'here', sessionId })
    }

  /** Asks for signs of life of those who lead, while somebody looks at this page. */
  async function watch(): Promise<void> {
    if (watching || !steals) return
    watching = true
    for (;;) {
      silent.clear()
      for (const [sessionId, { leads }] of places)
        if (!leads()) {
          silent.add(sessionId)
          post({ type: 'ask', sessionId })
        }
      if (silent.size === 0) break
      const asked = env.now()
      await env.sleep(BEAT, signal).catch(() => undefined)
      if (signal.aborted) return
      // A page that slept itself has heard nobody.
      const isAwake = env.now() - asked < 2 * BEAT && document?.visibilityState !== 'hidden'
      if (isAwake)
        for (const sessionId of silent) {
          const place = places.get(sessionId)
          if (!place?.leads()) place?.steal()
        }
    }
    watching = false
  }

  return {
    apart: !!channel && !locks,
    lead(sessionId, onLead) {
      if (!locks) {
        const own = new AbortController()
        onLead(own.signal)
        return () => own.abort()
      }
      const begin = (lost: AbortSignal) => {
        // Who asked before heard nothing.
        post({ type: 'here', sessionId })
        onLead(lost)
      }
      const place = hold(locks, `tidemark:${name}:${sessionId}`, begin, () => void watch())
      places.set(sessionId, place)
      void watch()
      return () => {
        places.delete(sessionId)
        place.give()
      }
    },
    post,
    close() {
      ended.abort()
      for (const place of places.values()) place.give()
      channel?.close()
    },
  }
}
