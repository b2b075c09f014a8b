/** What befalls the line of one chat. */
export interface Faults {
  /** Its first event stream ends after so many bytes: as a broken socket, or in good order as some proxies end it. */
  cut?: { after: number; how: 'reset' | 'end' }
  /** A stream that is opened again tells from the first byte on, as from a stale cache. */
  stale?: boolean
  /** Every event comes twice. */
  twice?: boolean
  /** The answer to the first question is lost after the question has taken effect. */
  loseAnswer?: boolean
}

/** What passed on a chat's event streams. */
export interface Line {
  faults: Faults
  /** Everything that was said on them so far. */
  said: Uint8Array[]
  streams: number
  questions: number
}

export const newLine = (faults: Faults): Line => ({ faults, said: [], streams: 0, questions: 0 })

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Every whole event two times; a frame is ASCII but for the pieces, which come whole. */
function doubled(): TransformStream<Uint8Array, Uint8Array> {
  let open = ''
  return new TransformStream({
    transform(bytes, controller) {
      const frames = (open + decoder.decode(bytes)).split('\n\n')
      open = frames.pop() ?? ''
      for (const frame of frames) controller.enqueue(encoder.encode(`${frame}\n\n${frame}\n\n`))
    },
  })
}

/** Lets so many bytes pass. What is behind goes on being read, so that a server notices nothing. */
function cutAfter(after: number, end: (controller: TransformStreamDefaultController<Uint8Array>) => void) {
  let left = after
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      if (left <= 0) return
      controller.enqueue(bytes.subarray(0, left))
      left -= bytes.length
      if (left <= 0) end(controller)
    },
  })
}

/** An event stream as its line lets it through. `breakOff` destroys the socket. */
export function through(line: Line, body: ReadableStream<Uint8Array>, breakOff: () => void) {
  const { cut, stale, twice } = line.faults
  const first = line.streams === 0
  line.streams += 1
  const before = stale && !first ? [...line.said] : []
  const heard = new TransformStream<Uint8Array, Uint8Array>({
    start(controller) {
      for (const bytes of before) controller.enqueue(bytes)
    },
    transform(bytes, controller) {
      line.said.push(bytes)
      controller.enqueue(bytes)
    },
  })
  let stream = body.pipeThrough(heard)
  if (twice) stream = stream.pipeThrough(doubled())
  if (!cut || !first) return stream
  // What was let through reaches the page before the socket is gone.
  const end =
    cut.how === 'end'
      ? (c: TransformStreamDefaultController<Uint8Array>) => c.terminate()
      : () => setTimeout(breakOff, 20)
  return stream.pipeThrough(cutAfter(cut.after, end))
}
