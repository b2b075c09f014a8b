import { backoffDelay } from '../lib/backoff.ts'
import { createCell } from '../lib/cell.ts'
import { platformEnv } from '../lib/env.ts'
import { errorFrom } from '../lib/errors.ts'
import { expectOption, hasMethod } from '../lib/expect.ts'
import type { Session } from '../message/schema.ts'
import { messagesOfRun } from './calls.ts'
import { setFields } from './core.ts'
import { hearTold } from './grown.ts'
import { LISTED, listOlder, listRemote, showStored } from './list.ts'
import { type Lobby, makeRoom, noteUse, recordsOf, storageFailed, storageWorks } from './lobby.ts'
import { noteUnreadable } from './lost.ts'
import { roomOf } from './open.ts'
import { createPersist } from './persist.ts'
import type { ChatStorage } from './ports.ts'
import { closedError, read, readFirst } from './reading.ts'
import { refresh } from './refresh.ts'
import { appendEvents, branchTo, fieldsOf, noteStored } from './room.ts'
import type { RuntimeHost } from './runtime-port.ts'
import { createTabs } from './tabs.ts'
import type { Chat, ChatOptions, Health } from './types.ts'
import { isOffline } from './wake.ts'
import { watchRooms } from './watch-rooms.ts'

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
  account: lobby.account,
  offline: () => isOffline(lobby.platform),
  history: (sessionId, messageId) => history(lobby, sessionId, messageId),
  answers: (sessionId, runId) => messagesOfRun(roomOf(lobby, sessionId).core.state, runId),
  append: (sessionId, events) => appendEvents(roomOf(lobby, sessionId), events, lobby.persist, lobby.env),
  storage: recordsOf(lobby),
})

/** What storage knows: sessions for the list, and rooms for what waits to be sent. Where it fails, it is asked again. */
async function start(lobby: Lobby): Promise<void> {
  const { storage, env, ended, account } = lobby
  for (let attempt = 0; !lobby.closed; attempt++) {
    try {
      const found = await storage.start({ sessions: LISTED })
      if (lobby.closed) return
      if (attempt > 0) storageWorks(lobby)
      noteUnreadable(lobby, found)
      lobby.ends.stored = found.sessions.at(-1)?.session
      showStored(lobby, found.sessions)
      for (const row of found.outbox) if (row.account === account) roomOf(lobby, row.sessionId)
      return
    } catch (thrown) {
      if (!lobby.closed) storageFailed(lobby, thrown)
    }
    // Ended with the chat, which is no failure.
    await env.sleep(backoffDelay(attempt, env.random()), ended.signal).catch(() => undefined)
  }
}

async function shut(lobby: Lobby): Promise<void> {
  const rooms = [...lobby.rooms.values()]
  for (const { drain, sync, takesOver } of rooms) {
    drain?.stop()
    sync?.stop()
    takesOver?.()
  }
  try {
    await lobby.runtime.close()
  } finally {
    await lobby.persist.flush()
    for (const { core, leave } of rooms) {
      leave?.()
      core.answers.end(closedError())
    }
    lobby.tabs.close()
    await lobby.storage.close()
  }
}

const healthOf = ({ durable }: ChatStorage): Health => ({
  storage: durable ? 'disk' : 'memory',
  connection: 'idle',
  outbox: 0,
  quarantined: 0,
})

function newLobby(options: ChatOptions): Lobby {
  const { runtime, storage, account = 'default', platform = globalThis } = options
  const [env, ended] = [{ ...platformEnv, ...options.env }, new AbortController()]
  const lobby: Lobby = {
    runtime,
    storage,
    account,
    env,
    platform,
    rooms: new Map(),
    uses: 0,
    listed: new Map(),
    ends: {},
    sessions: createCell<readonly Session[]>([]),
    health: createCell(healthOf(storage)),
    ended,
    refreshing: new Map(),
    unreadable: new Set(),
    closed: false,
    askedToPersist: false,
    token: env.createId(),
    tabs: createTabs({
      platform,
      env,
      name: storage.name && `${account}/${storage.name}`,
      steals: runtime.truth === 'server',
      onSilent(sessionId, stalled) {
        const room = lobby.rooms.get(sessionId)
        if (room) setFields(room.core, { stalled })
      },
      onStored: (sessionId) => void refresh(lobby, sessionId),
      onGrown: (sessionId, told) => hearTold(lobby.rooms.get(sessionId), told),
      onFull: () => makeRoom(lobby),
    }),
    persist: createPersist({
      storage,
      env,
      ended: ended.signal,
      fieldsOf: (core) => fieldsOf(roomOf(lobby, core.id)),
      isRead: (core) => readFirst(lobby, roomOf(lobby, core.id)),
      onHealth: (error) => (error ? storageFailed(lobby, errorFrom(error)) : storageWorks(lobby)),
      onStored({ id: sessionId }, changes) {
        noteStored(roomOf(lobby, sessionId), changes, lobby.persist)
        lobby.tabs.post({ type: 'stored', sessionId })
      },
      look: (core) => read(lobby, roomOf(lobby, core.id)),
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
  const unwatch = watchRooms(lobby)
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
    loadOlder: () => listOlder(lobby),
    close() {
      closing ??= close()
      return closing
    },
  }
}
