import { createCell } from '../lib/cell.ts'
import { platformEnv } from '../lib/env.ts'
import { errorData, TidemarkError } from '../lib/errors.ts'
import type { Session } from '../message/schema.ts'
import { type Lobby, moveHealth, problem, showSessions } from './lobby.ts'
import { openRoom } from './open.ts'
import { createPersist } from './persist.ts'
import { appendEvents, branchTo, fieldsOf, type Room, takeWindow, WINDOW } from './room.ts'
import type { RuntimeHost } from './runtime-port.ts'
import { createTabs } from './tabs.ts'
import type { Chat, ChatOptions, Health } from './types.ts'
import { isOffline, watchPage } from './wake.ts'

/** How many sessions are listed at first. */
const LISTED = 50

const closed = () => new TidemarkError('aborted', 'the chat was closed')

/** The room of a session, opened where it is not yet. */
function roomOf(lobby: Lobby, id: string): Room {
  const present = lobby.rooms.get(id)
  if (present) return present
  if (lobby.closed) throw closed()
  const room = openRoom(lobby, id)
  lobby.rooms.set(id, room)
  return room
}

/** Reads on until the branch up to a message is whole. */
async function history(lobby: Lobby, sessionId: string, messageId: string) {
  const room = roomOf(lobby, sessionId)
  await room.ready
  for (;;) {
    const { path, whole } = branchTo(room, messageId)
    if (whole || !(await room.readOlder())) return path
  }
}

const hostOf = (lobby: Lobby): RuntimeHost => ({
  env: lobby.env,
  offline: isOffline,
  history: (sessionId, messageId) => history(lobby, sessionId, messageId),
  answers(sessionId, runId) {
    const { live, rest } = roomOf(lobby, sessionId).core.state
    const all = [...rest.values(), ...live.values()]
    return all.filter((message) => message.role === 'assistant' && message.runId === runId)
  },
  append: (sessionId, events) => appendEvents(roomOf(lobby, sessionId), events, lobby.persist, lobby.env),
})

/** What storage knows: sessions for the list, and rooms for what waits to be sent. */
async function start(lobby: Lobby): Promise<void> {
  try {
    const { sessions, outbox } = await lobby.storage.start({ sessions: LISTED })
    showSessions(
      lobby,
      sessions.map(({ session }) => session),
    )
    for (const { sessionId } of outbox) roomOf(lobby, sessionId)
  } catch (thrown) {
    problem(lobby, errorData(thrown, 'storage'))
    moveHealth(lobby, { storage: 'failed' })
  }
  await listRemote(lobby)
}

/** The server's sessions, which another device may have begun. */
async function listRemote(lobby: Lobby): Promise<void> {
  if (lobby.runtime.truth === 'client' || lobby.closed) return
  try {
    const { sessions } = await lobby.runtime.sessions({ limit: LISTED }, lobby.ended.signal)
    showSessions(lobby, sessions)
  } catch (thrown) {
    const error = errorData(thrown, 'network')
    // A minimal server lists nothing; a line that is down is each session's own news.
    if (error.code !== 'not-found' && error.code !== 'network' && error.code !== 'aborted')
      problem(lobby, error)
  }
}

/** Another tab stored something. */
async function refresh(lobby: Lobby, sessionId: string): Promise<void> {
  const room = lobby.rooms.get(sessionId)
  try {
    const window = await lobby.storage.window(sessionId, { limit: room ? WINDOW : 1 })
    if (window.session) showSessions(lobby, [window.session.session])
    if (!room) return
    await room.ready
    takeWindow(room, window)
    room.drain?.kick()
  } catch (thrown) {
    problem(lobby, errorData(thrown, 'storage'))
  }
}

async function close(lobby: Lobby, unwatch: () => void): Promise<void> {
  if (lobby.closed) return
  lobby.closed = true
  unwatch()
  lobby.ended.abort()
  const rooms = [...lobby.rooms.values()]
  for (const { drain, sync } of rooms) {
    drain?.stop()
    sync?.stop()
  }
  await lobby.runtime.close()
  await lobby.persist.flush()
  for (const { core, leave } of rooms) {
    leave()
    core.answers.end(closed())
  }
  lobby.tabs.close()
  await lobby.storage.close()
}

function newLobby(options: ChatOptions): Lobby {
  const { runtime, storage, account = 'default' } = options
  const env = { ...platformEnv, ...options.env }
  const health: Health = {
    storage: storage.durable ? 'disk' : 'memory',
    connection: 'idle',
    outbox: 0,
    quarantined: 0,
  }
  const lobby: Lobby = {
    runtime,
    storage,
    account,
    env,
    rooms: new Map(),
    listed: new Map(),
    sessions: createCell<readonly Session[]>([]),
    health: createCell(health),
    ended: new AbortController(),
    closed: false,
    askedToPersist: false,
    tabs: createTabs(
      storage.name && `${account}/${storage.name}`,
      ({ sessionId }) => void refresh(lobby, sessionId),
    ),
    persist: createPersist({
      storage,
      env,
      fieldsOf: (core) => fieldsOf(roomOf(lobby, core.id)),
      onHealth: (error) => {
        moveHealth(lobby, { storage: error ? 'failed' : storage.durable ? 'disk' : 'memory' })
        if (error) problem(lobby, error)
      },
      onStored: (sessionId) => lobby.tabs.post({ type: 'stored', sessionId }),
    }),
  }
  return lobby
}

/**
 * A chat: every session of one account over one storage and one runtime. Opens nothing and sends nothing that was not
 * asked for, except what already waits in the outbox.
 */
export function createChat(options: ChatOptions): Chat {
  const lobby = newLobby(options)
  lobby.runtime.open(hostOf(lobby))
  const each = (does: (room: Room) => void) => {
    for (const room of lobby.rooms.values()) does(room)
  }
  const unwatch = watchPage({
    onWake() {
      each(({ drain, sync }) => {
        drain?.kick(true)
        sync?.wake()
      })
      void listRemote(lobby)
    },
    onOffline: () => each(({ sync }) => sync?.offline()),
    onHide: () => void lobby.persist.flush(),
  })
  void start(lobby)
  return {
    sessions: lobby.sessions,
    health: lobby.health,
    session: (id = lobby.env.createId()) => roomOf(lobby, id).session,
    close: () => close(lobby, unwatch),
  }
}
