import { ErrorData, isAbort, TidemarkError } from '../lib/errors.ts'
import { isRecord } from '../protocol/lenient.ts'

type HeadersLike = Readonly<Record<string, string>>

export interface HttpOptions {
  /** Where the API lives. */
  url: string
  /** Sent with each request, e.g. a bearer token. */
  headers?: HeadersLike | (() => HeadersLike | Promise<HeadersLike>)
  /** @default the platform's */
  fetch?: typeof fetch
  /** Whether cookies go along. @default 'same-origin' */
  credentials?: RequestCredentials
}

interface HttpRequest {
  signal: AbortSignal
  headers?: HeadersLike
  body?: unknown
}

/** One request; resolves with a 2xx answer, throws `TidemarkError` for everything else. */
export interface Http {
  (method: string, path: string, request: HttpRequest): Promise<Response>
  /** The answer's JSON; throws `protocol` where it is none. */
  json(response: Response): Promise<unknown>
}

const CODES: Readonly<Record<number, ErrorData['code']>> = {
  401: 'auth',
  403: 'auth',
  404: 'not-found',
  408: 'timeout',
  409: 'conflict',
  410: 'not-found',
  425: 'server',
  429: 'rate-limit',
}

/** Seconds or a date, in milliseconds from the answer's own clock. */
function retryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after')
  if (!value) return undefined
  const seconds = Number(value)
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000)
  const wait = Date.parse(value) - Date.parse(headers.get('date') ?? '')
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined
}

/** The error a failed answer stands for: its own words where it has any. */
async function errorOf(response: Response): Promise<TidemarkError> {
  const { status, headers } = response
  const text = await response.text().catch(() => '')
  const code = CODES[status] ?? (status >= 500 ? 'server' : 'invalid-request')
  const wait = retryAfter(headers)
  const known = { status, ...(wait !== undefined && { retryAfter: wait }) }
  try {
    const body: unknown = JSON.parse(text)
    const given = ErrorData.safeParse(isRecord(body) ? body.error : undefined)
    if (given.success)
      return new TidemarkError(given.data.code, given.data.message, { ...given.data, ...known })
  } catch {
    // Not JSON: a proxy's page, or nothing. The status says enough.
  }
  return new TidemarkError(code, `the server answered ${status}`, known)
}

/** Requests below one URL. Headers are asked for anew after a 401, once, so that a rotated token goes through. */
export function createHttp({ url, headers, fetch: given, credentials = 'same-origin' }: HttpOptions): Http {
  const base = url.replace(/\/+$/, '')
  const own = async () => (typeof headers === 'function' ? await headers() : headers)

  async function once(method: string, path: string, request: HttpRequest): Promise<Response> {
    const body = request.body === undefined ? null : JSON.stringify(request.body)
    const fetchNow = given ?? globalThis.fetch
    try {
      return await fetchNow(base + path, {
        method,
        body,
        credentials,
        cache: 'no-store',
        signal: request.signal,
        headers: {
          ...(body !== null && { 'content-type': 'application/json' }),
          ...request.headers,
          ...(await own()),
        },
      })
    } catch (cause) {
      if (isAbort(cause) || request.signal.aborted)
        throw new TidemarkError('aborted', 'the request was aborted', { cause })
      throw new TidemarkError('network', 'the server cannot be reached', { cause })
    }
  }

  const http = async (method: string, path: string, request: HttpRequest): Promise<Response> => {
    const first = await once(method, path, request)
    const response =
      first.status === 401 && typeof headers === 'function' ? await once(method, path, request) : first
    if (!response.ok) throw await errorOf(response)
    return response
  }
  return Object.assign(http, {
    async json(response: Response): Promise<unknown> {
      try {
        return await response.json()
      } catch (cause) {
        throw new TidemarkError('protocol', 'the answer is not JSON', { cause })
      }
    },
  })
}
