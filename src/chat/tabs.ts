import type { Env } from '../lib/env.ts'
import { hold, type OnLead, type Place } from './place.ts'
import type { Channel, Platform } from './platform.ts'
import { createSeat, type Seat } from './seat.ts'

/** What one tab tells the others: something of this session was stored; who leads it? I do; its answer grew; it finds no seat. */
export interface TabMessage {
  type: 'stored' | 'ask' | 'here' | 'grew' | 'full'
  sessionId: string
  /** What it grew by, as `toldOf` says it. */
  told?: unknown
  /** It has led only since now: whoever looks on has to say so again. */
  anew?: boolean
}

/** The other tabs of the same database. */
export interface Tabs {
  /** Whether every tab leads, since nothing keeps them apart: then rows are claimed in storage before they are sent. */
  readonly apart: boolean
  /** Leads when no other tab does. The function it returns gives the place up. */
  lead(sessionId: string, onLead: OnLead): () => void
  /** A claim to one of the connections that last, of which there are few over all tabs. */
  seat(onFree: () => void): Seat
  /** Leads in the place of another tab, whether or not that one knows. */
  takeOver(sessionId: string): void
  post(message: TabMessage): void
  /** Hears and says nothing: a page that is told something while it is kept aside is kept no longer. */
  rest(): void
  /** Hears and speaks again. */
  wake(): void
  /** Tells what an answer grew by, where another tab looks on: a message that nobody hears costs as much as one that is heard. */
  grew(sessionId: string, told: () => unknown): void
  close(): void
}

export interface TabsOptions {
  platform: Platform
  env: Env
  /** What the tabs share; without it there are no others. */
  name: string | undefined
  /** Whether a tab that nothing is heard of is passed over. Not where it runs something that would be run twice. */
  steals: boolean
  /** Nothing is heard of the tab that leads a session, and it is not passed over; or something is again. */
  onSilent(sessionId: string, isSilent: boolean): void
  /** Something was stored. */
  onStored(sessionId: string): void
  /** An answer grew, which is not stored yet. */
  onGrown(sessionId: string, told: unknown): void
  /** Somebody looks at a session that finds no seat. */
  onFull(): void
}

const TYPES: readonly unknown[] = ['stored', 'ask', 'here', 'grew', 'full']

const isTabMessage = (value: unknown): value is TabMessage =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  TYPES.includes(value.type) &&
  'sessionId' in value &&
  typeof value.sessionId === 'string'

/** Leads without asking anybody. */
function alone(onLead: OnLead): () => void {
  const leading = new AbortController()
  onLead(leading.signal)
  return () => leading.abort()
}

/** Milliseconds within which a leading tab answers, unless it is frozen. */
const BEAT = 5_000

/** What is known of those who lead instead of this tab. */
interface Watch {
  readonly places: ReadonlyMap<string, Place>
  /** Sessions whose leader was asked for a sign of life and has not given one. */
  readonly silent: Set<string>
  post(message: TabMessage): void
}

/** What another tab says. */
function hear(data: unknown, options: TabsOptions, { places, silent, post }: Watch): void {
  const { onStored, onGrown, onSilent, onFull } = options
  if (!isTabMessage(data)) return
  const { type, sessionId, told, anew } = data
  const place = places.get(sessionId)
  if (type === 'stored') onStored(sessionId)
  else if (type === 'grew') onGrown(sessionId, told)
  else if (type === 'full') onFull()
  else if (type === 'here') {
    silent.delete(sessionId)
    onSilent(sessionId, false)
    if (anew && place && !place.leads()) post({ type: 'ask', sessionId })
  } else if (place?.leads()) {
    place.shared = true
    post({ type: 'here', sessionId })
  }
}

/** Asks for signs of life until this tab leads everything itself, and takes over what nobody is heard of, while somebody looks. */
async function watch(
  { platform: { document }, env, steals, onSilent }: TabsOptions,
  { places, silent, post }: Watch,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    silent.clear()
    for (const [sessionId, { leads }] of places)
      if (!leads()) {
        silent.add(sessionId)
        post({ type: 'ask', sessionId })
      }
    if (silent.size === 0) return
    const asked = env.now()
    await env.sleep(BEAT, signal).catch(() => undefined)
    if (signal.aborted) return
    // A page that slept itself has heard nobody.
    const isAwake = env.now() - asked < 2 * BEAT && document?.visibilityState !== 'hidden'
    for (const sessionId of isAwake ? silent : []) {
      const place = places.get(sessionId)
      if (!place || place.leads()) continue
      if (steals) place.steal()
      else onSilent(sessionId, true)
    }
  }
}

/** The channel between tabs, which can be closed and opened again. */
function createLine(open: () => Channel | '' | undefined, onMessage: (data: unknown) => void) {
  let channel: Channel | undefined
  return {
    // What is stored while it is closed, the next tab to lead reads anyway.
    post: (message: TabMessage) => channel?.postMessage(message),
    wake() {
      channel ??= open() || undefined
      if (channel) channel.onmessage = ({ data }) => onMessage(data)
      return !!channel
    },
    rest() {
      channel?.close()
      channel = undefined
    },
  }
}

const growsIn =
  (places: Watch['places'], post: Watch['post']): Tabs['grew'] =>
  (sessionId, told) => {
    if (places.get(sessionId)?.shared) post({ type: 'grew', sessionId, told: told() })
  }

/**
 * Tabs over Web Locks and BroadcastChannel. Without a name or channels a tab works alone; with channels and without locks
 * every tab leads.
 * @see https://w3c.github.io/web-locks/
 */
export function createTabs(options: TabsOptions): Tabs {
  const { platform, name } = options
  const { navigator, BroadcastChannel } = platform
  const [places, silent] = [new Map<string, Place>(), new Set<string>()]
  const ended = new AbortController()
  let watching = false
  const open = () => name && BroadcastChannel && new BroadcastChannel(`tidemark:${name}`)
  const line = createLine(open, (data) => hear(data, options, { places, silent, post: line.post }))
  const { post, rest, wake } = line
  const isAlone = !wake()
  const locks = isAlone ? undefined : navigator?.locks
  const look = async () => {
    if (watching) return
    watching = true
    await watch(options, { places, silent, post }, ended.signal)
    watching = false
  }

  const lead = (sessionId: string, onLead: OnLead) => {
    if (!locks) return alone(onLead)
    const begin = (lost: AbortSignal) => {
      // Who asked before heard nothing.
      post({ type: 'here', sessionId, anew: true })
      onLead(lost)
    }
    const place = hold(locks, `tidemark:${name}:${sessionId}`, begin, () => void look())
    places.set(sessionId, place)
    post({ type: 'ask', sessionId })
    void look()
    return () => {
      places.delete(sessionId)
      place.give()
    }
  }
  return {
    apart: !isAlone && !locks,
    lead,
    seat: (onFree) => createSeat(locks, `${name}`, onFree),
    takeOver: (sessionId) => places.get(sessionId)?.steal(),
    post,
    rest,
    wake,
    grew: growsIn(places, post),
    close() {
      ended.abort()
      for (const place of places.values()) place.give()
      rest()
    },
  }
}
