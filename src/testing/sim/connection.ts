import type { NetworkFault, NetworkOptions } from './network.ts'
import type { Actor, Schedule } from './schedule.ts'

/** What the connections of one network share. */
export interface Wire {
  readonly schedule: Schedule
  readonly options: NetworkOptions
  /** Whose turn it is when something arrives. */
  readonly actor: Actor
  readonly open: Set<Connection>
  readonly offline: Set<Actor>
  count: number
}

/** One request and its answer. */
export interface Connection {
  readonly number: number
  readonly client: Actor
  server: Actor | undefined
  /** Tells the server that the client is gone. */
  readonly abort: AbortController
  /** The client has heard its end. */
  over: boolean
  /** Nothing passes any more. */
  stalled: boolean
  resolve(response: Response): void
  reject(reason: unknown): void
  controller: ReadableStreamDefaultController<Uint8Array> | undefined
  /** Milliseconds for which pieces are held back. */
  held: number
}

/** Ends a connection for both sides, each in its turn. */
export function fail(wire: Wire, connection: Connection): void {
  wire.open.delete(connection)
  connection.abort.abort()
  toClient(wire, connection, 'reset', 0, () => {
    const reason = new TypeError('Failed to fetch')
    connection.over = true
    connection.reject(reason)
    connection.controller?.error(reason)
  })
}

/** Something arrives at the client, after all that was sent before it. */
function toClient(wire: Wire, connection: Connection, label: string, delay: number, run: () => void): void {
  wire.schedule.post({
    actor: connection.client,
    label: `${label} ${connection.number}`,
    delay,
    lane: `connection ${connection.number}`,
    run() {
      if (!connection.over) run()
    },
  })
}

/** The pieces that bytes arrive in. */
function torn(wire: Wire, bytes: Uint8Array, fault: NetworkFault | undefined): Uint8Array[] {
  const { chance } = wire.schedule
  if (fault === 'tear' && bytes.length < 400) return Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
  const at = chance.happens(0.3) ? chance.int(bytes.length) : 0
  return at === 0 ? [bytes] : [bytes.subarray(0, at), bytes.subarray(at)]
}

const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** What a proxy out of its mind makes of a piece of an event stream. */
function mangled(wire: Wire, bytes: Uint8Array, fault: NetworkFault | undefined): Uint8Array {
  if (fault !== 'repeat' && fault !== 'drop' && fault !== 'swap') return bytes
  const frames = decoder.decode(bytes).split(/(?<=\n\n)/)
  const at = wire.schedule.chance.int(frames.length)
  const frame = frames[at] ?? ''
  if (fault === 'repeat') frames.splice(at, 0, frame)
  else frames.splice(at, 1)
  if (fault === 'swap') frames.splice(at + 1, 0, frame)
  return encoder.encode(frames.join(''))
}

/** A piece of the answer on its way. Returns whether more may follow. */
function forward(
  wire: Wire,
  connection: Connection,
  given: Uint8Array,
  fault: NetworkFault | undefined,
): boolean {
  const { chance } = wire.schedule
  if (fault === 'cut') fail(wire, connection)
  else if (fault === 'end') close(wire, connection)
  else if (fault === 'stall') connection.stalled = true
  if (fault === 'cut' || fault === 'end') return false
  if (fault === 'buffer') connection.held = 1_000 + chance.int(30_000)
  if (connection.stalled) return true
  for (const piece of torn(wire, mangled(wire, given, fault), fault))
    toClient(wire, connection, 'piece', connection.held + chance.int(10), () =>
      connection.controller?.enqueue(piece),
    )
  return true
}

function close(wire: Wire, connection: Connection): void {
  if (connection.stalled) return
  wire.open.delete(connection)
  toClient(wire, connection, 'end', connection.held + wire.schedule.chance.int(10), () => {
    connection.over = true
    connection.controller?.close()
  })
  connection.abort.abort()
}

async function pump(wire: Wire, connection: Connection, body: ReadableStream<Uint8Array>, request: Request) {
  const { options } = wire
  const reader = body.getReader()
  connection.abort.signal.addEventListener('abort', () => void reader.cancel().catch(() => undefined))
  const isStream = request.headers.get('accept')?.includes('event-stream') ?? false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (connection.over || connection.server?.state === 'dead') return
      if (done) return close(wire, connection)
      const fault = isStream ? options.fault?.('piece', request) : undefined
      if (!forward(wire, connection, value, fault)) return
    }
  } catch {
    // The server broke the answer off, or was told that nobody reads it.
    if (!connection.over) fail(wire, connection)
  }
}

/** Brings an answer to the client: its head, then its body, piece by piece. */
export function carry(
  wire: Wire,
  connection: Connection,
  response: Response,
  request: Request,
  fault: NetworkFault | undefined,
): void {
  const { chance } = wire.schedule
  const delay = fault === 'delay' ? 1_000 + chance.int(20_000) : chance.int(20)
  const { status, headers, body } = response
  if (connection.stalled) return
  toClient(wire, connection, 'answer', delay, () => {
    const own = new ReadableStream<Uint8Array>({
      start(controller) {
        connection.controller = controller
      },
      cancel() {
        connection.over = true
        wire.open.delete(connection)
        wire.schedule.post({ actor: wire.actor, label: 'hang up', run: () => connection.abort.abort() })
      },
    })
    if (!body) connection.over = true
    connection.resolve(new Response(body ? own : null, { status, headers }))
  })
  if (body) void pump(wire, connection, body, request)
  else wire.open.delete(connection)
}
