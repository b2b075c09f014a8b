export type Chunks = readonly Uint8Array<ArrayBuffer>[]

/** Bytes that a socket hands over at once. */
const BURST = 16_384

/** Lets timers and frames have their turn. */
export function turn(): Promise<void> {
  if (typeof setImmediate === 'function') return new Promise((resolve) => setImmediate(resolve))
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(null)
  })
}

/**
 * A stream that has its chunks when it is asked for them. Nothing is waited for but, after each burst, a turn of the event
 * loop, as the wait for a socket gives it. No promise more than that: it is part of what is measured.
 * @param source called when the first chunk is asked for
 */
export function streamOf(source: () => Chunks | Promise<Chunks>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let chunks: Chunks | undefined
  let at = 0
  let burst = 0
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull(controller) {
        const next = () => {
          burst = burst < BURST ? burst : 0
          const chunk = chunks?.[at++]
          if (!chunk) return controller.close()
          burst += chunk.length
          controller.enqueue(chunk)
        }
        if (burst >= BURST) return turn().then(next)
        if (chunks) return next()
        return Promise.resolve(source()).then((given) => {
          chunks = given
          next()
        })
      },
    },
    { highWaterMark: 0 },
  )
}

/** An answer whose body is that stream. */
export const eventStreamResponse = (source: () => Chunks | Promise<Chunks>): Response =>
  new Response(streamOf(source), { headers: { 'content-type': 'text/event-stream' } })

export const jsonResponse = (body: unknown, status = 200): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })

/**
 * Collects what is young and dead, where the engine lets us: what was made before the clock starts is not to be paid for
 * while it runs. Never all of it: that would also throw away what the compiler knows.
 */
export function clearYoung(): void {
  if (!('gc' in globalThis) || typeof globalThis.gc !== 'function') return
  // What survives twice is young no more.
  for (let time = 0; time < 2; time++) globalThis.gc({ type: 'minor' })
}

/** A clock that is started by the first byte that is asked for, whoever asks. */
export interface Timed {
  source(): Chunks
  /** Milliseconds since then. */
  elapsed(): number
}

export function timed(chunks: Chunks): Timed {
  let start = Number.NaN
  return {
    source() {
      clearYoung()
      start = performance.now()
      return chunks
    },
    elapsed: () => performance.now() - start,
  }
}
