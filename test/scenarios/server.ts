import { onTestFinished } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { MessagePage } from '../../src/protocol/events.ts'
import { createChatHandler } from '../../src/server/chat/handler.ts'
import type { ChatHandler, ChatHandlerOptions } from '../../src/server/chat/options.ts'
import type { HistoryStore } from '../../src/server/ports.ts'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { createWorld, idle, type World } from '../chat/world.ts'
import type { Traffic } from './line.ts'

/** A chat server, as a process of its own would be one: it can die, and be started again over the same database. */
export interface Server {
  world: World
  store: HistoryStore
  readonly traffic: Traffic
  /** What went wrong that the operator is told. */
  readonly errors: unknown[]
  serve(request: Request): Promise<Response>
  /** Dies at once: what it was doing writes nothing any more. */
  die(): void
  /** A new process over the same database, or another one. */
  start(options?: Partial<ChatHandlerOptions>): void
  /** Reads as a client without faults would. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
}

/** A store that is out of reach once its process is dead: nothing it is asked ever ends. */
function mortal(store: HistoryStore): { store: HistoryStore; die(): void } {
  let dead = false
  const never = new Promise<never>(() => {})
  const guard =
    <A extends unknown[], R>(call: (...given: A) => Promise<R>) =>
    (...given: A): Promise<R> =>
      dead ? never : call(...given).then((value) => (dead ? never : value))
  const { log } = store
  return {
    die() {
      dead = true
    },
    store: {
      transact: (...given) => (dead ? never : store.transact(...given)),
      read: guard(store.read),
      page: guard(store.page),
      sessions: guard(store.sessions),
      stale: guard(store.stale),
      unpublished: guard(store.unpublished),
      events: guard(store.events),
      markPublished: guard(store.markPublished),
      close: () => store.close(),
      ...(log && { log: { append: guard(log.append), read: guard(log.read), wait: log.wait } }),
    },
  }
}

/** A model that says again what it was told. */
const echo = () => scriptedModel(({ messages }) => `re: ${messages.map((message) => textOf(message)).at(-1)}`)

const gone = () => new TypeError('Failed to fetch')

export interface ServerSetup extends Partial<ChatHandlerOptions> {
  world?: World
  /** The database's file. @default in memory */
  file?: string
}

const requestOf = (...[method, path, body, headers = {}]: Parameters<Server['ask']>): Request =>
  new Request(`http://server${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

/** A server with a scripted model, closed when the test is over. Its clock is the world's. */
export function startServer({
  world = createWorld(),
  file = ':memory:',
  ...given
}: ServerSetup = {}): Server {
  const errors: unknown[] = []
  const traffic: Traffic = { pending: 0 }
  let handler: ChatHandler | undefined
  let kill = () => {}
  const server: Server = {
    world,
    store: given.store ?? sqliteStore(file),
    traffic,
    errors,
    serve: async (request) => {
      if (!handler) throw gone()
      const current = handler
      const response = await current.fetch(request)
      if (handler !== current) throw gone()
      return response
    },
    die() {
      handler = undefined
      kill()
    },
    start(options = {}) {
      const { store, die } = mortal(server.store)
      kill = die
      handler = createChatHandler({
        model: echo(),
        env: world.env,
        onError: (error) => errors.push(error),
        limits: { requests: { max: 100_000, per: 60_000 } },
        ...given,
        ...options,
        store,
      })
      const own = handler
      onTestFinished(() => {
        if (handler === own) return own.close()
        return undefined
      })
    },
    ask: (...given) => server.serve(requestOf(...given)),
  }
  server.start()
  return server
}

/** Lets everything happen that waits for nothing but its turn, digests of the platform included. */
export async function settle({ traffic }: Server): Promise<void> {
  await idle(6)
  while (traffic.pending > 0) await idle(2)
  await idle(6)
}

/** Lets time pass, and each request that it brings about be answered in it. */
export async function pass(server: Server, ms: number): Promise<void> {
  const { world } = server
  const last = world.env.now() + ms
  for (;;) {
    await settle(server)
    const left = last - world.env.now()
    if (left <= 0) return
    await world.pass(Math.min(left, 50, ms / 8))
  }
}

/** Waits until something holds, letting time pass where nothing else happens. */
export async function until(server: Server, holds: () => boolean, patience = 120_000): Promise<void> {
  const { world } = server
  const last = world.env.now() + patience
  for (let step = 20; ; step = Math.min(500, step * 1.2)) {
    await settle(server)
    if (holds()) return
    if (world.env.now() > last) throw new Error(`never: ${holds}`)
    await world.pass(step)
  }
}

/** What a promise ends with, letting time pass until it does. */
export async function ended<T>(server: Server, promise: Promise<T>): Promise<T> {
  let over = false
  const note = () => {
    over = true
  }
  promise.then(note, note)
  await until(server, () => over)
  return promise
}

/** The server's own word on a session. */
export async function truthOf(server: Server, id = 's'): Promise<MessagePage> {
  const response = await server.ask('GET', `/sessions/${id}/messages?limit=200`)
  return MessagePage.parse(await response.json())
}
