import type { OutboxRequest } from '../chat/ports.ts'
import type { Accepted, DispatchContext, PageQuery, Runtime, RuntimeHost } from '../chat/runtime-port.ts'
import { platformEnv } from '../lib/env.ts'
import { TidemarkError } from '../lib/errors.ts'
import { Session } from '../message/schema.ts'
import { decodeMessage, decodePage } from '../protocol/codec.ts'
import { isRecord, withoutNulls } from '../protocol/lenient.ts'
import { readEvents } from './events.ts'
import { createHttp, type HttpOptions } from './http.ts'

export interface RemoteOptions extends HttpOptions {
  /** Milliseconds without a byte after which the feed is opened again, where the server announces no heartbeat. @default 45_000 */
  silence?: number
}

/** Method and path below the session's URL of every request that the outbox can hold. */
const ROUTES: { readonly [T in OutboxRequest['type']]: readonly [method: string, path: string] } = {
  createSession: ['POST', ''],
  patchSession: ['PATCH', ''],
  deleteSession: ['DELETE', ''],
  send: ['POST', '/messages'],
  command: ['POST', '/commands'],
}

/** What a server without the route answers; such a server has no sessions to create, rename or delete. */
const hasNoRoute = (error: unknown) =>
  error instanceof TidemarkError && [404, 405, 501].includes(error.data.status ?? 0)

/**
 * A server owns the truth: this client mirrors it. The server speaks the protocol of DESIGN.md, or the little of it that a
 * minimal server has (`POST /sessions/:id/messages` answering with events, `GET /sessions/:id/messages?after=`).
 * @param options.url where `/sessions` lives, e.g. `/api`; relative to the page
 * @param options.headers sent with each request; may be async, and is asked again after a 401, once
 */
export function remote(options: RemoteOptions): Runtime {
  let env = platformEnv
  const http = createHttp(options)
  const base = (sessionId: string) => `/sessions/${encodeURIComponent(sessionId)}`
  const defaults = (sessionId: string) => ({ sessionId, now: env.now(), parentId: null })
  const events = (response: Response, sessionId: string, signal: AbortSignal) =>
    readEvents(response, { defaults: defaults(sessionId), env, signal, silence: options.silence })

  async function send(request: OutboxRequest, context: DispatchContext): Promise<Accepted> {
    const { sessionId, key, signal, feed } = context
    const [method, path] = ROUTES[request.type]
    const response = await http(
      method,
      request.type === 'createSession' ? '/sessions' : base(sessionId) + path,
      {
        signal,
        headers: {
          accept:
            feed || request.type !== 'send'
              ? 'application/json'
              : 'text/event-stream, application/json;q=0.5',
          ...(request.type === 'send' && { 'idempotency-key': key }),
        },
        body: 'body' in request ? request.body : undefined,
      },
    )
    if (response.headers.get('content-type')?.includes('text/event-stream')) {
      return { events: events(response, sessionId, signal) }
    }
    const answer: unknown = response.status === 204 ? undefined : await http.json(response)
    const message =
      isRecord(answer) && isRecord(answer.message) && decodeMessage(answer.message, defaults(sessionId))
    return message ? { message } : {}
  }

  return {
    truth: 'server',
    open(host: RuntimeHost) {
      env = host.env
    },
    async dispatch(request, context) {
      try {
        return await send(request, context)
      } catch (error) {
        // A minimal server knows sessions only by the messages sent to them; a deleted one is gone already.
        if (request.type !== 'send' && request.type !== 'command' && hasNoRoute(error)) return {}
        throw error
      }
    },
    async *follow(sessionId, cursor, signal) {
      const response = await http('GET', `${base(sessionId)}/events`, {
        signal,
        headers: { accept: 'text/event-stream', ...(cursor && { 'last-event-id': cursor }) },
      })
      yield { envelopes: [], malformed: 0 }
      yield* events(response, sessionId, signal)
    },
    async page(sessionId, query, signal) {
      const response = await http('GET', `${base(sessionId)}/messages?${search({ ...query })}`, { signal })
      const decoded = decodePage(await http.json(response), defaults(sessionId))
      if (!decoded) throw new TidemarkError('protocol', 'expected a page of messages: { messages: [...] }')
      return decoded
    },
    async sessions(query, signal) {
      const answer = await http.json(await http('GET', `/sessions?${search({ ...query })}`, { signal }))
      const list = isRecord(answer) && Array.isArray(answer.sessions) ? answer.sessions : []
      const sessions = list.flatMap((given) => {
        const parsed = Session.safeParse(withoutNulls(given))
        return parsed.success ? [parsed.data] : []
      })
      return { sessions, hasMore: isRecord(answer) && answer.hasMore === true }
    },
    async close() {},
  }
}

function search(query: Partial<Record<keyof PageQuery, string | number | null>>): URLSearchParams {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  return new URLSearchParams(given.map(([key, value]) => [key, String(value)]))
}
