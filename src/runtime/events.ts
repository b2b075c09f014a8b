import type { EventBatch } from '../chat/runtime-port.ts'
import type { Env } from '../lib/env.ts'
import { TidemarkError } from '../lib/errors.ts'
import { createSseParser } from '../lib/sse.ts'
import { decodeFrame } from '../protocol/codec.ts'
import type { MessageDefaults } from '../protocol/lenient.ts'
import { SILENCE, watchSilence } from './silence.ts'

export interface ReadOptions {
  defaults: MessageDefaults
  env: Env
  signal: AbortSignal
  /** Milliseconds without a byte that count as a lost line. */
  silence?: number | undefined
}

/** A lost line is assumed after this many announced heartbeats. */
const MISSED_HEARTBEATS = 2.5

function silenceOf(response: Response, fallback = SILENCE): number {
  const seconds = Number(response.headers.get('tidemark-heartbeat'))
  return seconds > 0 ? seconds * 1000 * MISSED_HEARTBEATS : fallback
}

export const isEventStream = (response: Response): boolean =>
  response.headers.get('content-type')?.includes('text/event-stream') ?? false

/**
 * Opens a line and reads its events as the bytes come: an empty batch to begin with, since the line is open, then what
 * came at once: a network chunk, or several that were there already, since folding in costs more than reading; comments
 * alone give an empty one. Ends with the bytes. Throws `protocol` where it is no event stream,
 * `network` or `timeout` where the line is lost.
 */
export async function* readEvents(
  open: () => Promise<Response>,
  options: ReadOptions,
): AsyncGenerator<EventBatch> {
  const { defaults, env, signal } = options
  const response = await open()
  if (!isEventStream(response) || !response.body) {
    await response.body?.cancel().catch(() => undefined)
    throw new TidemarkError('protocol', 'expected an answer of type text/event-stream')
  }
  yield { envelopes: [], malformed: 0 }
  const silence = silenceOf(response, options.silence)
  let batch: EventBatch = { envelopes: [], malformed: 0 }
  let overflown = false
  const parser = createSseParser({
    onFrame(frame) {
      const decoded = decodeFrame(frame, defaults)
      if (decoded.type === 'malformed') batch.malformed++
      // What comes after something unread may have its place behind it: the pages will tell.
      else if (decoded.type === 'event' && batch.malformed === 0) batch.envelopes.push(decoded.envelope)
    },
    onOverflow() {
      // Read by pages instead: the feed would send it again and again.
      batch.malformed++
      overflown = true
    },
  })
  const reader = response.body.getReader()
  const line = watchSilence(() => reader.cancel(), silence, env)
  try {
    for (let coming = reader.read(); ; ) {
      const { done, value } = await pieceOf(coming, signal)
      if (line.lost) throw line.lost
      if (done) return
      line.heard()
      parser.feed(value)
      coming = reader.read()
      if ((await isThere(coming)) && batch.envelopes.length < FULL && !overflown) continue
      yield batch
      if (overflown) return
      batch = { envelopes: [], malformed: 0 }
    }
  } finally {
    line.end()
    // Closes the connection, whatever ended the loop; a line that is lost already has nothing to close.
    await reader.cancel().catch(() => undefined)
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>
type Coming = ReturnType<Reader['read']>

/** Events after which a batch is handed over, though more is there: a page must breathe. */
const FULL = 1_000

async function pieceOf(coming: Coming, signal: AbortSignal) {
  const aborted = () => new TidemarkError('aborted', 'the request was aborted')
  try {
    const piece = await coming
    if (signal.aborted) throw aborted()
    return piece
  } catch (cause) {
    if (cause instanceof TidemarkError) throw cause
    if (signal.aborted) throw aborted()
    throw new TidemarkError('network', 'the connection was lost', { cause })
  }
}

/** Whether the next piece has come already. */
async function isThere(coming: Coming): Promise<boolean> {
  let there = false
  coming.then(
    ({ done }) => {
      there = !done
    },
    // Told to whoever waits for it.
    () => undefined,
  )
  // What has come is told before this goes on.
  await undefined
  return there
}
