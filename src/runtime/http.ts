import type { Env } from '../lib/env.ts'
import { ErrorData } from '../lib/error-data.ts'
import { isAbort, isRetryable, TidemarkError } from '../lib/errors.ts'
import { expectOption } from '../lib/expect.ts'
import { traceparentAfter } from '../lib/trace.ts'
import { isRecord } from '../protocol/lenient.ts'
import { retryAfterOf } from './retry-after.ts'
import { answerOf, SILENCE, textOf } from './silence.ts'

type HeadersLike = Readonly<Record<string, string>>

/** Who is signed in, and what proves it. */
export interface Identity {
  account: string
  headers: HeadersLike
}

export interface HttpOptions {
  /** Where the API lives. */
  url: string
  /**
   * Sent with each request, e.g. a bearer token. A function is asked for each request, and again after a 401, once. One that
   * answers with `account` as well sees to it that nothing is asked for or sent under another account than that of
   * `createChat`: then the request fails with `auth`, and what waits in the outbox goes on waiting.
   */
  headers?: HeadersLike | (() => HeadersLike | Identity | Promise<HeadersLike | Identity>)
  /** @default the platform's */
  fetch?: typeof fetch
  /**
   * Whether each request carries a W3C `traceparent`. Turn it off for a server of another origin that does not allow the
   * header. @default true
   */
  trace?: boolean
  /** Whether cookies go along. @default 'same-origin' */
  credentials?: RequestCredentials
  /**
   * Milliseconds without a byte after which a request is given up with `timeout` and made again: while its answer has not
   * begun, `headers` included, and while what has begun does not go on. An open feed goes by the heartbeat that the server
   * announces, if it does. Raise it for a server whose answer to a message begins late. @default 45_000
   */
  silence?: number
}

interface HttpRequest {
  signal: AbortSignal
  headers?: HeadersLike
  body?: unknown
}

/** One request; resolves with a 2xx answer, throws `TidemarkError` for everything else. */
export interface Http {
  (method: string, path: string, request: HttpRequest): Promise<Response>
  /**
   * The answer's JSON, undefined for an empty one; throws `protocol` where it is none (with its status, unless it is a page
   * for people), `network` where it is cut off,
   * `timeout` where it does not go on.
   */
  json(response: Response): Promise<unknown>
}

const CODES: Readonly<Record<number, ErrorData['code']>> = {
  401: 'auth',
  403: 'auth',
  404: 'not-found',
  405: 'not-found',
  408: 'timeout',
  409: 'conflict',
  410: 'not-found',
  425: 'server',
  429: 'rate-limit',
  501: 'not-found',
}

/** The code of a failed answer. What the status says of trying again stands, whatever the words say. */
function codeOf(status: number, given?: ErrorData['code']): ErrorData['code'] {
  // A redirection that leads nowhere refuses nothing.
  const isRefusal = status >= 400 && status < 500
  const code = CODES[status] ?? (isRefusal ? 'invalid-request' : 'server')
  return given && isRetryable({ code: given }) === isRetryable({ code }) ? given : code
}

/** Characters of an answer's own words that are kept. */
const MOST_WORDS = 1_000

/** The error a failed answer stands for: its own words where it has any. */
function errorOf({ status, headers }: Response, text: string, traceparent: string): TidemarkError {
  // A date is told by the server's own clock.
  const wait = retryAfterOf(headers, Date.parse(headers.get('date') ?? ''))
  const known = { status, traceId: traceparent.slice(3, 35), ...(wait !== undefined && { retryAfter: wait }) }
  try {
    const body: unknown = JSON.parse(text)
    const given = ErrorData.safeParse(isRecord(body) ? body.error : undefined)
    if (given.success) {
      const { code, message, ...rest } = given.data
      return new TidemarkError(codeOf(status, code), message.slice(0, MOST_WORDS), { ...rest, ...known })
    }
  } catch {
    // Not JSON: a proxy's page, or nothing. The status says enough.
  }
  return new TidemarkError(codeOf(status), `the server answered ${status}`, known)
}

/** What ended a request, or the reading of its answer. */
function endOf(cause: unknown, isAborted: boolean, otherwise: string): TidemarkError {
  if (isAborted || isAbort(cause)) return new TidemarkError('aborted', 'the request was aborted', { cause })
  // Given up, or what asking for the headers threw: that may know better.
  return cause instanceof TidemarkError ? cause : new TidemarkError('network', otherwise, { cause })
}

/** A page for people comes from somebody in between, such as who asks a guest to sign in: then the server has said nothing. */
const isPage = ({ headers }: Response) => headers.get('content-type')?.includes('text/html')

async function jsonOf(response: Response, reading: Promise<string>): Promise<unknown> {
  const text = await reading.catch((cause: unknown) => {
    throw endOf(cause, false, 'the answer was cut off')
  })
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    const told = isPage(response) ? {} : { status: response.status }
    throw new TidemarkError('protocol', 'the answer is not JSON', { ...told, cause })
  }
}

const isIdentity = (given: HeadersLike | Identity | undefined): given is Identity =>
  typeof given?.headers === 'object'

/** The headers of a request, where they are those of this account. */
function headersFor(given: HeadersLike | Identity | undefined, account: string | undefined) {
  if (!isIdentity(given)) return given
  if (given.account === account) return given.headers
  throw new TidemarkError('auth', 'somebody else is signed in than the account of this chat')
}

/**
 * Requests below one URL. Headers are asked for anew after a 401, once, so that a rotated token goes through.
 * @param account whose requests these are
 * @param env time, and the chance that ids of traces are made of
 */
export function createHttp(
  { url, headers, fetch: given, credentials = 'same-origin', trace = true, silence = SILENCE }: HttpOptions,
  account: () => string | undefined,
  env: () => Env,
): Http {
  expectOption(typeof url === 'string', 'url: expected where /sessions lives, such as "/api"')
  const base = url.replace(/\/+$/, '')
  const own = async () => headersFor(typeof headers === 'function' ? await headers() : headers, account())

  async function ask(method: string, path: string, request: HttpRequest): Promise<Response> {
    const body = request.body === undefined ? null : JSON.stringify(request.body)
    const fetchNow = given ?? globalThis.fetch
    const all = {
      ...(body !== null && { 'content-type': 'application/json' }),
      ...request.headers,
      ...(await own()),
    }
    const { signal } = request
    return fetchNow(base + path, { method, body, credentials, cache: 'no-store', signal, headers: all })
  }

  // What is over: nothing of it is left on a signal that lives as long as its chat.
  const lines = new WeakMap<Response, AbortController>()
  const end = (response: Response) => lines.get(response)?.abort()

  async function once(method: string, path: string, request: HttpRequest): Promise<Response> {
    const line = new AbortController()
    const askOn = (own: AbortSignal) => ask(method, path, { ...request, signal: own })
    const response = await answerOf(askOn, request.signal, silence, env(), line).catch((cause: unknown) => {
      throw endOf(cause, request.signal.aborted, 'the server cannot be reached')
    })
    lines.set(response, line)
    return response
  }

  const read = (response: Response) => textOf(response, silence, env()).finally(() => end(response))
  const http = async (method: string, path: string, given: HttpRequest): Promise<Response> => {
    const traceparent = traceparentAfter(undefined, env().random)
    const request = trace ? { ...given, headers: { traceparent, ...given.headers } } : given
    let response = await once(method, path, request)
    if (response.status === 401 && typeof headers === 'function') {
      // Nobody reads it: the connection is free for the next request.
      end(response)
      response = await once(method, path, request)
    }
    if (!response.ok) throw errorOf(response, await read(response).catch(() => ''), traceparent)
    return response
  }
  return Object.assign(http, { json: (response: Response) => jsonOf(response, read(response)) })
}
