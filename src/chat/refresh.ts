import { backoffDelay } from '../lib/backoff.ts'
import { type Lobby, showSessions, storageFailed, storageWorks } from './lobby.ts'
import { readAgain } from './reading.ts'

async function mirror(lobby: Lobby, sessionId: string): Promise<void> {
  const room = lobby.rooms.get(sessionId)
  if (room) {
    await readAgain(lobby, room)
    // There is something to ask for now, where there was not.
    const { state, fields } = room.core
    if (fields.connection === 'idle' && state.session) room.sync?.wake()
    return room.drain?.kick()
  }
  const { session } = await lobby.storage.window(sessionId, { limit: 1 })
  if (session)
    showSessions(lobby, session.deleted ? [] : [session.session], session.deleted ? [sessionId] : [])
}

/** Another tab stored something: read it, and once more if it did so again meanwhile. */
export async function refresh(lobby: Lobby, sessionId: string): Promise<void> {
  const { refreshing, env, ended } = lobby
  let failures = 0
  if (refreshing.has(sessionId)) return void refreshing.set(sessionId, true)
  do {
    refreshing.set(sessionId, false)
    try {
      await mirror(lobby, sessionId)
    } catch (thrown) {
      if (lobby.closed) break
      storageFailed(lobby, thrown)
      // Nobody may write again, and tell of it. Ended with the chat, which is no failure.
      await env.sleep(backoffDelay(failures++, env.random()), ended.signal).catch(() => undefined)
      refreshing.set(sessionId, true)
    }
  } while (refreshing.get(sessionId) && !lobby.closed)
  if (failures > 0 && !lobby.closed) storageWorks(lobby)
  refreshing.delete(sessionId)
}
