import { formatSse } from '../lib/sse.ts'

/** One step of an answer. */
export type ServerStep =
  /** What the request has to be; what is left out may be anything. Anything else is refused with 500. */
  | { expect: { method?: string; path?: string; body?: string } }
  /** The answer's head. @default 200, `text/event-stream` */
  | { status: number; headers?: Readonly<Record<string, string>> }
  /** A server-sent event; `data` is written as JSON. */
  | { event: { data: unknown; id?: string; type?: string } }
  | { comment: string }
  /** Bytes as they are; a string is UTF-8. */
  | { raw: string | Uint8Array }
  /** Bytes of each piece from here on. @default each step whole */
  | { chunk: number }
  /** What comes next comes twice. */
  | { duplicate: true }
  /** What comes next and what follows it change places. */
  | { reorder: true }
  /** What comes next does not come. */
  | { drop: true }
  /** Waits until it resolves. `createHold` makes one. */
  | { hold: Promise<void> }
  /** Nothing more comes, and nobody is told. */
  | { stall: true }
  /** The answer is over here, as if that were all. */
  | { cut: true }
  /** The connection breaks. */
  | { reset: true }

/** One answer after the other: the n-th request gets the n-th. */
export type ServerScript = readonly (readonly ServerStep[])[]

/** What a driver does: write bytes, wait, be silent, or break off. The end of it is the end of the answer. */
export type ServerMove = { bytes: Uint8Array } | { hold: Promise<void> } | { stall: true } | { reset: true }

/** An answer on its way. */
export interface ScriptedAnswer {
  status: number
  headers: Readonly<Record<string, string>>
  moves: readonly ServerMove[]
}

/** A request, as far as scripts look at it. */
export interface ScriptedRequest {
  method: string
  /** With its query. */
  path: string
  body: string
}

const encoder = new TextEncoder()

/** What a step writes; undefined for those that write nothing. */
function bytesOf(step: ServerStep): Uint8Array | undefined {
  if ('raw' in step) return typeof step.raw === 'string' ? encoder.encode(step.raw) : step.raw
  if ('comment' in step) return encoder.encode(`: ${step.comment}\n\n`)
  if (!('event' in step)) return undefined
  const { data, id, type } = step.event
  return encoder.encode(
    formatSse({ data: JSON.stringify(data), ...(id !== undefined && { id }), ...(type && { event: type }) }),
  )
}

function* pieces(bytes: Uint8Array, size: number): Generator<ServerMove> {
  for (let at = 0; at < bytes.length; at += size) yield { bytes: bytes.subarray(at, at + size) }
}

function movesOf(steps: readonly ServerStep[]): ServerMove[] {
  const moves: ServerMove[] = []
  let size = Number.POSITIVE_INFINITY
  let next: 'duplicate' | 'reorder' | 'drop' | undefined
  let late: Uint8Array | undefined
  const write = (bytes: Uint8Array) => void moves.push(...pieces(bytes, size))
  for (const step of steps) {
    if ('chunk' in step) size = step.chunk
    if ('duplicate' in step) next = 'duplicate'
    if ('reorder' in step) next = 'reorder'
    if ('drop' in step) next = 'drop'
    if ('hold' in step) moves.push({ hold: step.hold })
    if ('stall' in step) moves.push({ stall: true })
    if ('reset' in step) moves.push({ reset: true })
    if ('cut' in step || 'stall' in step || 'reset' in step) return moves
    const bytes = bytesOf(step)
    if (!bytes) continue
    if (next === 'reorder') late = bytes
    else if (next !== 'drop') write(bytes)
    if (next === 'duplicate') write(bytes)
    if (late && next !== 'reorder') {
      write(late)
      late = undefined
    }
    next = undefined
  }
  if (late) write(late)
  return moves
}

/** A script as it is told, request by request, whatever brings the answers to whoever asks. */
export interface ScriptedExchange {
  /** Every request so far. */
  readonly requests: readonly ScriptedRequest[]
  /** What the next request gets. One that was not expected, or for which there is no answer, gets 500 with the reason. */
  answer(request: ScriptedRequest): ScriptedAnswer
}

/**
 * A server that answers by a script: plain data, so that the same one can be told in the process and over real HTTP.
 * @example
 * const exchange = scriptedExchange([[{ event: { data: 1 } }, { reset: true }], [{ status: 503 }]])
 * const fetchIt = scriptedFetch(exchange)
 */
export function scriptedExchange(script: ServerScript): ScriptedExchange {
  const requests: ScriptedRequest[] = []
  const refusal = (reason: string): ScriptedAnswer => ({
    status: 500,
    headers: { 'content-type': 'text/plain' },
    moves: [{ bytes: encoder.encode(reason) }],
  })
  return {
    requests,
    answer(request) {
      const steps = script[requests.push(request) - 1]
      if (!steps)
        return refusal(`the script has ${script.length} answers; this is request ${requests.length}`)
      let head = { status: 200, headers: { 'content-type': 'text/event-stream' } as Record<string, string> }
      for (const step of steps) {
        if ('status' in step) head = { status: step.status, headers: { ...head.headers, ...step.headers } }
        if (!('expect' in step)) continue
        for (const [field, wanted] of Object.entries(step.expect))
          if (request[field as keyof ScriptedRequest] !== wanted)
            return refusal(`${field}: expected ${wanted}, got ${request[field as keyof ScriptedRequest]}`)
      }
      return { ...head, moves: movesOf(steps) }
    },
  }
}

const lost = (): TypeError => new TypeError('Failed to fetch')

/** A body that moves as the script says, until whoever reads it goes away. */
function bodyOf(
  moves: readonly ServerMove[],
  signal: AbortSignal | null | undefined,
): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        signal?.addEventListener('abort', () => controller.error(signal.reason), { once: true })
      },
      async pull(controller) {
        for (;;) {
          const move = moves[at++]
          if (!move) return controller.close()
          if ('reset' in move) return controller.error(lost())
          if ('stall' in move) return new Promise(() => {})
          if ('bytes' in move) return controller.enqueue(move.bytes)
          await move.hold
        }
      },
    },
    { highWaterMark: 0 },
  )
}

/** The script as a `fetch`, without a network. A reset is the `TypeError` that a browser's `fetch` throws. */
export function scriptedFetch(exchange: ScriptedExchange): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { pathname, search } = new URL(request.url)
    const body = await request.text()
    const { status, headers, moves } = exchange.answer({
      method: request.method,
      path: pathname + search,
      body,
    })
    return new Response(bodyOf(moves, init?.signal), { status, headers })
  }
}
