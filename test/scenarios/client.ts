import { expect, onTestFinished } from 'vitest'
import { createChat } from '../../src/chat/create.ts'
import type { Chat, ChatOptions, ChatSession } from '../../src/chat/types.ts'
import type { Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { type RemoteOptions, remote } from '../../src/runtime/remote.ts'
import { expectStored, type WatchedStorage, watchedStorage } from '../chat/storages.ts'
import { createLine, type Line } from './line.ts'
import { createBrowser, type Page } from './page.ts'
import { pass, type Server, truthOf, until } from './server.ts'

export interface Client {
  name: string
  chat: Chat
  session: ChatSession
  storage: WatchedStorage
  line: Line
  page: Page
  server: Server
}

export interface ClientSetup
  extends Pick<RemoteOptions, 'headers' | 'silence' | 'tools'>,
    Pick<ChatOptions, 'account'> {
  name?: string
  storage?: WatchedStorage
  line?: Line
  /** @default alone in a browser of its own */
  page?: Page
  session?: string
}

/** A chat of the library as an app makes it, over that server. Closed when the test is over. */
export function openClient(server: Server, setup: ClientSetup = {}): Client {
  const { name = 'client', storage = watchedStorage(), account, session = 's', headers, silence } = setup
  const { tools, page = createBrowser().page() } = setup
  const line = setup.line ?? createLine(server.serve, server.traffic, name)
  const runtime = remote({
    url: 'http://server',
    fetch: line.fetch,
    ...(tools && { tools }),
    ...(headers && { headers }),
    ...(silence !== undefined && { silence }),
  })
  const chat = createChat({
    storage,
    env: server.world.env,
    runtime,
    platform: page.platform,
    ...(account && { account }),
  })
  onTestFinished(() => chat.close())
  return { name, chat, session: chat.session(session), storage, line, page, server }
}

/** The client as a page that was closed without a word, and opened again: what it had stored is there. */
export async function reload(
  client: Client,
  name: string,
  setup: Pick<ClientSetup, 'tools' | 'page'> = {},
): Promise<Client> {
  const kept = client.storage.reopen()
  client.storage.fail(() => true)
  client.line.online = false
  client.line.cut()
  await client.chat.close()
  return openClient(client.server, { ...setup, storage: kept, name })
}

/** In the end a client shows what the server has, has stored what it shows, and has nothing to send. */
export async function expectInStep(client: Client, id = 's'): Promise<Message[]> {
  const { server, session, chat, storage } = client
  const { messages, session: row } = await truthOf(server, id)
  const isSame = () =>
    chat.health.get().outbox === 0 &&
    messages.every((message) => session.message(message.id).get()?.rev === message.rev)
  await until(server, isSame)
  await pass(server, 300)
  for (const message of messages) expect(session.message(message.id).get()).toEqual(message)
  const known = new Set(messages.map((message) => message.id))
  expect(session.get().messages.filter((message) => !known.has(message.id))).toEqual([])
  expect(session.get().messages.at(-1)?.id ?? null).toBe(row?.headId ?? null)
  await expectStored(chat, session, storage)
  expect(server.errors).toEqual([])
  return messages
}

const RANK = { pending: 0, streaming: 1, completed: 2, failed: 2, interrupted: 2 } as const

/**
 * Looks at a session whenever it tells of something. In the end: of each message the text only ever grew, its status only
 * ever went forward and ended once, and `completed` was said of the whole text alone.
 */
export function watch({ session }: Client): { looks: number; expectTruthful(): void } {
  const seen = new Map<string, Message[]>()
  const watcher = {
    looks: 0,
    expectTruthful() {
      for (const versions of seen.values()) {
        const last = versions.at(-1)
        for (const [at, version] of versions.entries()) {
          const before = versions[at - 1]
          if (!before || !last || version.role !== 'assistant') continue
          expect(textOf(version).startsWith(textOf(before))).toBe(true)
          expect(RANK[version.status]).toBeGreaterThanOrEqual(RANK[before.status])
          if (RANK[before.status] === 2) expect(version.status).toBe(before.status)
          if (version.status === 'completed') expect(textOf(version)).toBe(textOf(last))
        }
      }
    },
  }
  session.subscribe(() => {
    watcher.looks++
    for (const message of session.get().messages) {
      const versions = seen.get(message.id) ?? []
      if (versions.at(-1) !== message) versions.push(message)
      seen.set(message.id, versions)
    }
  })
  return watcher
}
