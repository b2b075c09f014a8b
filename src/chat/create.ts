import { backoffDelay } from '../lib/backoff.ts'
import { createCell } from '../lib/cell.ts'
import { platformEnv } from '../lib/env.ts'
import { errorData, errorFrom, TidemarkError } from '../lib/errors.ts'
import { expectOption, hasMethod } from '../lib/expect.ts'
import { ID_EXPECTED, Id, type Session } from '../message/schema.ts'
import { update } from './core.ts'
import { type Lobby, noteUse, problem, showSessions, storageFailed, storageWorks } from './lobby.ts'
import { adopt, closedError, load, openRoom, readAgain } from './open.ts'
import { createPersist } from './persist.ts'
import { appendEvents, branchTo, fieldsOf, type Room } from './room.ts'
import type { RuntimeHost } from './runtime-port.ts'
import { createTabs, type TabMessage } from './tabs.ts'
import type { Chat, ChatOptions, Health } from './types.ts'
import { isOffline, watchPage } from './wake.ts'

/** How many sessions are listed at first. */
const LISTED = 50

/** The room of a session, opened where it is not yet. */
function roomOf(lobby: Lobby, id: string): Room {
  const present = lobby.rooms.get(id)
  if (present) return present
  if (lobby.closed) throw closedError()
  if (!Id.safeParse(id).success) throw new TidemarkError('invalid-request', `id: ${ID_EXPECTED}`)
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
  offline: () => isOffline(lobby.platform),
  history: (sessionId, messageId) => history(lobby, sessionId, messageId),
  answers(sessionId, runId) {
    const { live, rest } = roomOf(lobby, sessionId).core.state
    const all = [...rest.values(), ...live.values()]
    return all.filter((message) => message.role === 'assistant' && message.runId === runId)
  },
  append: (sessionId, events) => appendEvents(roomOf(lobby, sessionId), events, lobby.persist, lobby.env),
})

/** What storage knows: sessions for the list, and rooms for what waits to be sent. Where it fails, it is asked again. */
async function start(lobby: Lobby): Promise<void> {
  const { storage, env, ended, account } = lobby
  for (let attempt = 0; !lobby.closed; attempt++) {
    try {
      const { sessions, outbox } = await storage.start({ sessions: LISTED })
      if (lobby.closed) return
      if (attempt > 0) storageWorks(lobby)
      const stored = sessions.map(({ session }) => session)
      // What the server has said of a session meanwhile is newer.
      showSessions(
        lobby,
        stored.filter(({ id }) => !lobby.listed.has(id)),
      )
      for (const row of outbox) if (row.account === account) roomOf(lobby, row.sessionId)
      return
    } catch (thrown) {
      if (!lobby.closed) storageFailed(lobby, thrown)
    }
    // Ended with the chat, which is no failure.
    await env.sleep(backoffDelay(attempt, env.random()), ended.signal).catch(() => undefined)
  }
}

/** The server's sessions, which another device may have begun. */
async function listRemote(lobby: Lobby): Promise<void> {
  if (lobby.runtime.truth === 'client' || lobby.closed) return
  try {
    const { sessions } = await lobby.runtime.sessions({ limit: LISTED }, lobby.ended.signal)
    if (lobby.closed) return
    showSessions(lobby, sessions)
    for (const room of lobby.rooms.values()) adopt(lobby, room)
  } catch (thrown) {
    const error = errorData(thrown, 'protocol')
    // A minimal server lists nothing; a line that is down is each session's own news.
    if (!lobby.closed && error.code !== 'not-found' && error.code !== 'network' && error.code !== 'aborted')
      problem(lobby, error)
  }
}

async function mirror(lobby: Lobby, sessionId: string): Promise<void> {
  const room = lobby.rooms.get(sessionId)
  if (room) {
    await readAgain(lobby, room)
    return room.drain?.kick()
  }
  const { session } = await lobby.storage.window(sessionId, { limit: 1 })
  if (session) showSessions(lobby, [session.session])
}

/** Another tab stored something: read it, and once more if it did so again meanwhile. */
async function refresh(lobby: Lobby, sessionId: string): Promise<void> {
  const { refreshing } = lobby
  if (refreshing.has(sessionId)) return void refreshing.set(sessionId, true)
  do {
    refreshing.set(sessionId, false)
    try {
      await mirror(lobby, sessionId)
    } catch (thrown) {
      if (!lobby.closed) storageFailed(lobby, thrown)
    }
  } while (refreshing.get(sessionId) && !lobby.closed)
  refreshing.delete(sessionId)
}

function hear(lobby: Lobby, { type, sessionId }: TabMessage): void {
  if (type === 'stored') return void refresh(lobby, sessionId)
  const room = lobby.rooms.get(sessionId)
  if (room) update(room.core, (state) => (state.deleted ? state : { ...state, deleted: true }), 'stored')
  showSessions(lobby, [], [sessionId])
  // What is to be said to the server about it stands in the outbox.
  if (room) void refresh(lobby, sessionId)
}

async function shut(lobby: Lobby): Promise<void> {
  const rooms = [...lobby.rooms.values()]
  for (const { drain, sync } of rooms) {
    drain?.stop()
    sync?.stop()
  }
  try {
    await lobby.runtime.close()
  } finally {
    await lobby.persist.flush()
    for (const { core, leave } of rooms) {
      leave()
      core.answers.end(closedError())
    }
    lobby.tabs.close()
    await lobby.storage.close()
  }
}

function newLobby(options: ChatOptions): Lobby {
  const { runtime, storage, account = 'default', platform = globalThis } = options
  const env = { ...platformEnv, ...options.env }
  const ended = new AbortController()
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
    platform,
    rooms: new Map(),
    listed: new Map(),
    sessions: createCell<readonly Session[]>([]),
    health: createCell(health),
    ended,
    refreshing: new Map(),
    closed: false,
    askedToPersist: false,
    tabs: createTabs(platform, storage.name && `${account}/${storage.name}`, (message) =>
      hear(lobby, message),
    ),
    persist: createPersist({
      storage,
      env,
      ended: ended.signal,
      fieldsOf: (core) => fieldsOf(roomOf(lobby, core.id)),
      isRead: (core) => load(lobby, roomOf(lobby, core.id)),
      onHealth: (error) => (error ? storageFailed(lobby, errorFrom(error)) : storageWorks(lobby)),
      onStored: ({ id: sessionId, state }) =>
        lobby.tabs.post({ type: state.deleted ? 'deleted' : 'stored', sessionId }),
    }),
  }
  return lobby
}

/**
 * A chat: every session of one account over one storage and one runtime. Opens nothing and sends nothing that was not
 * asked for, except what already waits in the outbox.
 */
export function createChat(options: ChatOptions): Chat {
  const { storage, runtime } = options ?? {}
  expectOption(
    hasMethod(storage, 'commit'),
    'storage: expected dexieStorage(name), memoryStorage() or the like',
  )
  expectOption(hasMethod(runtime, 'dispatch'), 'runtime: expected remote({ url }) or direct({ model })')
  const lobby = newLobby(options)
  lobby.runtime.open(hostOf(lobby))
  const each = (does: (room: Room) => void) => {
    for (const room of lobby.rooms.values()) does(room)
  }
  const unwatch = watchPage(lobby.platform, {
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
  void listRemote(lobby)
  let closing: Promise<void> | undefined
  const close = () => {
    lobby.closed = true
    unwatch()
    lobby.ended.abort()
    return shut(lobby)
  }
  return {
    sessions: lobby.sessions,
    health: lobby.health,
    session(id = lobby.env.createId()) {
      const room = roomOf(lobby, id)
      noteUse(lobby, room)
      return room.session
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}
