import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { serveStatic } from '@hono/node-server/serve-static'
import { type Context, Hono } from 'hono'
import { type Chat, createChat, defaultContext, memoryStorage, remote } from 'tidemark'
import { openaiChat } from 'tidemark/openai-chat'
import { createChatHandler, createProxyHandler } from 'tidemark/server'
import { sqliteStore } from 'tidemark/server/sqlite'
import type { StandInOptions } from '../stand-in.ts'
import { toolsOf } from '../tools.ts'
import { pageHeaders, sameSite } from './guard.ts'
import { listen } from './listen.ts'
import { builtPage } from './page.ts'
import { openUpstream, type Settings, type Upstream } from './upstream.ts'

export interface DemoOptions {
  /** Where sessions are kept: a SQLite file, made where it is absent. */
  database: string
  /** 0: any free one. @default 0 */
  port?: number
  /** How many ports above it are tried where it is taken. @default 0 */
  tries?: number
  /** @default '127.0.0.1' */
  host?: string
  /** `OPENAI_BASE_URL`, `OPENAI_API_KEY`, `OPENAI_MODEL`. @default {} */
  env?: Settings
  /** How the stand-in answers, where it does. */
  standIn?: StandInOptions
}

export interface Demo {
  url: string
  /** Stops the runs, which are kept as far as they came, and ends all connections. */
  close(): Promise<void>
}

const SYSTEM = 'You are a calm, precise assistant. Answer in Markdown, briefly where that is enough.'

/** Tokens that the stand-in is taken to hold, of which nothing is known by its name. */
const STAND_IN_WINDOW = 16_000

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost'])

/** The chat server: owns the sessions and runs the turns of `remote`. */
async function openChat(database: string, { model, baseURL, apiKey, standIn }: Upstream) {
  await mkdir(dirname(database), { recursive: true })
  const store = sqliteStore(database)
  // Runs within runs are sessions of the same server: it talks to itself.
  let inner: Chat | undefined
  const innerChat = () => {
    const runtime = remote({ url: 'http://demo/api', fetch: (to, init) => chat.fetch(new Request(to, init)) })
    inner ??= createChat({ storage: memoryStorage(), runtime })
    return inner
  }
  const chat = createChatHandler({
    store,
    model: openaiChat(model, { baseURL, ...(apiKey && { apiKey }) }),
    system: SYSTEM,
    tools: toolsOf(innerChat),
    context: defaultContext(standIn ? { window: STAND_IN_WINDOW } : {}),
    basePath: '/api',
    // How long the answers of a killed process may look alive.
    lease: 5000,
    onError: (error) => console.error(error),
  })
  await chat.start()
  return {
    fetch: chat.fetch,
    async close() {
      await inner?.close()
      await chat.close()
      await store.close()
    },
  }
}

/** The thin proxy: adds the key to what the page asks in `direct`. */
function openProxy({ model, baseURL, apiKey }: Upstream) {
  const headers = apiKey && { authorization: `Bearer ${apiKey}` }
  const openai = { baseURL, paths: ['/chat/completions'], models: [model], ...(headers && { headers }) }
  return createProxyHandler({
    basePath: '/llm',
    upstreams: { openai },
    onError: (error) => console.error(error),
  })
}

const FOREVER = 'public, max-age=31536000, immutable'

/** The page, the chat server and the proxy under one address. */
async function createApp(options: DemoOptions, upstream: Upstream) {
  const { database, host = '127.0.0.1' } = options
  const { model, standIn } = upstream
  const root = await builtPage()
  const chat = await openChat(database, upstream)
  const proxy = openProxy(upstream)
  const app = new Hono()
  app.use('*', pageHeaders())
  app.use('/api/*', sameSite(LOOPBACK.has(host)))
  app.use('/llm/*', sameSite(LOOPBACK.has(host)))
  app.all('/api/*', (context) => chat.fetch(context.req.raw))
  app.all('/llm/*', (context) => proxy.fetch(context.req.raw))
  app.get('/config.json', (context) => {
    context.header('cache-control', 'no-store')
    return context.json({ model, standIn })
  })
  // The names of what was built change with its content.
  const onFound = (path: string, context: Context) =>
    context.header('cache-control', path.includes('/assets/') ? FOREVER : 'no-cache')
  app.get('*', serveStatic({ root, onFound }))
  return { fetch: app.fetch, close: chat.close }
}

/** Ends what was begun, last first. */
async function closeAll(begun: readonly { close(): Promise<void> }[]): Promise<void> {
  for (const part of begun.toReversed()) await part.close()
}

/** Starts the demo on one port of this machine. What was begun is ended again where a later part cannot start. */
export async function startDemo(options: DemoOptions): Promise<Demo> {
  const { port = 0, tries = 0, host = '127.0.0.1', env = {}, standIn = {} } = options
  const begun: { close(): Promise<void> }[] = []
  try {
    const upstream = await openUpstream(env, standIn)
    begun.push(upstream)
    const app = await createApp(options, upstream)
    begun.push(app)
    const server = await listen((request) => app.fetch(request), { port, host, tries })
    begun.splice(1, 0, server)
    const name = host.includes(':') ? `[${host}]` : host
    return { url: `http://${name}:${server.port}`, close: () => closeAll(begun) }
  } catch (error) {
    await closeAll(begun)
    throw error
  }
}
