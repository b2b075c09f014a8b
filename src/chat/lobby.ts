import type { Cell } from '../lib/cell.ts'
import type { Env } from '../lib/env.ts'
import type { ErrorData } from '../lib/error-data.ts'
import { errorData } from '../lib/errors.ts'
import type { Session } from '../message/schema.ts'
import type { Persist } from './persist.ts'
import type { Platform } from './platform.ts'
import type { ChatStorage } from './ports.ts'
import type { Room } from './room.ts'
import type { Runtime, RuntimeHost } from './runtime-port.ts'
import { SEATS, type Seat } from './seat.ts'
import type { Tabs } from './tabs.ts'
import { tell } from './tell.ts'
import type { Connection, Health } from './types.ts'

/** What the rooms of one chat share. */
export interface Lobby {
  readonly runtime: Runtime
  readonly storage: ChatStorage
  readonly account: string
  readonly env: Env
  readonly platform: Platform
  readonly rooms: Map<string, Room>
  /** How often a session was asked for. */
  uses: number
  /** Every session that is listed. */
  readonly listed: Map<string, Session>
  /** Where the list goes on: behind that stored session, and behind that one of the server. */
  readonly ends: { stored?: Session | undefined; told?: string | undefined }
  /** Which sessions the server has listed last. */
  told?: ReadonlySet<string>
  readonly sessions: Cell<readonly Session[]>
  readonly health: Cell<Health>
  readonly persist: Persist
  readonly tabs: Tabs
  readonly ended: AbortController
  /** Sessions that are read again because another tab wrote, and whether it wrote once more meanwhile. */
  readonly refreshing: Map<string, boolean>
  /** Stored rows that could not be read. */
  readonly unreadable: Set<string>
  closed: boolean
  askedToPersist: boolean
  /** Names this tab where rows are claimed. */
  readonly token: string
}

export function moveHealth(lobby: Lobby, fields: Partial<Health>): void {
  const now = lobby.health.get()
  const changed = Object.entries(fields).some(([key, value]) => now[key as keyof Health] !== value)
  if (changed) tell(() => lobby.health.set({ ...now, ...fields }))
}

/**
 * Something went wrong that nobody waits for.
 * @param unread events or rows that were lost by it
 */
export function problem(lobby: Lobby, error: ErrorData, unread = 0): void {
  moveHealth(lobby, { lastError: error, quarantined: lobby.health.get().quarantined + unread })
}

/** The storage refuses. Told once; whether it works again, its next success says. */
export function storageFailed(lobby: Lobby, thrown: unknown): void {
  if (lobby.health.get().storage === 'failed') return
  moveHealth(lobby, { storage: 'failed', lastError: errorData(thrown, 'storage') })
}

export const storageWorks = (lobby: Lobby): void =>
  moveHealth(lobby, { storage: lobby.storage.durable ? 'disk' : 'memory' })

/** What a runtime keeps here: it goes on without, and what went wrong is told all the same. */
export function recordsOf(lobby: Lobby): RuntimeHost['storage'] {
  const tell = (thrown: unknown): never => {
    const error = errorData(thrown, 'storage')
    // That somebody else was faster is no failure.
    if (error.code !== 'conflict' && lobby.health.get().storage !== 'failed') problem(lobby, error)
    throw thrown
  }
  const { storage } = lobby
  return {
    records: (...asked) => storage.records(...asked).catch(tell),
    commit: (...given) => storage.commit(...given).catch(tell),
  }
}

/** What is said of the line as a whole, of what is said of its sessions: the first that applies. */
const LINES: readonly Connection[] = ['offline', 'reconnecting', 'connecting', 'online', 'idle']

/** Counts what waits, and looks at every session's line. */
export function moveTotals(lobby: Lobby): void {
  const cores = [...lobby.rooms.values()].map(({ core }) => core)
  let outbox = 0
  for (const core of cores) outbox += core.outbox.size
  const connection = LINES.find((line) => cores.some(({ fields }) => fields.connection === line)) ?? 'idle'
  moveHealth(lobby, { outbox, connection })
}

const newestFirst = (a: Session, b: Session) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1)

/** Puts sessions in the list, or takes them out. The row of an open session is the newer word. */
export function showSessions(lobby: Lobby, sessions: readonly Session[], gone: readonly string[] = []): void {
  for (const session of sessions) {
    const room = lobby.rooms.get(session.id)
    if (!room?.core.state.deleted) lobby.listed.set(session.id, room?.core.state.session ?? session)
  }
  for (const id of gone) lobby.listed.delete(id)
  const list = [...lobby.listed.values()].sort(newestFirst)
  const shown = lobby.sessions.get()
  if (list.length !== shown.length || list.some((session, at) => session !== shown[at]))
    tell(() => lobby.sessions.set(list))
}

/** Open sessions, those first that were asked for last. */
export const byUse = ({ rooms }: Lobby): Room[] => [...rooms.values()].sort((a, b) => b.used - a.used)

/** Whether a session may hold a connection of its own: those that were asked for last do. */
const mayFollow = (lobby: Lobby, room: Room): boolean => byUse(lobby).slice(0, SEATS).includes(room)

/** Rooms that nobody looks at: of a page that is seen, all but the one that was asked for last. */
const unseen = (lobby: Lobby): Room[] =>
  byUse(lobby).slice(lobby.platform.document?.visibilityState === 'hidden' ? 0 : 1)

/** Milliseconds after which one of the open sessions without a connection is looked at: each in its turn. */
const LOOK = 30_000

/** How long a session without a connection waits for its turn. */
export const turnOf = ({ rooms }: Lobby): number => rooms.size * LOOK

/** Somebody looks at a session that has no seat: what nobody looks at goes to the end of the line. */
export function makeRoom(lobby: Lobby): void {
  for (const { sync } of unseen(lobby)) sync?.yieldSeat()
}

/** Whether a session may hold a connection now. */
export async function isSeated(lobby: Lobby, room: Room, seat: Seat): Promise<boolean> {
  if (!mayFollow(lobby, room)) {
    seat.give()
    return false
  }
  if (await seat.take()) return true
  if (!unseen(lobby).includes(room)) {
    makeRoom(lobby)
    lobby.tabs.post({ type: 'full', sessionId: room.core.id })
  }
  return false
}

/** Notes that a session was asked for: it takes the connection of the one that was not for longest. */
export function noteUse(lobby: Lobby, room: Room): void {
  const { rooms } = lobby
  // An app may ask with every frame for the one that it shows.
  if (room.used && room.used === lobby.uses) return
  room.used = ++lobby.uses
  if (!room.sync?.seated()) room.sync?.wake()
  for (const other of rooms.values()) if (other.sync?.seated() && !mayFollow(lobby, other)) other.sync.wake()
}
