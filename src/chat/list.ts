import { type ErrorCode, errorData } from '../lib/errors.ts'
import { type Lobby, problem, showSessions } from './lobby.ts'
import { roomOf } from './open.ts'
import { adopt } from './reading.ts'

/** How many sessions are listed at first. */
export const LISTED = 50

/** A minimal server lists nothing; a line that is down is each session's own news. */
const USUAL: readonly ErrorCode[] = ['not-found', 'network', 'timeout', 'aborted']

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
    // Listed no more: that somebody has deleted it, the session itself will tell.
    for (const id of before ?? [])
      if (!lobby.told.has(id) && (lobby.listed.get(id)?.updatedAt ?? 0) > until)
        roomOf(lobby, id).sync?.wake()
  } catch (thrown) {
    const error = errorData(thrown, 'protocol')
    if (!lobby.closed && !USUAL.includes(error.code)) problem(lobby, error)
  }
}
