import type { EncodedRequest, Model, ModelEvent, RawResponse, StreamOptions } from '../adapters/contract.ts'
import { hear } from '../adapters/hear.ts'
import { say } from '../adapters/say.ts'
import type { ErrorData } from '../lib/error-data.ts'
import { errorData, isAbort, TidemarkError } from '../lib/errors.ts'
import { type Line, openLine, unlessStopped } from './line.ts'
import type { HttpModelOptions } from './model-options.ts'
import { retryAfterOf } from './retry-after.ts'

/**
 * An adapter bound to a server: says the context, hears the answer. Never throws: what goes wrong before or in the stream
 * is its last event. A call that ends, however it ends, leaves no timer and no connection behind.
 */
export function httpModel(options: HttpModelOptions): Model {
  const { adapter, model } = options
  const { provider, resume } = adapter
  const capabilities = adapter.prefills?.(model)
    ? { prefill: true, ...options.capabilities }
    : options.capabilities
  return {
    provider,
    id: model,
    ...(capabilities && { capabilities }),
    stream: (context, { signal, traceparent, ...call } = {}) =>
      ask(options, () => say(adapter, context, { ...call, model }), {
        ...(signal && { signal }),
        ...(traceparent && { traceparent }),
      }),
    ...(resume && {
      resume: (responseId, call = {}) => ask(options, () => resume(responseId), call),
    }),
  }
}

async function* ask(
  options: HttpModelOptions,
  encode: () => EncodedRequest,
  { signal = new AbortController().signal, traceparent }: StreamOptions,
): AsyncGenerator<ModelEvent, void, void> {
  const { adapter, repair } = options
  const line = openLine(options, signal, traceparent)
  /** What is being written at the provider. */
  let writing: string | undefined
  try {
    const events = hear(adapter, await request(line, encode))
    for await (const event of repair ? repair(events) : events) {
      if (event.type === 'start') writing = event.responseId
      if (event.type === 'done' || (event.type === 'error' && event.reason === 'error')) writing = undefined
      yield event.type === 'error' ? { ...event, error: known(line, event.error) } : event
    }
  } catch (thrown) {
    // Nothing was heard: what goes wrong later is the adapter's to tell.
    const error = known(line, errorData(thrown))
    const reason = error.code === 'aborted' ? 'aborted' : 'error'
    yield {
      type: 'error',
      reason,
      error,
      message: { role: 'assistant', content: [], provider: adapter.provider, stopReason: reason },
    }
  } finally {
    line.came()
    // Where the stream has failed already, there is nothing left to cancel.
    line.reader?.cancel().catch(() => undefined)
    line.gate.stop(undefined)
    line.gate.close()
    // Who has another reason than that nobody wants it leaves it to be heard again.
    const stop = isAbort(signal.reason) && writing !== undefined && adapter.cancel?.(writing)
    if (stop) options.keeps?.cancel(options, stop, send)
  }
}

/** Sends a request. Its answer knows how to ask for what is missing of it, where the provider keeps that. */
async function request(line: Line, encode: () => EncodedRequest): Promise<RawResponse> {
  const { timeouts: { firstByte = 30_000 } = {}, keeps } = line.options
  line.came = watch(line, firstByte, 'no answer came')
  const { status, headers } = await unlessStopped(line, send(line, encode()))
  line.status = status
  line.retryAfter = status >= 400 ? retryAfterOf(headers, line.env.now()) : undefined
  const more = async (missing: EncodedRequest) => keeps?.mend(line, () => request(line, () => missing))
  return { status, headers, body: bytes(line), more }
}

/** Whether the page's own origin is asked, or there is no page: any other would have to allow a header that it does not know. */
function isOwnOrigin(url: string): boolean {
  const page = globalThis.location
  return page === undefined || new URL(url, page.href).origin === page.origin
}

async function send(line: Line, request: EncodedRequest): Promise<Response> {
  const { headers: own = {}, baseURL, fetch: given } = line.options
  const headers: Record<string, string> = {
    ...request.headers,
    ...(typeof own === 'function' ? await own() : own),
  }
  for (const [name, value] of Object.entries(headers))
    if (!(name in request.headers)) line.secrets.push(value, value.replace(/^\S+\s+/, ''))
  // The path goes before a query, such as Azure's api-version.
  const [base = '', query] = baseURL.split('?', 2)
  const also = query === undefined ? '' : `${request.path.includes('?') ? '&' : '?'}${query}`
  const url = base.replace(/\/+$/, '') + request.path + also
  const { trace = isOwnOrigin(url) } = line.options
  // Who sets it knows of a trace of their own.
  if (trace && line.traceparent) headers.traceparent ??= line.traceparent
  const { signal } = line.gate
  signal.throwIfAborted()
  const fetchNow = given ?? globalThis.fetch
  try {
    const { method = 'POST' } = request
    const body = method === 'POST' ? JSON.stringify(request.body) : null
    const response = await fetchNow(url, { method, headers, body, signal })
    line.reader = response.body?.getReader()
    // Nobody waits for it any more, if it did not heed the signal.
    if (signal.aborted) await line.reader?.cancel()
    return response
  } catch (cause) {
    throw new TidemarkError('network', `the provider cannot be reached: ${reasonOf(cause)}`, { cause })
  }
}

/** The answer's bytes, watched for silence. While nobody asks for more, nothing is amiss. */
async function* bytes(line: Line): AsyncGenerator<Uint8Array, void, void> {
  const { betweenBytes = 60_000 } = line.options.timeouts ?? {}
  let heard = line.came
  try {
    for (;;) {
      const { done, value } = await unlessStopped(line, read(line))
      heard()
      if (done) return
      line.mends = 0
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

/**
 * An error with what this side knows of it, without our headers' values: some providers, and some platforms, repeat what
 * they were sent.
 */
function known({ options: { adapter }, status, retryAfter, secrets }: Line, error: ErrorData): ErrorData {
  let { message } = error
  for (const secret of secrets) if (secret.length >= 6) message = message.replaceAll(secret, '***')
  return {
    provider: adapter.provider,
    ...(status && { status }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...error,
    message,
  }
}

/** Why a request failed, as far as the platform says: Node hides it in the cause, browsers hide it altogether. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'no reason given'
  const { cause } = thrown
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
  return thrown.message + code
}
