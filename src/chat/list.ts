import type { ErrorCode } from '../lib/error-data.ts'
import { errorData } from '../lib/errors.ts'
import { type Lobby, problem, showSessions, storageFailed } from './lobby.ts'
import { roomOf } from './open.ts'
import type { StoredSession } from './ports.ts'
import { adopt, closedError } from './reading.ts'

/** How many sessions are listed at first. */
export const LISTED = 50

/** A minimal server lists nothing; a line that is down is each session's own news. */
const USUAL: readonly ErrorCode[] = ['not-found', 'network', 'timeout', 'aborted']

/** Pages of the server that are read at most until one brings something that is not listed. */
const MOST_PAGES = 10

/** Lists the next older sessions, of the storage and of the server. Returns whether there were any. */
export async function listOlder(lobby: Lobby): Promise<boolean> {
  const { storage, runtime, listed, ended, ends } = lobby
  if (lobby.closed) throw closedError()
  const before = listed.size
  try {
    const rows = ends.stored ? await storage.sessions({ after: ends.stored, limit: LISTED }) : []
    ends.stored = rows.at(-1)?.session
    showStored(lobby, rows)
  } catch (thrown) {
    if (lobby.closed) throw closedError()
    storageFailed(lobby, thrown)
  }
  for (let page = 0; ends.told && page < MOST_PAGES && listed.size === before; page++) {
    const { sessions, hasMore } = await runtime.sessions({ after: ends.told, limit: LISTED }, ended.signal)
    showSessions(lobby, sessions)
    ends.told = hasMore ? sessions.at(-1)?.id : undefined
  }
  return listed.size > before
}

/** Lists what is stored. What the server has said of a session is newer. */
export function showStored(lobby: Lobby, rows: readonly StoredSession[]): void {
  const fresh = rows.filter(({ session, deleted }) => !deleted && !lobby.listed.has(session.id))
  showSessions(
    lobby,
    fresh.map(({ session }) => session),
  )
}

/** The server's sessions, which another device may have begun. */
export async function listRemote(lobby: Lobby): Promise<void> {
  if (lobby.runtime.truth === 'client' || lobby.closed) return
  try {
    const { sessions, hasMore } = await lobby.runtime.sessions({ limit: LISTED }, lobby.ended.signal)
    if (lobby.closed) return
    showSessions(lobby, sessions)
    for (const room of lobby.rooms.values()) adopt(lobby, room)
    const until = (hasMore && sessions.at(-1)?.updatedAt) || 0
    const before = lobby.told
    lobby.told = new Set(sessions.map(({ id }) => id))
    lobby.ends.told = sessions.at(-1)?.id
    // Listed no more: that somebody has deleted it, the session itself will tell.
    for (const id of before ?? [])
      if (!lobby.told.has(id) && (lobby.listed.get(id)?.updatedAt ?? 0) > until)
        roomOf(lobby, id).sync?.wake()
  } catch (thrown) {
    const error = errorData(thrown, 'protocol')
    if (!lobby.closed && !USUAL.includes(error.code)) problem(lobby, error)
  }
}
