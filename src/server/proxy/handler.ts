import { type Env, platformEnv } from '../../lib/env.ts'
import { TidemarkError } from '../../lib/errors.ts'
import { traceOf, traceparentAfter } from '../../lib/trace.ts'
import { readBytes } from '../http/body.ts'
import { corsHeaders, preflight, withHeaders } from '../http/cors.ts'
import { errorResponse, isUnexpected, publicError } from '../http/errors.ts'
import { createRateLimit, createSlots, type RateLimit, type Slots } from '../http/limits.ts'
import {
  DEFAULT_PROXY_LIMITS,
  type ProxyHandler,
  type ProxyHandlerOptions,
  type ProxyLimits,
} from './options.ts'
import { createRedactor, redactText } from './redact.ts'
import { checkedBody, requestHeaders, responseHeaders, secretsOf, type Target, targetOf } from './rules.ts'

interface ProxyContext {
  options: ProxyHandlerOptions
  limits: ProxyLimits
  env: Env
  rate: RateLimit
  perAccount: Slots
  total: Slots
}

/** One request to an upstream: what it was sent with, and how it ends. */
interface Exchange {
  signal: AbortSignal
  secrets: readonly string[]
  /** Tells the operator. */
  report(error: TidemarkError): void
  /** Ends the request to the upstream, if it has not ended, and gives its slots back. */
  end(): void
}

/** Aborts with the client; once the answer is there, its own end is the client's. */
function openExchange(request: Request, release: () => void): { controller: AbortController; end(): void } {
  const controller = new AbortController()
  const leave = () => controller.abort()
  request.signal.addEventListener('abort', leave, { once: true })
  if (request.signal.aborted) leave()
  return {
    controller,
    end() {
      request.signal.removeEventListener('abort', leave)
      controller.abort()
      release()
    },
  }
}

/** Why an upstream was lost, in the platform's words without secrets: it may quote the request. */
function lost(thrown: unknown, secrets: readonly string[]): TidemarkError {
  const words =
    thrown instanceof Error ? [thrown.message, thrown.cause ?? ''].map(String).join(' ') : String(thrown)
  return new TidemarkError('network', redactText(words, secrets))
}

/** The upstream's answer, begun in time. Throws `network` or `timeout`, in words without secrets. */
async function ask(
  { options, limits, env }: ProxyContext,
  url: string,
  init: RequestInit,
  controller: AbortController,
  secrets: readonly string[],
): Promise<Response> {
  const ask = options.fetch ?? globalThis.fetch
  const timer = new AbortController()
  let late = false
  env.sleep(limits.firstByte, timer.signal).then(
    () => {
      late = true
      controller.abort()
    },
    () => undefined,
  )
  try {
    return await ask(url, { ...init, redirect: 'manual', signal: controller.signal })
  } catch (thrown) {
    if (late) throw new TidemarkError('timeout', 'the upstream did not answer in time', { status: 504 })
    if (controller.signal.aborted) throw new TidemarkError('aborted', 'the client left', { status: 499 })
    options.onError?.(lost(thrown, secrets))
    throw new TidemarkError('network', 'the upstream cannot be reached', { status: 502 })
  } finally {
    timer.abort()
  }
}

/** The upstream's bytes as they come, without secrets. Left by the client, they are left by us. */
function passOn(
  body: ReadableStream<Uint8Array>,
  { secrets, signal, report, end }: Exchange,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const redactor = createRedactor(secrets)
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        for (;;) {
          const { done, value } = await reader.read()
          const bytes = done ? redactor.end() : redactor.feed(value)
          if (bytes.length > 0) controller.enqueue(bytes)
          if (done) {
            controller.close()
            return end()
          }
          // Held back whole: something has to come before this may return.
          if (bytes.length > 0) return
        }
      } catch (error) {
        if (!signal.aborted) report(lost(error, secrets))
        end()
        throw new TidemarkError('network', 'the upstream was lost')
      }
    },
    async cancel() {
      end()
      // Lost already where this fails: there is nothing left to leave.
      await reader.cancel().catch(() => undefined)
    },
  })
}

async function exchange(
  ctx: ProxyContext,
  request: Request,
  target: Target,
  traceparent: string,
  release: () => void,
): Promise<Response> {
  const { controller, end } = openExchange(request, release)
  try {
    const { upstream, url, models } = target
    const bytes = await readBytes(request, ctx.limits.body)
    const body = bytes.length > 0 || models ? checkedBody(bytes, models) : undefined
    const own = (typeof upstream.headers === 'function' ? await upstream.headers() : upstream.headers) ?? {}
    const secrets = secretsOf(own)
    const headers = requestHeaders(request.headers, upstream, own, traceparent)
    const init: RequestInit = { method: request.method, headers, ...(body !== undefined && { body }) }
    const response = await ask(ctx, url, init, controller, secrets)
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      // Not followed: the key would go along to wherever it points.
      throw new TidemarkError('network', 'the upstream answered with a redirect', { status: 502 })
    }
    const answer = { status: response.status, headers: redacted(responseHeaders(response.headers), secrets) }
    if (response.body) {
      const report = (error: TidemarkError) => ctx.options.onError?.(error)
      return new Response(passOn(response.body, { signal: controller.signal, secrets, report, end }), answer)
    }
    end()
    return new Response(null, answer)
  } catch (error) {
    end()
    throw error
  }
}

function redacted(headers: Headers, secrets: readonly string[]): Headers {
  for (const [name, value] of [...headers]) headers.set(name, redactText(value, secrets))
  return headers
}

async function answer(ctx: ProxyContext, request: Request, traceparent: string): Promise<Response> {
  const { options, rate, perAccount, total } = ctx
  const account = options.authorize ? await options.authorize(request) : 'default'
  if (account === null || account === '') throw new TidemarkError('auth', 'not authorised')
  const target = targetOf(options.upstreams, options.basePath ?? '', new URL(request.url), request.method)
  rate.admit(account)
  const own = perAccount.take(account)
  let all: () => void
  try {
    all = total.take('')
  } catch (error) {
    own()
    throw error
  }
  return exchange(ctx, request, target, traceparent, () => {
    own()
    all()
  })
}

/**
 * The thin proxy: it adds the key that a page must not have, and lets nothing through that is not opened: only upstreams
 * that are named, paths and methods that are listed, models that are listed. Streams pass unbuffered; an upstream's errors
 * pass as they are, but for the key.
 *
 * ```ts
 * const proxy = createProxyHandler({
 *   basePath: '/llm',
 *   upstreams: {
 *     openai: {
 *       baseURL: 'https://api.openai.com/v1',
 *       headers: () => ({ authorization: `Bearer ${process.env.OPENAI_API_KEY}` }),
 *       paths: ['/chat/completions'],
 *       models: ['gpt-4o-mini'],
 *     },
 *   },
 *   authorize: (request) => userOf(request),
 * })
 * ```
 * The page calls `/llm/openai/chat/completions`. Its own failures are answered as `{ error: ErrorData }`.
 */
export function createProxyHandler(options: ProxyHandlerOptions): ProxyHandler {
  const limits = { ...DEFAULT_PROXY_LIMITS, ...options.limits }
  const env = { ...platformEnv, ...options.env }
  const ctx: ProxyContext = {
    options,
    limits,
    env,
    rate: createRateLimit(limits.requests, env),
    perAccount: createSlots(limits.concurrent, 'requests'),
    total: createSlots(limits.total, 'requests'),
  }
  return {
    async fetch(request) {
      const cors = corsHeaders(request, options.cors)
      if (request.method === 'OPTIONS') return preflight(request, options.cors)
      const traceparent = traceparentAfter(request.headers.get('traceparent'), env.random)
      try {
        return withHeaders(await answer(ctx, request, traceparent), cors)
      } catch (error) {
        if (isUnexpected(error)) options.onError?.(error)
        return errorResponse({ traceId: traceOf(traceparent)?.traceId, ...publicError(error) }, cors)
      }
    },
  }
}
