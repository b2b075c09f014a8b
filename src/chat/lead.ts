import type { ErrorData } from '../lib/error-data.ts'
import { newTrace } from '../protocol/state.ts'
import { setFields, update } from './core.ts'
import { createDrain, type Drain } from './drain.ts'
import { isSeated, type Lobby, problem, storageFailed, turnOf } from './lobby.ts'
import { refuseStranded } from './lost.ts'
import { endRuns, readSince } from './reading.ts'
import type { Room } from './room.ts'
import { createServing } from './serving.ts'
import { createSync } from './sync.ts'
import { endLead } from './taken.ts'

/** What another tab only told of is stored nowhere, if that one died before it could. */
function noteTold({ persist }: Lobby, { core }: Room): void {
  const { live } = core.state
  if (live.size > 0) persist.note(core, { ...newTrace(), changed: new Set(live.keys()) })
}

/** What keeps the session in step with its server, and what sends for it. */
function follow(lobby: Lobby, room: Room): Drain {
  const { core } = room
  const { env, platform, runtime, account, persist } = lobby
  const onProblem = (error: ErrorData, unread?: number) => problem(lobby, error, unread)
  const context = { env, platform, account, runtime, onProblem }
  if (runtime.truth === 'server') {
    const seat = lobby.tabs.seat(() => room.sync?.wake())
    room.sync = createSync(core, {
      ...context,
      seat,
      isSeated: () => isSeated(lobby, room, seat),
      turn: () => turnOf(lobby),
      onDue: () => room.drain?.kick(true),
    })
  }
  return createDrain(core, {
    ...context,
    persist,
    token: lobby.tabs.apart ? lobby.token : undefined,
    feedOpen: () => room.sync?.feedOpen() ?? false,
    mayStream: async () => (await room.sync?.mayStream()) ?? true,
    onDiverged() {
      update(core, (state) => ({ ...state, missing: { reason: 'diverged' } }))
      room.sync?.wake()
    },
    onAccepted() {
      if (!room.sync?.feedOpen()) room.sync?.wake()
    },
    consume: async (events) => room.sync?.consume(events),
  })
}

/** This tab writes the session from now on: what was cut off is ended, what waits is sent, what is missing is fetched. */
async function lead(lobby: Lobby, room: Room, lost: AbortSignal, takesOver: boolean): Promise<void> {
  const { core } = room
  const { runtime, persist } = lobby
  await room.ready
  try {
    // Another tab may have written meanwhile, and died before it told of it.
    await readSince(lobby, room)
  } catch (thrown) {
    if (!lobby.closed) storageFailed(lobby, thrown)
  }
  if (lobby.closed || lost.aborted) return
  room.leading = true
  noteTold(lobby, room)
  lost.addEventListener('abort', () => endLead(lobby, room))
  if (takesOver) {
    // Before anything is done about what the other has begun: from here that one cannot write.
    setFields(core, { term: core.fields.term + 1 })
    persist.noteAll(core)
    await persist.commit(core)
    if (lobby.closed || lost.aborted) return
  }
  setFields(core, { stalled: false })
  await endRuns(lobby, room, core.state.live.keys())
  if (lobby.closed || lost.aborted) return
  if (room.loaded) refuseStranded(lobby, room)
  room.drain = follow(lobby, room)
  room.drain.kick()
  const { serve } = runtime
  if (serve) room.serving = createServing(core, serve, room.say, lost, lobby.tabs.apart)
  room.serving?.()
}

/** Leads the session as soon as no other tab does. */
export function seekLead(lobby: Lobby, room: Room): void {
  const give = lobby.tabs.lead(room.core.id, (lost) => {
    const { takesOver } = room
    room.takesOver = undefined
    void lead(lobby, room, lost, !!takesOver).finally(takesOver)
  })
  room.leave = () => {
    room.leave = undefined
    give()
  }
}
