import { type ErrorData, errorData } from '../lib/errors.ts'
import { mergePage } from '../protocol/reduce.ts'
import type { ActionDeps } from './actions.ts'
import { type Core, newCore, setFields, snapshotOf, update } from './core.ts'
import { createDrain } from './drain.ts'
import { type Lobby, moveHealth, problem, showSessions } from './lobby.ts'
import {
  appendEvents,
  endOrphans,
  moveTidemark,
  nextPosition,
  type Room,
  takeOlder,
  takeWindow,
  WINDOW,
} from './room.ts'
import { createSession } from './session.ts'
import { createSync } from './sync.ts'
import { askToPersist, scheduleFrame } from './wake.ts'

/** Reads what is stored of a session. Where storage fails the session opens empty: the other side may still have it. */
async function load(lobby: Lobby, room: Room): Promise<void> {
  try {
    takeWindow(room, await lobby.storage.window(room.core.id, { limit: WINDOW }))
  } catch (thrown) {
    problem(lobby, errorData(thrown, 'storage'))
    moveHealth(lobby, { storage: 'failed' })
  }
  setFields(room.core, { loading: false })
}

/** The next older window, from storage or else from the server. Returns whether it brought anything. */
async function readOlder(lobby: Lobby, room: Room): Promise<boolean> {
  const { core, floor } = room
  const { rows } = await lobby.storage.window(core.id, { before: floor, limit: WINDOW })
  if (rows.length > 0) {
    takeOlder(room, rows)
    return true
  }
  const [oldest] = snapshotOf(core).messages
  if (lobby.runtime.truth === 'client' || !oldest || oldest.parentId === null) return false
  const { page } = await lobby.runtime.page(core.id, { before: oldest.id, limit: WINDOW }, lobby.ended.signal)
  update(core, (state, trace) => mergePage(state, page, trace))
  return page.messages.length > 0
}

/** This tab writes the session from now on: what was cut off is ended, what waits is sent, what is missing is fetched. */
async function lead(lobby: Lobby, room: Room): Promise<void> {
  const { core } = room
  const { env, runtime, account, persist } = lobby
  await room.ready
  if (lobby.closed || room.leading) return
  // Another tab may have written meanwhile.
  if (room.stored) await load(lobby, room)
  room.leading = true
  const onProblem = (error: ErrorData) => problem(lobby, error)
  const context = { env, account, runtime, onProblem }
  if (runtime.truth === 'client') {
    const ends = endOrphans(room)
    if (ends.length > 0) await appendEvents(room, ends, persist, env)
  } else room.sync = createSync(core, context)
  room.drain = createDrain(core, {
    ...context,
    persist,
    feedOpen: () => room.sync?.feedOpen() ?? false,
    onAccepted: () => room.sync?.wake(),
    consume: async (events) => room.sync?.consume(events),
  })
  room.drain.kick()
}

const actionsOf = (lobby: Lobby, room: () => Room): ActionDeps => ({
  account: lobby.account,
  given: () => ({ createId: lobby.env.createId, now: lobby.env.now() }),
  ready: () => room().ready,
  nextPosition: (messageId) => nextPosition(room(), messageId),
  async save(rows, gone = []) {
    const { core, drain } = room()
    const puts = rows.map((row) => ({ type: 'outbox' as const, row }))
    const deletes = gone.map((id) => ({ type: 'deleteOutbox' as const, id }))
    const onDisk = await lobby.persist.commit(core, [...puts, ...deletes], { durability: 'strict' })
    room().stored ||= onDisk
    void askOnce(lobby)
    drain?.kick(true)
    return onDisk
  },
})

async function askOnce(lobby: Lobby): Promise<void> {
  if (lobby.askedToPersist) return
  lobby.askedToPersist = true
  const persisted = await askToPersist()
  if (persisted !== undefined) moveHealth(lobby, { persisted })
}

function newRoomCore(lobby: Lobby, id: string, room: () => Room): Core {
  return newCore(id, {
    env: lobby.env,
    schedule: scheduleFrame,
    onChange(core, trace, origin) {
      if (trace.changed.size > 0 || trace.removed.size > 0) moveTidemark(room())
      if (origin === 'new') lobby.persist.note(core, trace)
      const { session, deleted } = core.state
      if (deleted) showSessions(lobby, [], [id])
      else if (session && lobby.listed.get(id) !== session) showSessions(lobby, [session])
    },
    onFields(core) {
      let outbox = 0
      for (const other of lobby.rooms.values()) outbox += other.core.outbox.size
      moveHealth(lobby, { outbox, connection: core.fields.connection })
    },
  })
}

/** Opens a session: reads what is stored, and serves it as soon as no other tab does. */
export function openRoom(lobby: Lobby, id: string): Room {
  const get = (): Room => room
  const core = newRoomCore(lobby, id, get)
  const session = createSession(core, {
    ...actionsOf(lobby, get),
    loadOlder: async () => void (await readOlder(lobby, room)),
    resync: async () => {
      await room.ready
      await room.sync?.resync()
    },
  })
  const room: Room = {
    core,
    session,
    ready: Promise.resolve(),
    readOlder: () => readOlder(lobby, room),
    places: new Map(),
    nextLocal: 0,
    floor: Number.POSITIVE_INFINITY,
    stored: false,
    leading: false,
    leave: () => {},
  }
  room.ready = load(lobby, room)
  room.leave = lobby.tabs.lead(id, () => void lead(lobby, room))
  return room
}
