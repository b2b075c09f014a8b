import { type ErrorCode, errorData } from '../lib/errors.ts'
import { type Lobby, problem, showSessions } from './lobby.ts'
import { adopt } from './reading.ts'

/** How many sessions are listed at first. */
export const LISTED = 50

/** A minimal server lists nothing; a line that is down is each session's own news. */
const USUAL: readonly ErrorCode[] = ['not-found', 'network', 'timeout', 'aborted']

/** The server's sessions, which another device may have begun. */
export async function listRemote(lobby: Lobby): Promise<void> {
  if (lobby.runtime.truth === 'client' || lobby.closed) return
  try {
    const { sessions } = await lobby.runtime.sessions({ limit: LISTED }, lobby.ended.signal)
    if (lobby.closed) return
    showSessions(lobby, sessions)
    for (const room of lobby.rooms.values()) adopt(lobby, room)
  } catch (thrown) {
    const error = errorData(thrown, 'protocol')
    if (!lobby.closed && !USUAL.includes(error.code)) problem(lobby, error)
  }
}
