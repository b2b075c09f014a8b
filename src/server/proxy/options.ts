import type { Env } from '../../lib/env.ts'
import type { CorsOptions } from '../http/cors.ts'
import type { Rate } from '../http/limits.ts'

type HeadersLike = Readonly<Record<string, string>>

/** One provider behind the proxy. */
export interface Upstream {
  /** Where it lives, e.g. `https://api.openai.com/v1`. */
  baseURL: string
  /** Added last, over all that the client sent: this is where the key comes in. Asked for with every request. */
  headers?: HeadersLike | (() => HeadersLike | Promise<HeadersLike>)
  /**
   * The paths that may be called, exactly as they are, e.g. `['/chat/completions']`. Nothing else may. A part that is `*`
   * stands for any id: an answer that OpenAI writes in the background is heard again at `/responses/*`, with `methods`
   * `['GET', 'POST']` and `query` `['stream', 'starting_after']`, and stopped at the same path followed by `/cancel`.
   */
  paths: readonly string[]
  /** @default ['POST'] */
  methods?: readonly string[]
  /**
   * The models that may be asked for in the body; without it, any. With it, only JSON bodies that name one get through,
   * except where the path has an id.
   */
  models?: readonly string[]
  /** Names of query parameters that may be used. @default [] */
  query?: readonly string[]
  /** Request headers that go through besides `accept`, `content-type`, `idempotency-key`, `traceparent` and the providers' version headers. @default [] */
  forward?: readonly string[]
}

/** Limits of a proxy. Each is finite unless you say `Infinity`. Counts are kept per instance. */
export interface ProxyLimits {
  /** Bytes of a request's body: room for a few images. @default 10_000_000 */
  body: number
  /** Requests under way, by account. @default 16 */
  concurrent: number
  /** Requests under way, of all accounts together. @default 256 */
  total: number
  /** Requests by account. @default { max: 120, per: 60_000 } */
  requests: Rate
  /** Milliseconds until the upstream's answer begins. @default 60_000 */
  firstByte: number
}

export const DEFAULT_PROXY_LIMITS: Readonly<ProxyLimits> = {
  body: 10_000_000,
  concurrent: 16,
  total: 256,
  requests: { max: 120, per: 60_000 },
  firstByte: 60_000,
}

export interface ProxyHandlerOptions {
  /** By the first part of the path: `openai` is `<basePath>/openai/…`. */
  upstreams: Readonly<Record<string, Upstream>>
  /**
   * Who calls: an account, for the limits, or null for nobody (401). Without it everyone who reaches the proxy may spend
   * your key.
   */
  authorize?: (request: Request) => string | null | Promise<string | null>
  /** What comes before the upstream's name in the path. @default '' */
  basePath?: string
  /** Which other origins may call. @default none */
  cors?: CorsOptions
  limits?: Partial<ProxyLimits>
  /** @default the platform's */
  fetch?: typeof fetch
  /** Hears why an upstream could not be reached or was lost, in words without the key, and what failed in your own functions. */
  onError?: (error: unknown) => void
  /** @default the platform's clock and randomness */
  env?: Partial<Env>
}

export interface ProxyHandler {
  /** Answers a request. Never throws. */
  fetch(request: Request): Promise<Response>
}
