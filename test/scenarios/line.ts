/** A request as it leaves the client. */
export interface Seen {
  readonly method: string
  /** `/sessions/s/events` */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Headers
  readonly body: string
  /** Whose it is: the name of the client's line. */
  readonly from: string
}

/** What happens to a request on its way, and to its answer on the way back. */
export type Fault =
  /** It does not arrive. */
  | { type: 'lost' }
  /** It arrives; its answer does not. */
  | { type: 'unanswered' }
  /** It arrives twice, at once; the first answer comes back. */
  | { type: 'doubled' }
  /** It waits before it leaves, or its answer before it comes back. */
  | { type: 'late'; until: Promise<void>; where?: 'before' | 'after' }
  /** Of the answer so many bytes come; then the line breaks, is over as if that were all, or is silent for ever. */
  | { type: 'cut'; at: number; how?: 'lost' | 'over' | 'silent' }
  /** The answer comes whole at its end, or not at all. */
  | { type: 'buffered' }
  /** The bytes of an event stream, piece by piece, made to something else. */
  | { type: 'changed'; pieces: (bytes: Uint8Array) => Iterable<Uint8Array> }
  /** Something else answers: the request does not arrive. */
  | { type: 'instead'; response: () => Response }

export interface Line {
  fetch: typeof fetch
  /** Every request, oldest first, also those that got lost. */
  readonly requests: Seen[]
  /** Decides what happens to a request; nothing without it. */
  fault: ((seen: Seen) => Fault | undefined) | undefined
  /** Without it nothing arrives, and what was open is broken. */
  online: boolean
  /** Breaks what is open. */
  cut(): void
  /** Leaves what is open half open: no byte comes over it any more, and nothing says so. */
  numb(): void
  /** Answers that are being read. */
  open(): number
  /** Those of them that are event streams. */
  lasting(): number
}

/** Requests on their way, of all lines to one server: time stands still for them. */
export interface Traffic {
  pending: number
}

const down = () => new TypeError('Failed to fetch')

/** What is open, with what breaks it and what leaves it half open. */
type Streams = Set<{ lasts: boolean; lose(): void; numb(): void }>

/** A body on its way, as far as it came. */
interface Body {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>
  readonly fault: Fault | undefined
  /** Bytes that may still pass. */
  left: number
  over: boolean
  numb: boolean
  /** It is open no more. */
  forget(): void
  readonly kept: Uint8Array[]
}

const piecesOf = ({ fault, left }: Body, bytes: Uint8Array): Iterable<Uint8Array> =>
  fault?.type === 'changed' ? fault.pieces(bytes) : [bytes.slice(0, left)]

/** Lets the next piece through, or what the fault makes of it. */
async function step(body: Body, controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
  const { reader, fault, kept } = body
  for (;;) {
    const { done, value } = await reader.read()
    if (body.over) return
    if (body.numb) {
      if (done) return new Promise(() => {})
      continue
    }
    if (done) {
      for (const piece of kept) controller.enqueue(piece)
      body.over = true
      body.forget()
      return controller.close()
    }
    if (fault?.type === 'buffered') {
      kept.push(value)
      continue
    }
    for (const piece of piecesOf(body, value)) if (piece.length > 0) controller.enqueue(piece)
    body.left -= value.length
    if (body.left > 0) return
    reader.cancel().catch(() => undefined)
    const how = (fault?.type === 'cut' && fault.how) || 'lost'
    if (how === 'silent') return new Promise(() => {})
    body.over = true
    body.forget()
    return how === 'over' ? controller.close() : controller.error(down())
  }
}

/** A body that can be broken from outside, and does to its bytes what the fault says. */
function bodyOf(
  source: ReadableStream<Uint8Array>,
  fault: Fault | undefined,
  streams: Streams,
  signal: AbortSignal | null | undefined,
  lasts: boolean,
): ReadableStream<Uint8Array> {
  const reader = source.getReader()
  const left = fault?.type === 'cut' ? fault.at : Number.POSITIVE_INFINITY
  const body: Body = { reader, fault, left, over: false, numb: false, forget: () => {}, kept: [] }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const open = {
        lasts,
        lose: () => end(down()),
        numb() {
          body.numb = true
        },
      }
      const end = (error: unknown) => {
        if (body.over) return
        body.over = true
        streams.delete(open)
        controller.error(error)
        reader.cancel().catch(() => undefined)
      }
      streams.add(open)
      body.forget = () => streams.delete(open)
      signal?.addEventListener('abort', () => end(signal.reason), { once: true })
    },
    pull: (controller) => step(body, controller),
    cancel() {
      body.over = true
      body.forget()
      return reader.cancel()
    },
  })
}

const seenOf = (
  input: RequestInfo | URL,
  { method = 'GET', headers, body }: RequestInit,
  from: string,
): Seen => {
  const { pathname: path, searchParams: query } = new URL(String(input))
  return {
    method,
    path,
    query,
    headers: new Headers(headers),
    body: typeof body === 'string' ? body : '',
    from,
  }
}

/** What of an answer comes back. */
async function arrived(
  response: Response,
  fault: Fault | undefined,
  line: Line,
  streams: Streams,
  signal: RequestInit['signal'],
): Promise<Response> {
  if (!line.online || fault?.type === 'unanswered') {
    await response.body?.cancel()
    throw down()
  }
  if (!response.body) return response
  const isStream = response.headers.get('content-type')?.includes('event-stream') ?? false
  const spoilt = fault?.type === 'changed' && !isStream ? undefined : fault
  return new Response(bodyOf(response.body, spoilt, streams, signal, isStream), response)
}

/** A line to a server in this process. What the server answers comes back as bytes, like over a network. */
export function createLine(
  serve: (request: Request) => Promise<Response>,
  traffic: Traffic,
  from: string,
): Line {
  const streams: Streams = new Set()
  const carry = async (request: Request): Promise<Response> => {
    traffic.pending++
    try {
      return await serve(request)
    } finally {
      traffic.pending--
    }
  }
  const line: Line = {
    requests: [],
    fault: undefined,
    online: true,
    cut() {
      for (const { lose } of [...streams]) lose()
    },
    numb() {
      for (const { numb } of streams) numb()
    },
    open: () => streams.size,
    lasting: () => [...streams].filter(({ lasts }) => lasts).length,
    async fetch(input, init = {}) {
      const { signal } = init
      const seen = seenOf(input, init, from)
      line.requests.push(seen)
      const fault = line.fault?.(seen)
      if (fault?.type === 'late' && fault.where !== 'after') await fault.until
      signal?.throwIfAborted()
      if (!line.online || fault?.type === 'lost') throw down()
      if (fault?.type === 'instead') return fault.response()
      const request = () => new Request(String(input), { ...init, headers: seen.headers })
      const [response] = await Promise.all([
        carry(request()),
        ...(fault?.type === 'doubled' ? [carry(request())] : []),
      ])
      if (fault?.type === 'late' && fault.where === 'after') await fault.until
      signal?.throwIfAborted()
      return arrived(response, fault, line, streams, signal)
    },
  }
  return line
}
