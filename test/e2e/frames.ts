/**
 * A stream of events as it is, except that it waits before an event that may not be told yet.
 * @param mayPass told the event's number; undefined: it passes
 */
export function framesOf(
  body: ReadableStream<Uint8Array>,
  mayPass: (n: number) => Promise<void> | undefined,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const [reader, decoder, encoder] = [body.getReader(), new TextDecoder(), new TextEncoder()]
  let rest = ''
  const next = async (): Promise<string | undefined> => {
    for (;;) {
      const end = rest.indexOf('\n\n')
      if (end >= 0) {
        const frame = rest.slice(0, end + 2)
        rest = rest.slice(end + 2)
        return frame
      }
      const { done, value } = await reader.read()
      if (done) return undefined
      rest += decoder.decode(value, { stream: true })
    }
  }
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const frame = await next().catch(() => undefined)
      if (frame === undefined) {
        onEnd()
        return controller.close()
      }
      const n = /^id: (\d+)/m.exec(frame)?.[1]
      if (n !== undefined) await mayPass(Number(n))
      controller.enqueue(encoder.encode(frame))
    },
    cancel() {
      onEnd()
      return reader.cancel()
    },
  })
}
