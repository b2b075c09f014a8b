import { describe, expect, test } from 'vitest'
import type { ChatStorage } from '../../src/chat/ports.ts'
import { parseEventId } from '../../src/protocol/events.ts'
import { expectStored, type WatchedStorage } from '../chat/storages.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { remoteChat, requestsTo } from '../runtime/remote-chat.ts'
import { say } from '../runtime/scripted-routes.ts'
import { openRoom, put, type Room, type Server, scriptedServer, tell } from '../runtime/scripted-server.ts'

noStrayRejections()

const PAGES = 'GET /sessions/s/messages'

/** Somebody else says so many things. */
function talk(server: Server, room: Room, count: number): void {
  for (let n = 0; n < count; n++)
    say(server, room, `m${room.messages.size + 1}`, [...room.messages.keys()].at(-1) ?? null)
}

/** What is missed while the page is away: more than a page of news, old rows that changed, and some that are gone. */
function moveOn(server: Server, room: Room): void {
  talk(server, room, 50)
  for (const [at, message] of [...room.messages.values()].entries()) {
    if (at % 7 === 3)
      tell(server, room, { type: 'message.updated', message: put(room, { ...message, metadata: { at } }) })
  }
  for (const id of ['m5', 'm45', 'm88']) {
    room.messages.delete(id)
    room.deleted.set(id, ++room.rev)
    tell(server, room, { type: 'message.deleted', id, rev: room.rev })
  }
}

/** A visit with these rows stored, ended in good order. */
async function visited(server: Server): Promise<WatchedStorage> {
  const first = remoteChat({ server, world: createWorld({ name: 'first' }) })
  await first.world.until(() => first.session.get().connection === 'online')
  await first.world.pass(1_000)
  await first.chat.close()
  return first.storage.reopen()
}

/** No cursor claims a row or an event that is not stored: the tidemark none between two pages, either. */
async function expectBacked(storage: ChatStorage, room: Room): Promise<void> {
  const { session, rows } = await storage.window('s', { limit: 1_000 })
  const stored = new Map(rows.map(({ message }) => [message.id, message]))
  for (const message of room.messages.values())
    if ((message.rev ?? 0) <= (session?.rev ?? 0)) expect(stored.get(message.id)).toEqual(message)
  for (const [id, rev] of room.deleted) if (rev <= (session?.rev ?? 0)) expect(stored.has(id)).toBe(false)
  const mark = stored.get(session?.tidemark ?? '')?.seq ?? 0
  for (const { id, seq = 0 } of room.messages.values()) if (seq <= mark) expect(stored.has(id)).toBe(true)
  const cursor = session?.eventId ? parseEventId(session.eventId)?.n : 0
  const last = room.log
    .slice(0, cursor)
    .flatMap(({ event }) => ('message' in event && event.message ? [event.message] : []))
  for (const { id, rev = 0 } of last)
    if (room.messages.has(id)) expect(stored.get(id)?.rev ?? -1).toBeGreaterThanOrEqual(rev)
}

/** A server with a history, and what a client has of it that missed a lot. A gap makes it read pages. */
async function behind(pageSize: number) {
  const server = scriptedServer({ pageSize })
  const room = openRoom(server, 's')
  talk(server, room, 60)
  const storage = await visited(server)
  moveOn(server, room)
  // The server keeps no more than the last few events.
  server.instead = ({ path, headers }) =>
    path.endsWith('/events') && (parseEventId(headers.get('last-event-id') ?? '')?.n ?? 0) < room.log.length
      ? new Response('event: gap\ndata: {"from":1,"to":2,"reason":"trimmed"}\n\n', {
          headers: { 'content-type': 'text/event-stream' },
        })
      : undefined
  return { server, room, storage }
}

describe('10, cursor and rows: a crash between any two transactions of a resync', () => {
  test('costs reading again, never a hole: for every one of them', async () => {
    let whole = 0
    for (let commits = 0; ; commits++) {
      const { server, room, storage } = await behind(20)
      let left = commits
      let refused = 0
      storage.fail((_, operation) => {
        if (operation !== 'commit' || left-- > 0) return false
        refused++
        return true
      })
      const cut = remoteChat({ server, storage, world: createWorld({ name: `cut${commits}` }) })
      await cut.world.until(() => cut.session.get().connection === 'online')
      await cut.world.pass(500)
      const kept = storage.reopen()
      storage.fail(() => true)
      await cut.chat.close()
      await expectBacked(kept, room)
      const before = requestsTo(server, PAGES).length
      const again = remoteChat({ server, storage: kept, world: createWorld({ name: `again${commits}` }) })
      await again.world.until(() => again.session.get().connection === 'online')
      await again.world.pass(2_000)
      const { rows } = await kept.reopen().window('s', { limit: 1_000 })
      expect(rows.map(({ message }) => message)).toEqual([...room.messages.values()])
      await expectStored(again.chat, again.session, kept.reopen()).catch(() => undefined)
      expect(requestsTo(server, PAGES).length - before).toBeLessThanOrEqual(7)
      if (refused === 0) whole++
      if (whole > 1) {
        expect(commits).toBeGreaterThan(4)
        return
      }
    }
  })
})

/** A chat that has the first of four pages; the second is never answered. */
async function firstOfFour() {
  const server = scriptedServer({ pageSize: 20 })
  const room = openRoom(server, 's')
  talk(server, room, 80)
  server.instead = ({ path, query }) =>
    path.endsWith('/messages') && query.get('changedSince') !== '0' ? new Promise(() => {}) : undefined
  const first = remoteChat({ server })
  await first.world.until(() => requestsTo(server, PAGES).length === 2)
  await first.world.pass(1_000)
  return { server, room, first }
}

describe('28: the first of four pages is applied, then the page is gone', () => {
  test('its rows are stored with a cursor that ends with them, and the rest is asked for from there', async () => {
    const { server, room, first } = await firstOfFour()
    expect(first.session.get()).toMatchObject({ connection: 'connecting', tidemark: null })
    const kept = first.storage.reopen()
    first.storage.fail(() => true)
    const page = await kept.window('s', { limit: 1_000 })
    expect(page.rows).toHaveLength(20)
    const revOf = (id: string) => room.messages.get(id)?.rev ?? 0
    expect(page.session).toMatchObject({ rev: revOf('m20'), eventId: null, complete: false, tidemark: null })
    await first.chat.close()
    server.instead = undefined
    const asked = requestsTo(server, PAGES).length
    talk(server, room, 3)
    const again = remoteChat({ server, storage: kept, world: createWorld({ name: 'again' }) })
    await again.world.until(() => again.session.get().messages.at(-1)?.id === 'm83')
    await again.world.pass(1_000)
    const since = requestsTo(server, PAGES)
      .slice(asked)
      .map(({ query }) => query.get('changedSince'))
    expect(since).toEqual(['m20', 'm40', 'm60', 'm80'].map((id) => `${revOf(id)}`))
    const { rows, session } = await kept.reopen().window('s', { limit: 1_000 })
    expect(rows.map(({ message }) => message)).toEqual([...room.messages.values()])
    expect(session).toMatchObject({ rev: room.rev, complete: true, tidemark: 'm83' })
  })

  test('shows all that it has, and ends where the session does, though nobody says more', async () => {
    const { server, first } = await firstOfFour()
    const kept = first.storage.reopen()
    first.storage.fail(() => true)
    await first.chat.close()
    server.instead = undefined
    const again = remoteChat({ server, storage: kept, world: createWorld({ name: 'again' }) })
    await again.world.until(() => again.session.get().messages.at(-1)?.id === 'm80')
    expect(again.session.get().messages).toHaveLength(80)
  })
})
