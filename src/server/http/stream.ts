/**
 * Text as it comes, as a response's body. Read only as fast as the reader reads.
 * @param onEnd called once: at the end, at a failure, or when the reader leaves
 */
export function textStream(
  source: AsyncIterator<string, unknown>,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let ended = false
  const end = () => {
    if (ended) return
    ended = true
    onEnd()
  }
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await source.next()
        if (!done) return controller.enqueue(encoder.encode(value))
        end()
        controller.close()
      } catch (error) {
        end()
        throw error
      }
    },
    async cancel() {
      // First what wakes the source, which may be waiting; then its own end.
      end()
      await source.return?.()
    },
  })
}

/** Headers of an event stream that no proxy on the way should hold back. */
export const streamHeaders = (heartbeat: number): Record<string, string> => ({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
  'tidemark-heartbeat': String(heartbeat / 1000),
})
