import { setFields } from './core.ts'
import { seekLead } from './lead.ts'
import { listRemote } from './list.ts'
import { byUse, type Lobby } from './lobby.ts'
import { refresh } from './refresh.ts'
import type { Room } from './room.ts'
import { isOffline, watchPage } from './wake.ts'

/** Whether this page is what answers: nobody else can go on with that. */
const isAnswering = ({ runtime }: Lobby, { core }: Room): boolean =>
  runtime.truth === 'client' && core.state.live.size > 0

/** So many sessions are asked for at once when a page is seen again, those first that were asked for last; others in their turn. */
const AT_ONCE = 8

/** Lets what the page goes through wake the rooms. Returns the function that ends it. */
export function watchRooms(lobby: Lobby): () => void {
  const { platform, rooms } = lobby
  let wakes = 0
  // A tab that was closed right after it stored something has told nobody.
  const lookAgain = async (found: readonly Room[]) => {
    const own = ++wakes
    for (const { core } of found) if (own === wakes) await refresh(lobby, core.id)
  }
  const onWake = () => {
    const found = byUse(lobby)
    void lookAgain(found)
    for (const [at, { core, drain, sync }] of found.entries()) {
      drain?.kick(true)
      if (at < AT_ONCE) sync?.wake()
      // Without a server there is nothing to hear from before something is asked again.
      if (!sync && core.fields.connection === 'offline' && !isOffline(platform))
        setFields(core, { connection: 'idle' })
    }
    void listRemote(lobby)
  }
  return watchPage(platform, {
    onWake,
    onOffline() {
      for (const { core, sync } of rooms.values()) {
        sync?.offline()
        if (core.fields.connection !== 'idle') setFields(core, { connection: 'offline' })
      }
    },
    onHide: () => void lobby.persist.flush(),
    onLeave() {
      void lobby.persist.flush()
      for (const room of rooms.values()) if (!isAnswering(lobby, room)) room.leave?.()
      lobby.tabs.rest()
    },
    onReturn() {
      lobby.tabs.wake()
      for (const room of byUse(lobby)) {
        if (room.leave) continue
        // What it stored as it left, nobody has heard of.
        lobby.tabs.post({ type: 'stored', sessionId: room.core.id })
        seekLead(lobby, room)
      }
      onWake()
    },
  })
}
