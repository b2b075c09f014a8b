import type { Cell } from '../lib/cell.ts'
import type { Env } from '../lib/env.ts'
import type { ErrorData } from '../lib/errors.ts'
import type { Session } from '../message/schema.ts'
import type { Persist } from './persist.ts'
import type { ChatStorage } from './ports.ts'
import type { Room } from './room.ts'
import type { Runtime } from './runtime-port.ts'
import type { Tabs } from './tabs.ts'
import type { Health } from './types.ts'

/** What the rooms of one chat share. */
export interface Lobby {
  readonly runtime: Runtime
  readonly storage: ChatStorage
  readonly account: string
  readonly env: Env
  readonly rooms: Map<string, Room>
  /** Every session that is listed. */
  readonly listed: Map<string, Session>
  readonly sessions: Cell<readonly Session[]>
  readonly health: Cell<Health>
  readonly persist: Persist
  readonly tabs: Tabs
  readonly ended: AbortController
  closed: boolean
  askedToPersist: boolean
}

export function moveHealth(lobby: Lobby, fields: Partial<Health>): void {
  const now = lobby.health.get()
  const changed = Object.entries(fields).some(([key, value]) => now[key as keyof Health] !== value)
  if (changed) lobby.health.set({ ...now, ...fields })
}

/** Something went wrong that nobody waits for. */
export function problem(lobby: Lobby, error: ErrorData): void {
  const { quarantined } = lobby.health.get()
  moveHealth(lobby, { lastError: error, quarantined: quarantined + (error.code === 'protocol' ? 1 : 0) })
}

const newestFirst = (a: Session, b: Session) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1)

/** Puts sessions in the list, or takes them out. The row of an open session is the newer word. */
export function showSessions(lobby: Lobby, sessions: readonly Session[], gone: readonly string[] = []): void {
  for (const session of sessions) {
    const room = lobby.rooms.get(session.id)
    if (!room?.core.state.deleted) lobby.listed.set(session.id, room?.core.state.session ?? session)
  }
  for (const id of gone) lobby.listed.delete(id)
  lobby.sessions.set([...lobby.listed.values()].sort(newestFirst))
}
