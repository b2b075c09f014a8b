import * as z from 'zod/mini'
import { TidemarkError } from '../../lib/errors.ts'
import { Id } from '../../message/schema.ts'
import { type EventId, parseEventId } from '../../protocol/events.ts'
import { liveSession } from '../decide/draft.ts'
import { isLapsed } from '../decide/runs.ts'
import { parse } from '../http/body.ts'
import { streamHeaders, textStream } from '../http/stream.ts'
import type { Scope, SessionRow } from '../ports.ts'
import type { ChatContext } from './context.ts'
import { type FeedOptions, follow } from './feed.ts'
import type { FetchContext } from './options.ts'
import { advanceSession, type Runs } from './runs.ts'

/** One authorised request, as a route sees it. */
export interface Call {
  request: Request
  url: URL
  account: string
  /** From the path; empty where the path has none. */
  sessionId: string
  /** The step of a trace that the request is: the caller's, or one of its own. */
  traceparent: string
  ctx: ChatContext
  runs: Runs
  platform: FetchContext | undefined
}

export const scopeOf = ({ account, sessionId }: Call): Scope => ({ account, sessionId })

/** The session to read from, once a run whose producer is gone has been ended. */
export async function openSession({ ctx, runs, platform, ...call }: Call): Promise<SessionRow> {
  const scope: Scope = { account: call.account, sessionId: call.sessionId }
  const view = await ctx.store.read(scope, {})
  const session = liveSession(view)
  if (isLapsed(view.active, ctx.env.now())) await advanceSession(ctx, runs, scope, platform)
  return session
}

/** Parameters of the query, by schema. An empty one counts as absent. */
export function query<T extends z.ZodMiniType>({ url }: Call, schema: T): z.output<T> {
  return parse(schema, Object.fromEntries([...url.searchParams].filter(([, value]) => value !== '')))
}

/** The last event that the reader has: from the header that `EventSource` sends by itself, or else as given. */
export function lastEvent({ request }: Call, given?: string): EventId | undefined {
  const text = request.headers.get('last-event-id') || given
  if (!text) return undefined
  const id = parseEventId(text)
  if (id) return id
  throw new TidemarkError('invalid-request', 'last-event-id: expected <number>.<tag>')
}

/** How many rows a page may have: asked for, but no more than is allowed. */
export const Limit = z.optional(
  z.pipe(
    z.string().check(z.regex(/^[1-9]\d{0,6}$/)),
    z.transform((text: string) => Number(text)),
  ),
)

export function pageSize({ ctx }: Call, asked: number | undefined): number {
  return Math.min(asked ?? 50, ctx.limits.page)
}

/** An id of the path or the query. */
export function idOf(value: string, field: string): string {
  if (Id.safeParse(value).success) return value
  throw new TidemarkError('invalid-request', `${field}: expected an id of A-Z, a-z, 0-9, _ and -, at most 64`)
}

/** An event stream as an answer. It ends with the reader, with the request, and with the handler. */
export function streamEvents(
  { ctx, request }: Call,
  release: () => void,
  options: Omit<FeedOptions, 'signal'>,
): Response {
  const over = new AbortController()
  const { signal } = over
  const end = () => over.abort()
  if (ctx.closing.aborted || request.signal.aborted) end()
  ctx.streams.add(end)
  request.signal.addEventListener('abort', end, { once: true })
  const body = textStream(follow(ctx, { ...options, signal }), () => {
    end()
    ctx.streams.delete(end)
    request.signal.removeEventListener('abort', end)
    release()
  })
  return new Response(body, { headers: streamHeaders(ctx.heartbeat) })
}
