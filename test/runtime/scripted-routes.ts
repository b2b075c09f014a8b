import { parseEventId } from '../../src/protocol/events.ts'
import { accept, run } from './scripted-run.ts'
import {
  cursorOf,
  json,
  moveHead,
  openRoom,
  put,
  type Room,
  refusal,
  type Seen,
  type Server,
  stream,
  tell,
} from './scripted-server.ts'

const noRoute = () => new Response('nothing here', { status: 404 })

function page(server: Server, room: Room, { query }: Seen): Response {
  const { numbered = true, pageSize = 200 } = server.options
  const all = [...room.messages.values()]
  const since = Number(query.get('changedSince') ?? 0)
  const place = (name: string) => all.findIndex(({ id }) => id === query.get(name))
  const [after, before] = [place('after'), place('before')]
  const rows = query.has('before')
    ? all.slice(0, Math.max(0, before)).slice(-pageSize)
    : query.has('changedSince') && numbered
      ? all.filter(({ rev = 0 }) => rev > since).toSorted((a, b) => (a.rev ?? 0) - (b.rev ?? 0))
      : all.slice(after + 1)
  const messages = rows.slice(0, pageSize)
  const hasMore = rows.length > pageSize
  if (!numbered) return json({ messages: messages.map(({ rev: _, seq: __, ...rest }) => rest), hasMore })
  const rev = hasMore ? (messages.at(-1)?.rev ?? since) : room.rev
  const deleted = [...room.deleted]
    .map(([id, at]) => ({ id, rev: at }))
    .filter(({ rev: at }) => at > since && at <= rev)
  return json({
    messages,
    hasMore,
    limited: false,
    eventId: cursorOf(room),
    rev,
    deleted,
    session: room.session,
  })
}

function feed(server: Server, room: Room, seen: Seen): Response {
  if (server.options.feed === false) return noRoute()
  const cursor = parseEventId(seen.headers.get('last-event-id') ?? '')
  return stream(server, room, cursor?.n ?? 0, seen, (event) => event.type === 'session.deleted')
}

function send(server: Server, room: Room, seen: Seen): Response {
  const body = JSON.parse(seen.body)
  const known = room.bodies.get(body.id)
  if (known !== undefined && known !== seen.body) return refusal(409, 'conflict')
  const from = room.log.length
  if (known === undefined) {
    room.bodies.set(body.id, seen.body)
    accept(server, room, body)
  }
  const message = room.messages.get(room.clientIds.get(body.id) ?? body.id)
  if (!seen.headers.get('accept')?.includes('text/event-stream'))
    return json({ message, runId: body.runId, eventId: cursorOf(room) }, 202)
  return stream(server, room, known === undefined ? from : 0, seen, (event) =>
    server.options.numbered === false
      ? event.type === 'message.completed'
      : event.type === 'run.finished' && event.runId === body.runId,
  )
}

function command(server: Server, room: Room, seen: Seen): Response {
  const body = JSON.parse(seen.body)
  const before = room.bodies.get(body.id)
  if (before !== undefined) return json(JSON.parse(before), 202)
  if (body.type === 'cancel') {
    room.cancelled.add(body.runId)
    room.wake.get(body.runId)?.()
  }
  const message = room.messages.get(body.messageId)
  if (body.type === 'regenerate' && message) {
    moveHead(server, room, message.id)
    run(server, room, message, body.runId)
  }
  if (body.type === 'selectBranch') moveHead(server, room, body.messageId)
  const { newId: id, runId, content } = body
  const edited =
    body.type === 'edit' &&
    message &&
    accept(server, room, { id, runId, content, parentId: message.parentId })
  const answer = { eventId: cursorOf(room), ...(edited && { message: edited }) }
  room.bodies.set(body.id, JSON.stringify(answer))
  return json(answer, 202)
}

function change(server: Server, room: Room, { method, body }: Seen): Response {
  if (method === 'GET') return json(room.session)
  if (method === 'PATCH') {
    room.session = { ...room.session, ...JSON.parse(body), rev: ++room.rev }
    tell(server, room, { type: 'session.updated', session: room.session })
    return json(room.session)
  }
  room.gone = true
  tell(server, room, { type: 'session.deleted', id: room.session.id, rev: ++room.rev })
  return new Response(null, { status: 204 })
}

const ROUTES: Readonly<Record<string, (server: Server, room: Room, seen: Seen) => Response>> = {
  'GET messages': page,
  'POST messages': send,
  'GET events': feed,
  'POST commands': command,
  'GET ': change,
  'PATCH ': change,
  'DELETE ': change,
}

function sessions(server: Server, { method, body }: Seen): Response {
  if (server.options.sessions === false) return noRoute()
  if (method === 'POST') return json(openRoom(server, JSON.parse(body).id).session, 201)
  const listed = [...server.rooms.values()].filter(({ gone }) => !gone).map(({ session }) => session)
  return json({ sessions: listed, hasMore: false })
}

export function route(server: Server, seen: Seen): Response {
  const [, root, id, what = ''] = seen.path.split('/')
  if (root !== 'sessions') return noRoute()
  if (id === undefined) return sessions(server, seen)
  const lenient = server.options.sessions === false
  const room = server.rooms.get(id) ?? (lenient && what === 'messages' ? openRoom(server, id) : undefined)
  const handler = ROUTES[`${seen.method} ${what}`]
  if (!handler || !room || (lenient && what !== 'messages' && what !== 'events')) return noRoute()
  return room.gone ? refusal(410, 'not-found') : handler(server, room, seen)
}

/** The server as a `fetch`. */
export function fetchOf(server: Server): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(String(input), 'http://server')
    const seen: Seen = {
      method: init.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      headers: new Headers(init.headers),
      body: typeof init.body === 'string' ? init.body : '',
      signal: init.signal ?? undefined,
    }
    await new Promise((resolve) => setImmediate(resolve))
    init.signal?.throwIfAborted()
    if (!server.online) throw new TypeError('Failed to fetch')
    server.requests.push(seen)
    const instead = await server.instead?.(seen)
    const response = instead ?? route(server, seen)
    return (await server.spoil?.(response, seen)) ?? response
  }
}

/** A message that somebody else wrote there. */
export function say(server: Server, room: Room, id: string, parentId: string | null): void {
  const message = put(room, {
    id,
    sessionId: room.session.id,
    role: 'user',
    parentId,
    status: 'completed',
    content: [{ type: 'text', text: id }],
    createdAt: 1,
    updatedAt: 1,
    v: 1,
  })
  tell(server, room, { type: 'message.created', message })
  moveHead(server, room, id)
}
