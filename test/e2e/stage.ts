import { isDeepStrictEqual } from 'node:util'
import type { Browser, BrowserContext, LaunchOptions, Page } from 'playwright-core'
import type { Message } from 'tidemark'
import { textOf } from 'tidemark'
import { createChatHandler } from 'tidemark/server'
import { sqliteStore } from 'tidemark/server/sqlite'
import { type ScriptedModel, type ScriptStep, scriptedModel } from 'tidemark/testing'
import { expect } from 'vitest'
import { listen } from '../../demo/server/listen.ts'
import { launchBrowser } from '../support/browser.ts'
import { bundleOf } from './bundle.ts'
import { inDatabase } from './database.ts'
import { framesOf } from './frames.ts'
import { openWire, type Wire } from './wire.ts'

/** A request as it came in. */
export interface Asked {
  readonly line: string
  readonly session: string
  readonly request: Request
}

/** The package in real pages, a real server of it, and a wire between them that the test leads. */
export interface Stage {
  readonly browser: Browser
  readonly wire: Wire
  readonly model: ScriptedModel
  readonly asked: Asked[]
  /** What the model answers to a text. @default the text again, behind `re: ` */
  answer: (text: string) => ScriptStep
  /** Comes between a request and the server. */
  between: ((asked: Asked, serve: () => Promise<Response>) => Promise<Response>) | undefined
  /** Sessions of which events are told only up to this number. */
  readonly upTo: Map<string, number>
  /** Tells what was kept back. */
  release(session: string): void
  /** How many streams of events are open. */
  feeds(): number
  /** Opens a session in a page; without one, in a page of a new profile. */
  open(session: string, options?: OpenOptions): Promise<Page>
  /** Sends a text from elsewhere and reads its answer to the end. */
  say(session: string, text: string): Promise<void>
  /** The server's own word on a session. */
  truth(session: string): Promise<Message[]>
  /** The number of a session's last event. */
  lastEvent(session: string): Promise<number>
  close(): Promise<void>
}

export interface OpenOptions {
  /** Where. @default a new page */
  page?: Page | undefined
  /** Whose page a new one is. @default a new profile's */
  context?: BrowserContext
  /** What the page is asked for besides: `&listen` for `heard`, `&speed=` for a faster clock. */
  query?: string
}

export interface StageOptions {
  launch?: LaunchOptions
  /** Milliseconds between signs of life. @default 15_000 */
  heartbeat?: number
}

const PAGE = '<!doctype html><title>Stage</title><script type="module" src="/page.js"></script>'
const file = (text: string, type: string) => new Response(text, { headers: { 'content-type': type } })

export async function openStage({ launch, heartbeat = 15_000 }: StageOptions = {}): Promise<Stage> {
  const script = await bundleOf('test/e2e/stage-page.ts')
  const model = scriptedModel(({ messages }) => stage.answer(messages.map((one) => textOf(one)).at(-1) ?? ''))
  const store = sqliteStore(':memory:')
  const errors: unknown[] = []
  const handler = createChatHandler({
    store,
    model,
    basePath: '/api',
    heartbeat,
    batch: 1,
    limits: { requests: { max: 100_000, per: 60_000 } },
    onError: (error) => errors.push(error),
  })
  const waiting = new Map<string, (() => void)[]>()
  const isTold = (session: string, n: number) =>
    n <= (stage.upTo.get(session) ?? Number.POSITIVE_INFINITY)
      ? undefined
      : new Promise<void>((resolve) => {
          waiting.set(session, [...(waiting.get(session) ?? []), resolve])
        })
  const open = new Set<object>()
  const serve = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname === '/page.js') return file(script, 'text/javascript')
    if (!pathname.startsWith('/api/')) return file(PAGE, 'text/html')
    const [, , , session = ''] = pathname.split('/')
    const asked = { line: `${request.method} ${pathname.slice('/api'.length)}`, session, request }
    stage.asked.push(asked)
    const own = async () => {
      const response = await handler.fetch(request)
      if (!response.headers.get('content-type')?.includes('event-stream') || !response.body) return response
      const place = {}
      open.add(place)
      const body = framesOf(
        response.body,
        (n) => isTold(session, n),
        () => open.delete(place),
      )
      return new Response(body, response)
    }
    return stage.between ? stage.between(asked, own) : own()
  }
  const server = await listen(serve, { port: 0 })
  const wire = await openWire(server.port)
  const browser = await launchBrowser(launch)
  const api = (path: string, init?: RequestInit) =>
    handler.fetch(new Request(`http://server/api/sessions${path}`, init))
  const read = async (session: string) => {
    const response = await api(`/${session}/messages?limit=200`)
    const { messages = [], eventId = '0' } = await response.json()
    return { messages: messages as Message[], eventId: String(eventId) }
  }
  const truth = async (session: string) => (await read(session)).messages
  const stage: Stage = {
    browser,
    wire,
    model,
    asked: [],
    answer: (text) => `re: ${text}`,
    between: undefined,
    upTo: new Map(),
    release(session) {
      stage.upTo.delete(session)
      for (const resolve of waiting.get(session)?.splice(0) ?? []) resolve()
    },
    feeds: () => open.size,
    async open(session, { page: present, context, query = '' } = {}) {
      const page = present ?? (await (context ?? (await browser.newContext())).newPage())
      if (!present) page.on('pageerror', (error) => errors.push(error))
      await page.goto(`http://127.0.0.1:${wire.port}/?session=${session}${query}`)
      await ready(page)
      return page
    },
    async say(session, text) {
      const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
        const response = await api(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        })
        return response.text()
      }
      await post('', { id: session })
      const id = crypto.randomUUID()
      const parentId = (await truth(session)).at(-1)?.id ?? null
      const body = { id, runId: `run-${id}`, parentId, content: [{ type: 'text', text }] }
      await post(`/${session}/messages`, body, { 'idempotency-key': id, accept: 'text/event-stream' })
    },
    truth,
    lastEvent: async (session) => Number.parseInt((await read(session)).eventId, 10),
    async close() {
      await browser.close()
      await wire.close()
      await handler.close()
      await server.close()
      await store.close()
      expect(errors).toEqual([])
    },
  }
  return stage
}

/** Waits until a page's script has run. */
export const ready = (page: Page) => page.waitForFunction(() => 'stage' in window)

/** In the end a page shows what the server has, has stored what it shows, and nothing that must never be seen was. */
export async function expectInStep(stage: Stage, page: Page, session: string): Promise<Message[]> {
  const shown = () => page.evaluate(() => window.stage.session.get().messages)
  const patience = { timeout: 30_000 }
  await expect.poll(() => page.evaluate(() => window.stage.chat.health.get().outbox), patience).toBe(0)
  await expect
    .poll(async () => isDeepStrictEqual(await shown(), await stage.truth(session)), patience)
    .toBe(true)
  const truth = await stage.truth(session)
  const stored = async () => {
    const { messages, ...left } = await inDatabase(page, 'stage')
    return { messages: messages.filter(({ sessionId }) => sessionId === session), ...left }
  }
  await expect.poll(stored, patience).toEqual({ messages: truth, journal: 0, outbox: 0 })
  expect(await page.evaluate(() => window.stage.wrong)).toEqual([])
  return truth
}
