import { type ErrorCode, errorData } from '../lib/errors.ts'
import { type Lobby, problem, showSessions } from './lobby.ts'
import { roomOf } from './open.ts'
import { adopt } from './reading.ts'

/** How many sessions are listed at first. */
export const LISTED = 50

/** A minimal server lists nothing; a line that is down is each session's own news. */
const USUAL: readonly ErrorCode[] = ['not-found', 'network', 'timeout', 'aborted']

/** Looks at sessions that were the server's and are listed no more: that somebody has deleted them, they tell themselves. */
export function lookForGone(lobby: Lobby): void {
  const { told, listed } = lobby
  if (!told) return
  for (const { id, rev, updatedAt } of [...listed.values()])
    if (rev && updatedAt > told.until && !told.ids.has(id)) roomOf(lobby, id).sync?.wake()
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
    lobby.told = { ids: new Set(sessions.map(({ id }) => id)), until }
    lookForGone(lobby)
  } catch (thrown) {
    const error = errorData(thrown, 'protocol')
    if (!lobby.closed && !USUAL.includes(error.code)) problem(lobby, error)
  }
}
