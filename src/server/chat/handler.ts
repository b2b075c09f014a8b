import { TidemarkError } from '../../lib/errors.ts'
import { expectOption, hasMethod } from '../../lib/expect.ts'
import { traceOf, traceparentAfter } from '../../lib/trace.ts'
import { expectTools } from '../../turn/tool.ts'
import { corsHeaders, preflight, withHeaders } from '../http/cors.ts'
import { errorResponse, isUnexpected, publicError } from '../http/errors.ts'
import { getCalls } from './calls.ts'
import { postCommand } from './commands.ts'
import { type ChatContext, createContext } from './context.ts'
import { getEvents } from './events.ts'
import { getMessages, postMessage } from './messages.ts'
import type { ChatHandler, ChatHandlerOptions, FetchContext } from './options.ts'
import { type Call, idOf } from './request.ts'
import { closeRuns, type Runs } from './runs.ts'
import { deleteSessionRoute, getSession, listSessions, patchSessionRoute, postSession } from './sessions.ts'
import { keepSweeping, sweep } from './sweep.ts'

type Route = (call: Call) => Promise<Response>

/** Every path below `basePath`, with what each method does there. */
const ROUTES: readonly { path: RegExp; methods: Readonly<Record<string, Route>> }[] = [
  { path: /^\/sessions$/, methods: { GET: listSessions, POST: postSession } },
  {
    path: /^\/sessions\/([^/]+)$/,
    methods: { GET: getSession, PATCH: patchSessionRoute, DELETE: deleteSessionRoute },
  },
  { path: /^\/sessions\/([^/]+)\/messages$/, methods: { GET: getMessages, POST: postMessage } },
  { path: /^\/sessions\/([^/]+)\/events$/, methods: { GET: getEvents } },
  { path: /^\/sessions\/([^/]+)\/calls$/, methods: { GET: getCalls } },
  { path: /^\/sessions\/([^/]+)\/commands$/, methods: { POST: postCommand } },
]

interface Match {
  /** Undefined where the path knows no such method. */
  route: Route | undefined
  allowed: string
  sessionId: string
}

function match(path: string, method: string): Match {
  for (const { path: pattern, methods } of ROUTES) {
    const found = pattern.exec(path)
    if (!found) continue
    return {
      route: Object.hasOwn(methods, method) ? methods[method] : undefined,
      allowed: Object.keys(methods).join(', '),
      sessionId: found[1] === undefined ? '' : idOf(found[1], 'session'),
    }
  }
  throw new TidemarkError('not-found', 'no such path')
}

async function accountOf({ options }: ChatContext, request: Request): Promise<string> {
  const account = options.authorize ? await options.authorize(request) : 'default'
  if (account === null || account === '') throw new TidemarkError('auth', 'not authorised')
  return account
}

async function answer(
  ctx: ChatContext,
  runs: Runs,
  request: Request,
  traceparent: string,
  platform?: FetchContext,
): Promise<Response> {
  if (ctx.closing.aborted) {
    throw new TidemarkError('server', 'the server is shutting down', { status: 503, retryAfter: 1000 })
  }
  const url = new URL(request.url)
  const { basePath = '' } = ctx.options
  const path = url.pathname.startsWith(basePath) ? url.pathname.slice(basePath.length) : ''
  const account = await accountOf(ctx, request)
  ctx.rate.admit(account)
  const { route, allowed, sessionId } = match(path, request.method)
  if (route) return route({ request, url, account, sessionId, traceparent, ctx, runs, platform })
  const message = `${request.method} is not possible here; expected ${allowed}`
  return errorResponse({ code: 'invalid-request', message, status: 405 }, { allow: allowed })
}

/**
 * The chat protocol over HTTP (section 4 of the design): a function from web-standard request to response that mounts
 * anywhere. Errors are answered as `{ error: ErrorData }`: 400 names the field, 401 nobody, 404 not there (another
 * account's is not there either), 409 in use, 410 deleted, 413 too large, 429 too often.
 *
 * ```ts
 * const chat = createChatHandler({ store: sqliteStore('chat.db'), model: openaiChat('gpt-4o-mini', { … }) })
 * serve({ fetch: chat.fetch })
 * ```
 */
export function createChatHandler(options: ChatHandlerOptions): ChatHandler {
  const { store, model, tools } = options ?? {}
  expectOption(hasMethod(store, 'transact'), 'store: expected a HistoryStore, such as sqliteStore(path)')
  expectOption(hasMethod(model, 'stream'), 'model: expected a model, such as openaiChat(name, options)')
  expectTools(tools)
  const closing = new AbortController()
  const ctx = createContext(options, closing.signal)
  const runs: Runs = new Map()
  let started: Promise<void> | undefined
  let sweeping: Promise<void> | undefined
  let closed: Promise<void> | undefined

  /** Not at creation: some platforms allow no work before the first request. */
  function start(): Promise<void> {
    started ??= sweep(ctx, runs).finally(() => {
      sweeping = keepSweeping(ctx, runs)
    })
    return started
  }

  async function end(): Promise<void> {
    for (const endStream of [...ctx.streams]) endStream()
    await closeRuns(ctx, runs)
    // Told to whoever started it.
    await started?.catch(() => undefined)
    await sweeping
  }

  return {
    start,
    async fetch(request, platform) {
      const cors = corsHeaders(request, options.cors)
      if (request.method === 'OPTIONS') return preflight(request, options.cors)
      const traceparent = traceparentAfter(request.headers.get('traceparent'), ctx.env.random)
      try {
        // Told once; the requests themselves take over what they meet.
        if (!started && !closing.signal.aborted) start().catch(ctx.report)
        return withHeaders(await answer(ctx, runs, request, traceparent, platform), cors)
      } catch (error) {
        if (isUnexpected(error)) ctx.report(error)
        return errorResponse({ traceId: traceOf(traceparent)?.traceId, ...publicError(error) }, cors)
      }
    },
    close() {
      closing.abort()
      closed ??= end()
      return closed
    },
  }
}
