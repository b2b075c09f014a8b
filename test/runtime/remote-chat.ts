import { onTestFinished } from 'vitest'
import { createChat } from '../../src/chat/create.ts'
import type { Platform } from '../../src/chat/platform.ts'
import type { Chat, ChatSession } from '../../src/chat/types.ts'
import { sameJson } from '../../src/protocol/merge.ts'
import { type RemoteOptions, remote } from '../../src/runtime/remote.ts'
import { expectStored, type WatchedStorage, watchedStorage } from '../chat/storages.ts'
import { createWorld, type World } from '../chat/world.ts'
import { fetchOf } from './scripted-routes.ts'
import { openRoom, type Server, type ServerOptions, scriptedServer } from './scripted-server.ts'

export interface RemoteChat {
  chat: Chat
  session: ChatSession
  server: Server
  storage: WatchedStorage
  world: World
}

export interface RemoteSetup extends ServerOptions, Pick<RemoteOptions, 'headers' | 'silence'> {
  server?: Server
  storage?: WatchedStorage
  world?: World
  account?: string
  platform?: Platform
}

/** A chat over a scripted server in the same process, and a storage that can be looked into. Closed when the test is over. */
export function remoteChat(setup: RemoteSetup = {}): RemoteChat {
  const { storage = watchedStorage(), world = createWorld(), headers, silence, ...rest } = setup
  const { account, platform, ...options } = rest
  const { server = scriptedServer(options) } = setup
  const runtime = remote({
    url: 'http://server',
    fetch: fetchOf(server),
    ...(headers && { headers }),
    ...(silence !== undefined && { silence }),
  })
  const chat = createChat({
    storage,
    env: world.env,
    runtime,
    ...(account !== undefined && { account }),
    ...(platform && { platform }),
  })
  onTestFinished(() => chat.close())
  return { chat, session: chat.session('s'), server, storage, world }
}

/** Requests of a kind: `POST /sessions/s/messages`. */
export const requestsTo = ({ requests }: Server, line: string) =>
  requests.filter(({ method, path }) => `${method} ${path}` === line)

export const SEND = 'POST /sessions/s/messages'

/** In the end a chat has what the server has. */
export async function expectInStep({ session, server, chat, storage, world }: RemoteChat): Promise<void> {
  const room = openRoom(server, 's')
  await world.until(
    () =>
      chat.health.get().outbox === 0 &&
      session.get().messages.every(({ id }) => room.messages.has(id)) &&
      [...room.messages.values()].every((message) => sameJson(session.message(message.id).get(), message)),
  )
  await world.pass(300)
  await expectStored(chat, session, storage)
}

export const isEvents = (response: Response) => response.headers.get('content-type')?.includes('event-stream')
