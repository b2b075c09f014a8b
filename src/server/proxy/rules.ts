import { TidemarkError } from '../../lib/errors.ts'
import type { Upstream } from './options.ts'

/** Where a request goes, made of what the upstream's options say; nothing of it is the client's text, except ids. */
export interface Target {
  name: string
  upstream: Upstream
  url: string
  /** The models that the body may ask for; undefined where it asks for none. */
  models: readonly string[] | undefined
}

const closed = (message: string, status = 404): TidemarkError =>
  new TidemarkError(status === 404 ? 'not-found' : 'invalid-request', message, { status })

/** The query, if every parameter of it is open. */
function openQuery(given: URLSearchParams, names: readonly string[]): string {
  for (const name of given.keys()) {
    if (!names.includes(name)) throw closed(`query: ${name} is not open`, 400)
  }
  const text = given.toString()
  return text === '' ? '' : `?${text}`
}

/** What may stand for a `*`: nothing that means anything in a path. */
const ID = /^[A-Za-z0-9_-]+$/

function isPath(path: string, open: string): boolean {
  const parts = path.split('/')
  const wanted = open.split('/')
  return (
    parts.length === wanted.length &&
    parts.every((part, at) => (wanted[at] === '*' ? ID.test(part) : part === wanted[at]))
  )
}

/**
 * Finds the upstream and the path among those that are open. The path must be one of them to the letter, but for ids, as the
 * platform's URL parser left it: encoded slashes, dots and other hosts are simply other letters.
 */
export function targetOf(
  upstreams: Readonly<Record<string, Upstream>>,
  basePath: string,
  url: URL,
  method: string,
): Target {
  const rest = url.pathname.startsWith(`${basePath}/`) ? url.pathname.slice(basePath.length + 1) : ''
  const slash = rest.indexOf('/')
  const name = slash < 0 ? rest : rest.slice(0, slash)
  const upstream = Object.hasOwn(upstreams, name) ? upstreams[name] : undefined
  const path = rest.slice(name.length)
  const open = upstream?.paths.find((open) => isPath(path, open))
  if (!upstream || open === undefined) throw closed('this path is not open')
  const { methods = ['POST'], query = [], baseURL } = upstream
  if (!methods.includes(method)) throw closed(`${method} is not open; expected ${methods.join(', ')}`, 405)
  // What has an id was made by a request that was checked.
  const models = open.includes('*') ? undefined : upstream.models
  return {
    name,
    upstream,
    models,
    url: baseURL.replace(/\/+$/, '') + path + openQuery(url.searchParams, query),
  }
}

/**
 * The body to send on. Where models are listed it is JSON, written anew from what was checked: of two `model` keys the
 * upstream might read the other one. Lists of fallback models are models, too.
 */
export function checkedBody(
  bytes: Uint8Array<ArrayBuffer>,
  models: readonly string[] | undefined,
): Uint8Array<ArrayBuffer> | string {
  if (!models) return bytes
  let body: unknown
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new TidemarkError('invalid-request', 'the body is not JSON', { status: 400, cause })
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw closed('body: expected an object', 400)
  }
  const model = 'model' in body ? body.model : undefined
  const fallbacks = 'models' in body ? body.models : []
  for (const asked of [model, ...(Array.isArray(fallbacks) ? fallbacks : [fallbacks])]) {
    if (typeof asked !== 'string' || !models.includes(asked)) {
      throw closed(`model: expected ${models.join(' or ')}`, 403)
    }
  }
  return JSON.stringify(body)
}

/** What a client's request may say to the upstream. Its cookies and its own authorisation are not for others. */
const REQUEST_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'content-type',
  'idempotency-key',
  'traceparent',
  'tracestate',
  'anthropic-version',
  'anthropic-beta',
  'openai-beta',
])

/** What an upstream's answer may say to the client. */
const RESPONSE_HEADERS =
  /^(content-type|content-language|date|retry-after|retry-after-ms|x-should-retry|(x-)?request-id|[a-z-]*ratelimit-[a-z0-9-]+|(openai|anthropic)-[a-z0-9-]+)$/

/** Headers that no list opens: hop by hop, the caller's own secrets, and what the platform sets by itself. */
const NEVER: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'forwarded',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-api-key',
])

/** The request's headers with the trace it is a step of, and the upstream's own, among them the key, put over them. */
export function requestHeaders(
  given: Headers,
  upstream: Upstream,
  own: Readonly<Record<string, string>>,
  traceparent: string,
): Headers {
  const forward = new Set((upstream.forward ?? []).map((name) => name.toLowerCase()))
  const headers = new Headers()
  for (const [name, value] of given) {
    if (!NEVER.has(name) && (REQUEST_HEADERS.has(name) || forward.has(name))) headers.set(name, value)
  }
  headers.set('traceparent', traceparent)
  for (const [name, value] of Object.entries(own)) headers.set(name, value)
  return headers
}

export function responseHeaders(given: Headers): Headers {
  const headers = new Headers({
    'cache-control': 'no-store, no-transform',
    'x-content-type-options': 'nosniff',
  })
  for (const [name, value] of given) {
    if (!NEVER.has(name) && RESPONSE_HEADERS.test(name)) headers.set(name, value)
  }
  // A proxy on the way must not hold a stream back until it is whole.
  if (given.get('content-type')?.includes('event-stream')) headers.set('x-accel-buffering', 'no')
  return headers
}

/** Headers whose values are secrets, by their names. */
const SECRET = /auth|key|token|secret|cookie/i

/** The secrets among an upstream's headers: whole values, and tokens without the scheme before them. */
export function secretsOf(own: Readonly<Record<string, string>>): string[] {
  const secrets = new Set<string>()
  for (const [name, value] of Object.entries(own)) {
    if (!SECRET.test(name)) continue
    const token = value.trim().split(/\s+/).at(-1) ?? ''
    // What is shorter is no secret, and may be part of any word.
    if (token.length >= 6) secrets.add(token)
  }
  return [...secrets]
}
