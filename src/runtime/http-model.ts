import type {
  Adapter,
  CallOptions,
  EncodedRequest,
  Model,
  ModelContext,
  ModelEvent,
} from '../adapters/contract.ts'
import { type Env, platformEnv } from '../lib/env.ts'
import { type ErrorData, errorData, TidemarkError } from '../lib/errors.ts'
import { type Gate, openGate, STOPPED } from '../turn/gate.ts'
import { retryAfterOf } from './retry-after.ts'

type HeadersLike = Readonly<Record<string, string>>

/** How long a model may be silent, in milliseconds. */
export interface ModelTimeouts {
  /** From the request to the first byte of the answer. @default 30_000 */
  firstByte?: number
  /** From one piece of the answer to the next. @default 60_000 */
  betweenBytes?: number
}

export interface HttpModelOptions {
  adapter: Adapter
  /** Who answers, as stored in messages. */
  provider: string
  /** The provider's name for the model. */
  model: string
  /** What the adapter's paths are added to. In a page, a path of the page's own origin will do. */
  baseURL: string
  /** Sent with each request, e.g. the key. A function is asked before each. */
  headers?: HeadersLike | (() => HeadersLike | Promise<HeadersLike>)
  /** @default the platform's */
  fetch?: typeof fetch | undefined
  timeouts?: ModelTimeouts | undefined
  /** @default the platform's clock */
  env?: Pick<Env, 'now' | 'sleep'> | undefined
}

/**
 * An adapter bound to a server: says the context, hears the answer. Never throws: what goes wrong before or in the stream
 * is its last event. A call that ends, however it ends, leaves no timer and no connection behind.
 */
export function httpModel(options: HttpModelOptions): Model {
  const { provider, model } = options
  return { provider, id: model, stream: (context, call = {}) => ask(options, context, call) }
}

/** One request and its answer. */
interface Line {
  readonly env: Pick<Env, 'now' | 'sleep'>
  /** Ends every wait when the caller aborts, or when the line was silent for too long. */
  readonly gate: Gate
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  /** The silence that ended it. */
  late: TidemarkError | undefined
  /** What no error message may repeat. */
  readonly secrets: string[]
}

async function* ask(
  options: HttpModelOptions,
  context: ModelContext,
  { signal = new AbortController().signal, ...call }: CallOptions & { signal?: AbortSignal },
): AsyncGenerator<ModelEvent, void, void> {
  const { adapter, provider, model, env = platformEnv, timeouts: { firstByte = 30_000 } = {} } = options
  const secrets = [...new URLSearchParams(options.baseURL.split('?')[1]).values()]
  const line: Line = { env, gate: openGate(signal), reader: undefined, late: undefined, secrets }
  const came = watch(line, firstByte, 'no answer came')
  try {
    const request = adapter.encode(context, { ...call, model, stream: true })
    const { status, headers } = await unlessStopped(line, send(options, line, request))
    const retryAfter = status >= 400 ? retryAfterOf(headers, env.now()) : undefined
    const known = { provider, ...(retryAfter === undefined ? {} : { retryAfter }) }
    for await (const event of adapter.decode({ status, headers, body: bytes(options, line, came) }))
      yield event.type === 'error' ? { ...event, error: { ...known, ...discreet(line, event.error) } } : event
  } catch (thrown) {
    // Nothing was heard: what goes wrong later is the adapter's to tell.
    const error = { provider, ...discreet(line, errorData(thrown)) }
    const reason = error.code === 'aborted' ? 'aborted' : 'error'
    yield {
      type: 'error',
      reason,
      error,
      message: { role: 'assistant', content: [], provider, stopReason: reason },
    }
  } finally {
    came()
    // Where the stream has failed already, there is nothing left to cancel.
    line.reader?.cancel().catch(() => undefined)
    line.gate.stop(undefined)
    line.gate.close()
  }
}

async function send(
  { headers: own = {}, baseURL, fetch: given }: HttpModelOptions,
  line: Line,
  request: EncodedRequest,
): Promise<Response> {
  const headers = { ...request.headers, ...(typeof own === 'function' ? await own() : own) }
  for (const [name, value] of Object.entries(headers))
    if (!(name in request.headers)) line.secrets.push(value, value.replace(/^\S+\s+/, ''))
  // The path goes before a query, such as Azure's api-version.
  const [base = '', query] = baseURL.split('?', 2)
  const also = query === undefined ? '' : `${request.path.includes('?') ? '&' : '?'}${query}`
  const url = base.replace(/\/+$/, '') + request.path + also
  const { signal } = line.gate
  signal.throwIfAborted()
  const fetchNow = given ?? globalThis.fetch
  try {
    const body = JSON.stringify(request.body)
    const response = await fetchNow(url, { method: 'POST', headers, body, signal })
    line.reader = response.body?.getReader()
    // Nobody waits for it any more, if it did not heed the signal.
    if (signal.aborted) await line.reader?.cancel()
    return response
  } catch (cause) {
    throw new TidemarkError('network', `the provider cannot be reached: ${reasonOf(cause)}`, { cause })
  }
}

/** The answer's bytes, watched for silence. While nobody asks for more, nothing is amiss. */
async function* bytes(
  { timeouts: { betweenBytes = 60_000 } = {} }: HttpModelOptions,
  line: Line,
  came: () => void,
): AsyncGenerator<Uint8Array, void, void> {
  let heard = came
  try {
    for (;;) {
      const { done, value } = await unlessStopped(line, read(line))
      heard()
      if (done) return
      yield value
      heard = watch(line, betweenBytes, 'the answer fell silent: nothing more came')
    }
  } finally {
    heard()
  }
}

async function read({ reader }: Line): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    return reader ? await reader.read() : { done: true, value: undefined }
  } catch (cause) {
    throw new TidemarkError('network', `the connection broke: ${reasonOf(cause)}`, { cause })
  }
}

/** Stops the line after so long, unless the returned function is called before. */
function watch(line: Line, ms: number, what: string): () => void {
  const timer = new AbortController()
  line.env.sleep(ms, timer.signal).then(
    () => {
      line.late = new TidemarkError('timeout', `${what} within ${ms} ms`)
      line.gate.stop(line.late)
    },
    // Called off: what was waited for came.
    () => undefined,
  )
  return () => timer.abort()
}

async function unlessStopped<T>(line: Line, work: Promise<T>): Promise<T> {
  const result = await line.gate.race(work)
  if (result === STOPPED) throw line.late ?? new TidemarkError('aborted', 'the call was aborted')
  return result
}

/** An error without our headers' values: some providers, and some platforms, repeat what they were sent. */
function discreet({ secrets }: Line, error: ErrorData): ErrorData {
  let { message } = error
  for (const secret of secrets) if (secret.length >= 6) message = message.replaceAll(secret, '***')
  return { ...error, message }
}

/** Why a request failed, as far as the platform says: Node hides it in the cause, browsers hide it altogether. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'no reason given'
  const { cause } = thrown
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
  return thrown.message + code
}
