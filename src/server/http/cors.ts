export interface CorsOptions {
  /** Who may call from another origin: exact origins, a rule, or `'*'` for everyone. */
  origins: '*' | readonly string[] | ((origin: string) => boolean)
  /** Whether cookies may come along. Not with `'*'`. @default false */
  credentials?: boolean
  /** Request headers allowed besides those the protocol needs. */
  headers?: readonly string[]
  /** Seconds for which a browser may keep the answer to its question. @default 600 */
  maxAge?: number
}

const REQUEST_HEADERS = [
  'accept',
  'authorization',
  'content-type',
  'idempotency-key',
  'last-event-id',
  'traceparent',
]
const RESPONSE_HEADERS = ['retry-after', 'tidemark-heartbeat', 'x-request-id', 'request-id']

function allows({ origins }: CorsOptions, origin: string): boolean {
  if (origins === '*') return true
  return typeof origins === 'function' ? origins(origin) : origins.includes(origin)
}

/**
 * Headers that let the page of another origin read an answer; none where it may not.
 * @param cors undefined: closed
 */
export function corsHeaders(request: Request, cors: CorsOptions | undefined): Record<string, string> {
  if (!cors) return {}
  const origin = request.headers.get('origin')
  const vary = { vary: 'origin' }
  if (!origin || !allows(cors, origin)) return vary
  const everyone = cors.origins === '*'
  return {
    ...(everyone ? {} : vary),
    'access-control-allow-origin': everyone ? '*' : origin,
    'access-control-expose-headers': RESPONSE_HEADERS.join(', '),
    ...(cors.credentials && !everyone && { 'access-control-allow-credentials': 'true' }),
  }
}

/** The answer to a browser that asks whether it may call; without permission in it, it may not. */
export function preflight(request: Request, cors: CorsOptions | undefined): Response {
  const headers = corsHeaders(request, cors)
  const allowed = cors && headers['access-control-allow-origin'] !== undefined
  return new Response(null, {
    status: allowed ? 204 : 403,
    headers: {
      ...headers,
      ...(allowed && {
        'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
        'access-control-allow-headers': [...REQUEST_HEADERS, ...(cors.headers ?? [])].join(', '),
        'access-control-max-age': String(cors.maxAge ?? 600),
      }),
    },
  })
}

/** The answer with these headers added. */
export function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
  return response
}
