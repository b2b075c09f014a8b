import { backoffDelay } from '../lib/backoff.ts'
import { type ErrorData, TidemarkError } from '../lib/errors.ts'
import { mergePage } from '../protocol/reduce.ts'
import { type ActionDeps, ready } from './actions.ts'
import { type Core, newCore, setFields, setOutbox, snapshotOf, update } from './core.ts'
import { createDrain } from './drain.ts'
import {
  type Lobby,
  mayFollow,
  moveHealth,
  moveTotals,
  problem,
  showSessions,
  storageFailed,
  storageWorks,
} from './lobby.ts'
import { doubt, noteUnreadable, refuseStranded, writeAnew } from './lost.ts'
import { endOrphans } from './orphans.ts'
import { rowName } from './ports.ts'
import { appendEvents, moveTidemark, nextPosition, type Room, WINDOW } from './room.ts'
import { createSession } from './session.ts'
import { createSync } from './sync.ts'
import { askToPersist, scheduleFrame } from './wake.ts'
import { takeOlder, takeWindow } from './window.ts'

export const closedError = (): TidemarkError => new TidemarkError('aborted', 'the chat was closed')

/** Takes what is stored of a session, as it is between two writes. */
export async function read(lobby: Lobby, room: Room): Promise<void> {
  const { core } = room
  const window = await lobby.storage.window(core.id, { limit: WINDOW })
  const { session, unreadable } = window
  noteUnreadable(lobby, window)
  const isUnread = unreadable?.includes(rowName('sessions', [core.id]))
  if (room.stored && !session && !isUnread) return writeAnew(lobby, room)
  const owns = lobby.runtime.truth === 'client'
  takeWindow(room, window, lobby.persist.unsaved(core), owns)
  room.stored = isUnread ? null : session
  if (!room.leading && !owns) doubt(room, window)
}

/** Reads what is stored again, after another tab may have written it. */
export async function readAgain(lobby: Lobby, room: Room): Promise<void> {
  await room.ready
  if (room.loaded) await lobby.persist.between(room.core, () => read(lobby, room))
}

/** A session that the other side has told of: what is said in it follows its head. */
export function adopt(lobby: Lobby, { core, loaded }: Room): void {
  const session = lobby.listed.get(core.id)
  if (!session || !loaded || core.state.session || lobby.runtime.truth === 'client') return
  update(core, (state) => ({ ...state, session, headId: state.headId ?? session.headId }))
}

/** Answers that were in flight when their tab went are over, or gone on with. */
async function endRuns(lobby: Lobby, room: Room, among: Iterable<string>): Promise<void> {
  if (lobby.runtime.truth === 'server') return
  const { runtime, account, persist, env } = lobby
  const { events, rows } = endOrphans(room.core, new Set(among), account, runtime)
  // In one transaction: whoever finds the one has the other.
  setOutbox(room.core, rows)
  if (events.length > 0) await appendEvents(room, events, persist, env)
  if (rows.length > 0) room.drain?.kick()
}

/** Reads what is stored, where that is not done yet. Where storage fails the session opens empty: the other side may still have it. */
export async function load(lobby: Lobby, room: Room): Promise<boolean> {
  const { core } = room
  const known = new Set(core.state.live.keys())
  try {
    // One at a time: what a second one reads may be older than what was written after the first.
    room.reading ??= room.loaded ? undefined : read(lobby, room)
    await room.reading
  } catch (thrown) {
    if (!lobby.closed) storageFailed(lobby, thrown)
  }
  room.reading = undefined
  setFields(core, { loading: false })
  if (room.loaded) adopt(lobby, room)
  // Late: it is led already, over what could be read only now.
  // Not waited for: what is written waits for this.
  const found = [...core.state.live.keys()].filter((id) => !known.has(id))
  if (room.loaded && room.leading) void endRuns(lobby, room, found)
  return room.loaded
}

/** Goes on trying to read what could not be read at first. */
async function loadLater(lobby: Lobby, room: Room): Promise<void> {
  const { env, ended } = lobby
  for (let attempt = 0; !room.loaded && !lobby.closed; attempt++) {
    // Ended with the chat, which is no failure.
    await env.sleep(backoffDelay(attempt, env.random()), ended.signal).catch(() => undefined)
    if (lobby.closed || !(await load(lobby, room))) continue
    storageWorks(lobby)
    room.drain?.kick()
  }
}

/** The next older window of what is stored. Returns whether it brought anything. */
async function readStored(lobby: Lobby, room: Room): Promise<boolean> {
  if (!(await load(lobby, room))) return false
  const { core, floor } = room
  try {
    const window = await lobby.storage.window(core.id, { before: floor, limit: WINDOW })
    if (window.rows.length === 0) setFields(core, { unread: false })
    else takeOlder(room, window, lobby.persist.unsaved(core))
    return window.rows.length > 0
  } catch (thrown) {
    if (lobby.closed) throw closedError()
    storageFailed(lobby, thrown)
    return false
  }
}

/** The next older window, from storage or else from the server. Returns whether it brought anything. */
async function readOlder(lobby: Lobby, room: Room): Promise<boolean> {
  const { core } = room
  if (await readStored(lobby, room)) return true
  const [oldest] = snapshotOf(core).messages
  if (lobby.runtime.truth === 'client' || !oldest || oldest.parentId === null) return false
  const { page } = await lobby.runtime.page(core.id, { before: oldest.id, limit: WINDOW }, lobby.ended.signal)
  update(core, (state, trace) => mergePage(state, page, trace))
  if (page.messages.length === 0) setFields(core, { complete: true })
  return page.messages.length > 0
}

/** This tab writes the session from now on: what was cut off is ended, what waits is sent, what is missing is fetched. */
async function lead(lobby: Lobby, room: Room, lost: AbortSignal): Promise<void> {
  const { core } = room
  const { env, platform, runtime, account, persist } = lobby
  await room.ready
  try {
    // Another tab may have written meanwhile, and died before it told of it.
    await readAgain(lobby, room)
  } catch (thrown) {
    if (!lobby.closed) storageFailed(lobby, thrown)
  }
  if (lobby.closed || lost.aborted) return
  room.leading = true
  lost.addEventListener('abort', () => endLead(room))
  const onProblem = (error: ErrorData, unread?: number) => problem(lobby, error, unread)
  const context = { env, platform, account, runtime, onProblem }
  await endRuns(lobby, room, core.state.live.keys())
  if (lobby.closed || lost.aborted) return
  if (room.loaded) refuseStranded(lobby, room)
  if (runtime.truth === 'server')
    room.sync = createSync(core, { ...context, mayFollow: () => mayFollow(lobby, room) })
  room.drain = createDrain(core, {
    ...context,
    persist,
    token: lobby.tabs.apart ? lobby.token : undefined,
    feedOpen: () => room.sync?.feedOpen() ?? false,
    onAccepted() {
      if (!room.sync?.feedOpen()) room.sync?.wake()
    },
    consume: async (events) => room.sync?.consume(events),
  })
  room.drain.kick()
}

/** Another tab writes the session from now on, or may: what this one had begun, that one goes on with. */
function endLead(room: Room): void {
  room.leading = false
  room.drain?.stop()
  room.sync?.stop()
  room.drain = undefined
  room.sync = undefined
  // What was heard and is not stored, nobody tells this tab the end of.
  update(room.core, (state) => ({ ...state, runs: new Set(), missing: null }), 'stored')
  setFields(room.core, { connection: 'idle' })
}

/** Leads the session as soon as no other tab does. */
export function seekLead(lobby: Lobby, room: Room): void {
  const give = lobby.tabs.lead(room.core.id, (lost) => void lead(lobby, room, lost))
  room.leave = () => {
    room.leave = undefined
    give()
  }
}

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
      if (trace.changed.size > 0 || trace.removed.size > 0) moveTidemark(room())
      if (origin === 'new') lobby.persist.note(core, trace)
      const { session, deleted } = core.state
      if (deleted) showSessions(lobby, [], [id])
      else if (session && lobby.listed.get(id) !== session) showSessions(lobby, [session])
    },
    onOutbox(core, ids, origin) {
      if (origin === 'new') lobby.persist.noteOutbox(core, ids)
    },
    onFields: () => moveTotals(lobby),
  })
}

/** Opens a session: reads what is stored, and serves it as soon as no other tab does. */
export function openRoom(lobby: Lobby, id: string): Room {
  const get = (): Room => room
  const core = newRoomCore(lobby, id, get)
  const actions = actionsOf(lobby, get)
  const session = createSession(core, {
    ...actions,
    async loadOlder() {
      await ready(core, actions)
      await readOlder(lobby, room)
    },
    async resync() {
      await ready(core, actions)
      await room.sync?.resync()
    },
    async context() {
      await ready(core, actions)
      const { runtime } = lobby
      if (!runtime.context) throw new TidemarkError('not-found', 'a server decides what its model sees')
      return runtime.context(id, core.state.headId)
    },
    async calls() {
      await ready(core, actions)
      return lobby.runtime.calls?.(id, lobby.ended.signal) ?? []
    },
  })
  const room: Room = {
    core,
    session,
    ready: Promise.resolve(),
    readOlder: () => readOlder(lobby, room),
    places: new Map(),
    queued: new Map(),
    nextLocal: 0,
    floor: Number.POSITIVE_INFINITY,
    top: 0,
    loaded: false,
    leading: false,
  }
  room.ready = load(lobby, room).then((loaded) => {
    if (!loaded) void loadLater(lobby, room)
  })
  seekLead(lobby, room)
  return room
}
