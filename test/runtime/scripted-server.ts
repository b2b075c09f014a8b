import { formatSse } from '../../src/lib/sse.ts'
import type { Message, Session } from '../../src/message/schema.ts'
import { frameOf } from '../../src/protocol/codec.ts'
import { type ChatEvent, type Envelope, formatEventId } from '../../src/protocol/events.ts'

/** A request as it came in. */
export interface Seen {
  method: string
  path: string
  query: URLSearchParams
  headers: Headers
  /** As it was sent, byte for byte. */
  body: string
  signal: AbortSignal | undefined
}

export interface ServerOptions {
  /** What is answered, piece by piece. A promise is waited for. @default [`re: ${text}`] */
  answer?: (text: string) => readonly (string | Promise<void>)[]
  /** Whether events are numbered. @default true */
  numbered?: boolean
  /** Whether deltas say where they belong. @default true */
  offsets?: boolean
  /** Whether there is a feed. @default true */
  feed?: boolean
  /** Whether sessions can be created, listed, renamed. @default true */
  sessions?: boolean
  /** Whether messages get an id of the server's own. @default false */
  renames?: boolean
  /** Rows on a page. */
  pageSize?: number
}

export interface Room {
  session: Session
  messages: Map<string, Message>
  deleted: Map<string, number>
  log: Envelope[]
  rev: number
  gone: boolean
  /** Ids of the client by the id that the server gave instead. */
  clientIds: Map<string, string>
  bodies: Map<string, string>
  cancelled: Set<string>
  /** Lets a run notice that it was cancelled. */
  wake: Map<string, () => void>
  /** Questions that wait for the runs before theirs. */
  waiting: Map<string, Message>
  /** The end of the runs so far. */
  tail: Promise<void>
}

type Stream = ReadableStreamDefaultController<Uint8Array>

export interface Server {
  options: ServerOptions
  rooms: Map<string, Room>
  requests: Seen[]
  /** Without it, no request arrives. */
  online: boolean
  /** Answers instead of the server, where it returns something. */
  instead: ((seen: Seen) => Response | undefined | Promise<Response | undefined>) | undefined
  /** Makes another answer of the server's. What it throws is a lost line. */
  spoil: ((response: Response, seen: Seen) => Response | Promise<Response>) | undefined
  streams: Map<Stream, (envelope: Envelope) => void>
}

export function scriptedServer(options: ServerOptions = {}): Server {
  return {
    options,
    rooms: new Map(),
    requests: [],
    online: true,
    instead: undefined,
    spoil: undefined,
    streams: new Map(),
  }
}

export const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })

export const refusal = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  json({ error: { code, message: `refused with ${status}` } }, status, headers)

/** Numbers an event and tells everybody who listens. */
export function tell(server: Server, room: Room, event: ChatEvent): void {
  const id = { n: room.log.length + 1, tag: `t${room.log.length + 1}` }
  const envelope: Envelope = server.options.numbered === false ? { event } : { id, event }
  room.log.push(envelope)
  for (const [, listener] of server.streams) listener(envelope)
}

/** Puts a message in as the server has it. */
export function put<T extends Message>(room: Room, message: T): T {
  const present = room.messages.get(message.id)
  const row = { ...message, rev: ++room.rev, seq: present?.seq ?? room.messages.size + 1 }
  room.messages.set(row.id, row)
  return row
}

export function openRoom(server: Server, id: string): Room {
  const present = server.rooms.get(id)
  if (present) return present
  const session: Session = { id, createdAt: 1, updatedAt: 1, metadata: {}, headId: null, v: 1 }
  const room: Room = {
    session,
    messages: new Map(),
    deleted: new Map(),
    log: [],
    rev: 0,
    gone: false,
    clientIds: new Map(),
    bodies: new Map(),
    cancelled: new Set(),
    wake: new Map(),
    waiting: new Map(),
    tail: Promise.resolve(),
  }
  server.rooms.set(id, room)
  return room
}

export function moveHead(server: Server, room: Room, headId: string): void {
  room.session = { ...room.session, headId, rev: ++room.rev }
  tell(server, room, { type: 'session.updated', session: room.session })
}

const encoder = new TextEncoder()
const bytesOf = (server: Server, envelope: Envelope) => {
  const { id: _, ...unnumbered } = envelope
  return encoder.encode(formatSse(frameOf(server.options.numbered === false ? unnumbered : envelope)))
}

/** A stream of events: those from an index on, then what comes, until `isLast`. */
export function stream(
  server: Server,
  room: Room,
  from: number,
  seen: Seen,
  isLast: (event: ChatEvent) => boolean = () => false,
): Response {
  let own: Stream | undefined
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      own = controller
      const end = () => {
        server.streams.delete(controller)
        controller.close()
      }
      const push = (envelope: Envelope) => {
        controller.enqueue(bytesOf(server, envelope))
        if (isLast(envelope.event)) end()
        return isLast(envelope.event)
      }
      controller.enqueue(encoder.encode(': open\n\n'))
      for (const envelope of room.log.slice(from)) if (push(envelope)) return
      server.streams.set(controller, (envelope) => {
        if (room.log.includes(envelope)) push(envelope)
      })
      seen.signal?.addEventListener('abort', () => {
        if (!server.streams.delete(controller)) return
        controller.error(new DOMException('aborted', 'AbortError'))
      })
    },
    cancel() {
      if (own) server.streams.delete(own)
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

/** Ends every stream: with an error, as a lost line does, or as if it were over. */
export function cut(server: Server, how: 'lost' | 'over' = 'lost'): void {
  for (const controller of [...server.streams.keys()]) {
    server.streams.delete(controller)
    if (how === 'over') controller.close()
    else controller.error(new TypeError('network error'))
  }
}

export const cursorOf = (room: Room): string | null => {
  const id = room.log.at(-1)?.id
  return id ? formatEventId(id) : null
}
