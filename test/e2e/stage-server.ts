import type { Message } from 'tidemark'
import { textOf } from 'tidemark'
import { createChatHandler } from 'tidemark/server'
import { sqliteStore } from 'tidemark/server/sqlite'
import { type ScriptedModel, type ScriptStep, scriptedModel } from 'tidemark/testing'
import { listen } from '../../demo/server/listen.ts'
import { framesOf } from './frames.ts'

/** A request as it came in. */
export interface Asked {
  readonly line: string
  readonly session: string
  readonly request: Request
}

/** Tells the events of a session up to a number, and keeps back what comes after. */
interface Gate {
  upTo(session: string, n: number): void
  /** Tells what was kept back, and what is to come. */
  release(session: string): void
}

/** A real server of the package that a test can look into, and what it serves besides: a page with one script. */
export interface StageServer extends Gate {
  readonly port: number
  readonly model: ScriptedModel
  readonly asked: Asked[]
  /** What went wrong that nobody was told of. */
  readonly errors: unknown[]
  /** What the model answers to a text. @default the text again, behind `re: ` */
  answer: (text: string) => ScriptStep
  /** Comes between a request and the server. */
  between: ((asked: Asked, serve: () => Promise<Response>) => Promise<Response>) | undefined
  /** How many streams of events are open. */
  feeds(): number
  /** Sends a text from elsewhere and reads its answer to the end. */
  say(session: string, text: string): Promise<void>
  /** The server's own word on a session. */
  truth(session: string): Promise<Message[]>
  /** The number of a session's last event. */
  lastEvent(session: string): Promise<number>
  close(): Promise<void>
}

const OPTIONS = { basePath: '/api', batch: 1, limits: { requests: { max: 100_000, per: 60_000 } } }

/** A page that does nothing but run its script. */
export const PAGE = '<!doctype html><title>Stage</title><script type="module" src="/page.js"></script>'
const file = (text: string, type: string) => new Response(text, { headers: { 'content-type': type } })

export const isEvents = ({ headers }: Response) => headers.get('content-type')?.includes('event-stream')

function createGate(): Gate & { told(session: string, n: number): Promise<void> | undefined } {
  const limits = new Map<string, { n: number; waiting: (() => void)[] }>()
  const release = (session: string) => {
    const limit = limits.get(session)
    limits.delete(session)
    for (const resolve of limit?.waiting ?? []) resolve()
  }
  return {
    release,
    upTo: (session, n) => void limits.set(session, { n, waiting: [] }),
    told(session, n) {
      const limit = limits.get(session)
      return limit && n > limit.n ? new Promise((resolve) => limit.waiting.push(resolve)) : undefined
    },
  }
}

/** What a test asks the server, past all that lies between. */
function asker(fetch: (request: Request) => Promise<Response>) {
  const ask = (path: string, init?: RequestInit) =>
    fetch(new Request(`http://server/api/sessions${path}`, init))
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
    return (await ask(path, { ...init, body: JSON.stringify(body) })).text()
  }
  const read = async (session: string) => {
    const { messages = [], eventId = '0' } = await (await ask(`/${session}/messages?limit=200`)).json()
    return { messages: messages as Message[], eventId: String(eventId) }
  }
  const truth = async (session: string) => (await read(session)).messages
  return {
    truth,
    lastEvent: async (session: string) => Number.parseInt((await read(session)).eventId, 10),
    async say(session: string, text: string) {
      await post('', { id: session })
      const id = crypto.randomUUID()
      const parentId = (await truth(session)).at(-1)?.id ?? null
      const body = { id, runId: `run-${id}`, parentId, content: [{ type: 'text', text }] }
      await post(`/${session}/messages`, body, { 'idempotency-key': id, accept: 'text/event-stream' })
    },
  }
}

/** A connection that idles is given up by servers and browsers, soon or late: here at once, so that a test need not wait. */
function withoutKeepAlive(response: Response): Response {
  const headers = new Headers(response.headers)
  headers.set('connection', 'close')
  return new Response(response.body, { status: response.status, headers })
}

/** What the server answers, its events counted and kept back. */
function counted(
  fetch: (request: Request) => Promise<Response>,
  told: ReturnType<typeof createGate>['told'],
) {
  const open = new Set<object>()
  return {
    feeds: () => open.size,
    async answerTo({ request, session }: Asked): Promise<Response> {
      const response = await fetch(request)
      if (!isEvents(response) || !response.body) return response
      const place = {}
      open.add(place)
      const passes = (n: number) => told(session, n)
      const body = framesOf(response.body, passes, () => open.delete(place))
      return new Response(body, response)
    },
  }
}

export async function openStageServer(script: string, heartbeat: number): Promise<StageServer> {
  const errors: unknown[] = []
  const store = sqliteStore(':memory:')
  const model = scriptedModel(({ messages }) => stage.answer(messages.map((one) => textOf(one)).at(-1) ?? ''))
  const handler = createChatHandler({
    ...OPTIONS,
    store,
    model,
    heartbeat,
    onError: (error) => errors.push(error),
  })
  const gate = createGate()
  const { answerTo, feeds } = counted(handler.fetch, gate.told)
  const server = await listen(
    async (request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/page.js') return file(script, 'text/javascript')
      if (!pathname.startsWith('/api/')) return file(PAGE, 'text/html')
      const [, , , session = ''] = pathname.split('/')
      const asked = { line: `${request.method} ${pathname.slice('/api'.length)}`, session, request }
      stage.asked.push(asked)
      return withoutKeepAlive(
        await (stage.between ? stage.between(asked, () => answerTo(asked)) : answerTo(asked)),
      )
    },
    { port: 0 },
  )
  const stage: StageServer = {
    ...gate,
    ...asker(handler.fetch),
    port: server.port,
    model,
    asked: [],
    errors,
    answer: (text) => `re: ${text}`,
    between: undefined,
    feeds,
    async close() {
      await handler.close()
      await server.close()
      await store.close()
    },
  }
  return stage
}
