import type { OutboxRequest } from '../chat/ports.ts'
import type { Accepted, DispatchContext, PageQuery, Runtime, RuntimeHost } from '../chat/runtime-port.ts'
import { CallRecord } from '../context/call-record.ts'
import { type Env, platformEnv } from '../lib/env.ts'
import { TidemarkError } from '../lib/errors.ts'
import { Session } from '../message/schema.ts'
import { decodeMessage, decodePage } from '../protocol/codec.ts'
import { parseEventId } from '../protocol/events.ts'
import { isRecord, withoutNulls } from '../protocol/lenient.ts'
import type { Tool } from '../turn/tool.ts'
import { isEventStream, readEvents } from './events.ts'
import { createHttp, type Http, type HttpOptions } from './http.ts'

export interface RemoteOptions extends HttpOptions {
  /**
   * Tools of this page, for calls that the server leaves to it: there they are declared without `execute`. Arguments are
   * checked, `needsApproval` is asked in every tab and on every device, and the result goes through the outbox. Of the tabs of
   * one browser one executes a call, once; of several devices with the session open each may, and the first result counts.
   * How long the run waits for a result, and how much of it the model reads, the server's own tool of that name says.
   */
  tools?: readonly Tool[]
}

/** Method and path below the session's URL of every request that the outbox can hold. */
const ROUTES: { readonly [T in OutboxRequest['type']]: readonly [method: string, path: string] } = {
  createSession: ['POST', ''],
  patchSession: ['PATCH', ''],
  deleteSession: ['DELETE', ''],
  send: ['POST', '/messages'],
  command: ['POST', '/commands'],
  // Never asked: a server goes on by itself.
  resume: ['POST', '/commands'],
}

/** What a server without the route answers; such a server has no sessions to create, rename or delete. */
const hasNoRoute = (error: unknown, type: OutboxRequest['type']) =>
  error instanceof TidemarkError &&
  [404, 405, 501, ...(type === 'deleteSession' ? [410] : [])].includes(error.data.status ?? 0)

/** A session of a list, with what a minimal server leaves out. */
function decodeSession(given: unknown, now: number): Session[] {
  try {
    const clean = withoutNulls(given)
    if (!isRecord(clean)) return []
    const parsed = Session.safeParse({
      createdAt: now,
      updatedAt: now,
      metadata: {},
      headId: null,
      v: 1,
      ...clean,
    })
    return parsed.success ? [parsed.data] : []
  } catch (error) {
    // Nested too deeply to be read: it is not there.
    if (error instanceof RangeError) return []
    throw error
  }
}

/** The header that names the last event that is known. */
const after = (cursor?: string | null) => cursor && { 'last-event-id': cursor }

const base = (sessionId: string) => `/sessions/${encodeURIComponent(sessionId)}`

/** A server, and what is needed to read what it says. */
interface Line {
  readonly http: Http
  readonly silence: number | undefined
  env: Env
}

const defaultsOf = ({ env }: Line, sessionId: string, parentId: string | null = null) => ({
  sessionId,
  now: env.now(),
  parentId,
})

const eventsOf = (line: Line, open: () => Promise<Response>, sessionId: string, signal: AbortSignal) =>
  readEvents(open, {
    defaults: defaultsOf(line, sessionId),
    env: line.env,
    signal,
    silence: line.silence,
  })

/** By which event or revision what was asked is told. Most say neither. */
function toldOf(answer: unknown): { n?: number; rev?: number } {
  if (!isRecord(answer)) return {}
  const { eventId, session = answer } = answer
  const n = typeof eventId === 'string' ? parseEventId(eventId)?.n : undefined
  const rev = isRecord(session) && typeof session.rev === 'number' ? session.rev : undefined
  return { ...(n && { n }), ...(rev && { rev }) }
}

async function send(line: Line, request: OutboxRequest, context: DispatchContext): Promise<Accepted> {
  const { sessionId, key, signal, feed, cursor } = context
  const [method, path] = ROUTES[request.type]
  const streams = request.type === 'send' && !feed
  const response = await line.http(
    method,
    request.type === 'createSession' ? '/sessions' : base(sessionId) + path,
    {
      signal,
      headers: {
        accept: streams ? 'text/event-stream, application/json;q=0.5' : 'application/json',
        ...(request.type === 'send' && { 'idempotency-key': key }),
        ...(streams && after(cursor)),
      },
      body: 'body' in request ? request.body : undefined,
    },
  )
  if (isEventStream(response)) return { events: eventsOf(line, async () => response, sessionId, signal) }
  const answer = await line.http.json(response)
  const given = isRecord(answer) && isRecord(answer.message) ? answer.message : undefined
  const message = given && decodeMessage(given, defaultsOf(line, sessionId))
  return { ...(message && { message }), told: toldOf(answer) }
}

async function dispatch(line: Line, request: OutboxRequest, context: DispatchContext): Promise<Accepted> {
  try {
    return await send(line, request, context)
  } catch (error) {
    const { type } = request
    // A minimal server knows sessions only by the messages sent to them; a deleted one is gone already.
    if (type !== 'send' && type !== 'command' && hasNoRoute(error, type)) return {}
    throw error
  }
}

async function list(line: Line, query: { after?: string; limit: number }, signal: AbortSignal) {
  const answer = await line.http.json(await line.http('GET', `/sessions?${search({ ...query })}`, { signal }))
  const { sessions, hasMore } = isRecord(answer) ? answer : { sessions: answer, hasMore: false }
  const given: unknown[] = Array.isArray(sessions) ? sessions : []
  return { sessions: given.flatMap((one) => decodeSession(one, line.env.now())), hasMore: hasMore === true }
}

/** The records of calls that a server keeps; most keep none, or do not say. */
async function calls({ http }: Line, sessionId: string, signal: AbortSignal): Promise<CallRecord[]> {
  try {
    const answer = await http.json(await http('GET', `${base(sessionId)}/calls`, { signal }))
    const given: unknown[] = isRecord(answer) && Array.isArray(answer.calls) ? answer.calls : []
    return given.flatMap((one) => CallRecord.safeParse(one).data ?? [])
  } catch (thrown) {
    if (thrown instanceof TidemarkError && thrown.code === 'not-found') return []
    throw thrown
  }
}

/**
 * A server owns the truth: this client mirrors it. The server speaks the protocol of DESIGN.md, or the little of it that a
 * minimal server has (`POST /sessions/:id/messages` answering with events, `GET /sessions/:id/messages?after=`).
 * @param options.url where `/sessions` lives, e.g. `/api`; relative to the page
 * @param options.headers sent with each request; may be async, and is asked again after a 401, once
 */
export function remote(options: RemoteOptions): Runtime {
  let account: string | undefined
  const http = createHttp(
    options,
    () => account,
    () => line.env,
  )
  const line: Line = { http, silence: options.silence, env: platformEnv }
  const { tools } = options
  let host: RuntimeHost | undefined
  return {
    truth: 'server',
    open(lent) {
      host = lent
      line.env = lent.env
      account = lent.account
    },
    dispatch: (request, context) => dispatch(line, request, context),
    follow(sessionId, cursor, signal) {
      const headers = { accept: 'text/event-stream', ...after(cursor) }
      const open = () => http('GET', `${base(sessionId)}/events`, { signal, headers })
      return eventsOf(line, open, sessionId, signal)
    },
    async page(sessionId, { cursor, ...query }, signal) {
      const path = `${base(sessionId)}/messages?${search(query)}`
      const response = await http('GET', path, { signal, headers: after(cursor) || {} })
      const decoded = decodePage(await http.json(response), defaultsOf(line, sessionId, query.after))
      if (!decoded) throw new TidemarkError('protocol', 'expected a page of messages: { messages: [...] }')
      return decoded
    },
    sessions: (query, signal) => list(line, query, signal),
    calls: (sessionId, signal) => calls(line, sessionId, signal),
    ...(tools && {
      async serve(served) {
        const tool = tools.find(({ spec }) => spec.name === served.message.toolName)
        return host && tool?.serve?.(served, host)
      },
    }),
    async close() {},
  }
}

function search(query: Partial<Record<keyof PageQuery, string | number | null>>): URLSearchParams {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  return new URLSearchParams(given.map(([key, value]) => [key, String(value)]))
}
