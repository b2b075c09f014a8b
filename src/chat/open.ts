import { TidemarkError } from '../lib/errors.ts'
import { ID_EXPECTED, Id } from '../message/schema.ts'
import { type ActionDeps, assertThere, sayOf } from './actions.ts'
import { type Core, newCore } from './core.ts'
import { toldOf } from './grown.ts'
import { seekLead } from './lead.ts'
import { type Lobby, moveHealth, moveTotals, showSessions } from './lobby.ts'
import { closedError, load, loadLater, readOlder, resync, seekHead } from './reading.ts'
import { moveTidemark, nextPosition, type Room } from './room.ts'
import { createSession } from './session.ts'
import { takeOver } from './taken.ts'
import { askToPersist, scheduleFrame } from './wake.ts'

const actionsOf = (lobby: Lobby, room: () => Room): ActionDeps => ({
  account: lobby.account,
  given: () => ({ createId: lobby.env.createId, now: lobby.env.now() }),
  async ready() {
    await room().ready
    if (lobby.closed) throw closedError()
  },
  nextPosition: (messageId) => nextPosition(room(), messageId),
  async save() {
    const { core } = room()
    const onDisk = await lobby.persist.commit(core, { durability: 'strict' })
    void askOnce(lobby)
    room().drain?.kick(true)
    return onDisk
  },
})

async function askOnce(lobby: Lobby): Promise<void> {
  if (lobby.askedToPersist || !lobby.storage.durable) return
  lobby.askedToPersist = true
  const persisted = await askToPersist(lobby.platform)
  if (persisted !== undefined) moveHealth(lobby, { persisted })
}

function newRoomCore(lobby: Lobby, id: string, room: () => Room): Core {
  return newCore(id, {
    env: lobby.env,
    schedule: (flush) => scheduleFrame(lobby.platform, flush),
    onChange(core, trace, origin) {
      if (trace.changed.size > 0 || trace.removed.size > 0) {
        moveTidemark(room())
        room().serving?.()
      }
      if (origin === 'new') {
        lobby.persist.note(core, trace)
        const { pieces } = trace
        if (pieces.length > 0) lobby.tabs.grew(id, () => toldOf(core.state, pieces))
      }
      if (trace.pieces.length === 0) void seekHead(lobby, room())
      const { session, deleted } = core.state
      // Gone once that is stored: a page that is left before would list it again.
      if (deleted) void lobby.persist.between(core, async () => showSessions(lobby, [], [id]))
      else if (session && lobby.listed.get(id) !== session) showSessions(lobby, [session])
    },
    onOutbox(core, ids, origin) {
      if (origin === 'new') lobby.persist.noteOutbox(core, ids)
    },
    onFields: () => moveTotals(lobby),
  })
}

/** What a session can do beyond its actions: it reads what is stored, and asks the other side. */
const reachOf = (core: Core, lobby: Lobby, actions: ActionDeps, room: () => Room) => ({
  async loadOlder() {
    await actions.ready()
    assertThere(core)
    await readOlder(lobby, room())
  },
  async resync() {
    await actions.ready()
    assertThere(core)
    await resync(lobby, room())
  },
  async takeOver() {
    await actions.ready()
    assertThere(core)
    await takeOver(lobby, room())
    if (lobby.closed) throw closedError()
  },
  async context() {
    await actions.ready()
    assertThere(core)
    const { runtime } = lobby
    if (!runtime.context) throw new TidemarkError('not-found', 'a server decides what its model sees')
    return runtime.context(core.id, core.state.headId)
  },
  async calls() {
    await actions.ready()
    assertThere(core)
    return lobby.runtime.calls?.(core.id, lobby.ended.signal) ?? []
  },
})

/** Opens a session: reads what is stored, and serves it as soon as no other tab does. */
function openRoom(lobby: Lobby, id: string): Room {
  const get = (): Room => room
  const core = newRoomCore(lobby, id, get)
  const actions = actionsOf(lobby, get)
  const session = createSession(core, { ...actions, ...reachOf(core, lobby, actions, get) })
  const room: Room = {
    core,
    session,
    ready: Promise.resolve(),
    say: (messageId, word) => sayOf(core, actions, messageId, word),
    readOlder: () => readOlder(lobby, room),
    giveWay() {
      if (!room.leave) return
      room.leave()
      seekLead(lobby, room)
    },
    places: new Map(),
    queued: new Map(),
    nextLocal: 0,
    floor: Number.POSITIVE_INFINITY,
    top: 0,
    loaded: false,
    used: 0,
    leading: false,
  }
  room.ready = load(lobby, room).then((loaded) => {
    if (!loaded) void loadLater(lobby, room)
    // Whoever stored it may have died before it told of it.
    else if (core.outbox.size > 0) lobby.tabs.post({ type: 'stored', sessionId: id })
  })
  seekLead(lobby, room)
  return room
}

/** The room of a session, opened where it is not yet. */
export function roomOf(lobby: Lobby, id: string): Room {
  const present = lobby.rooms.get(id)
  if (present) return present
  if (lobby.closed) throw closedError()
  if (!Id.safeParse(id).success) throw new TidemarkError('invalid-request', `id: ${ID_EXPECTED}`)
  const room = openRoom(lobby, id)
  lobby.rooms.set(id, room)
  return room
}
