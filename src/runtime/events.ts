import type { EventBatch } from '../chat/runtime-port.ts'
import type { Env } from '../lib/env.ts'
import { TidemarkError } from '../lib/errors.ts'
import { createSseParser } from '../lib/sse.ts'
import { decodeFrame } from '../protocol/codec.ts'
import type { MessageDefaults } from '../protocol/lenient.ts'

export interface ReadOptions {
  defaults: MessageDefaults
  env: Env
  signal: AbortSignal
  /** Milliseconds without a byte that count as a lost line. */
  silence?: number | undefined
}

/** A lost line is assumed after this many announced heartbeats. */
const MISSED_HEARTBEATS = 2.5

function silenceOf(response: Response, fallback = 45_000): number {
  const seconds = Number(response.headers.get('tidemark-heartbeat'))
  return seconds > 0 ? seconds * 1000 * MISSED_HEARTBEATS : fallback
}

/**
 * The events of an answer as its bytes come: one batch a network chunk; comments alone give an empty one. Ends with the
 * bytes. Throws `protocol` where it is no event stream, `network` or `timeout` where the line is lost.
 */
export async function* readEvents(response: Response, options: ReadOptions): AsyncGenerator<EventBatch> {
  const { defaults, env, signal } = options
  if (!response.headers.get('content-type')?.includes('text/event-stream') || !response.body) {
    await response.body?.cancel()
    throw new TidemarkError('protocol', 'expected an answer of type text/event-stream')
  }
  const silence = silenceOf(response, options.silence)
  let batch: EventBatch = { envelopes: [], malformed: 0 }
  const parser = createSseParser({
    onFrame(frame) {
      const decoded = decodeFrame(frame, defaults)
      if (decoded.type === 'event') batch.envelopes.push(decoded.envelope)
      else if (decoded.type === 'malformed') batch.malformed++
    },
    onOverflow() {
      throw new TidemarkError('protocol', 'an event is too long')
    },
  })
  const reader = response.body.getReader()
  try {
    for (;;) {
      const { done, value } = await read(reader, silence, env, signal)
      if (done) return
      parser.feed(value)
      yield batch
      batch = { envelopes: [], malformed: 0 }
    }
  } finally {
    // Closes the connection, whatever ended the loop; a line that is lost already has nothing to close.
    await reader.cancel().catch(() => undefined)
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

async function read(reader: Reader, silence: number, env: Env, signal: AbortSignal) {
  const timer = new AbortController()
  const silent = env.sleep(silence, timer.signal).then(
    () => {
      throw new TidemarkError('timeout', `no sign of life for ${Math.round(silence / 1000)} s`)
    },
    () => new Promise<never>(() => {}),
  )
  try {
    return await Promise.race([reader.read(), silent])
  } catch (cause) {
    if (cause instanceof TidemarkError) throw cause
    if (signal.aborted) throw new TidemarkError('aborted', 'the request was aborted', { cause })
    throw new TidemarkError('network', 'the connection was lost', { cause })
  } finally {
    timer.abort()
  }
}
