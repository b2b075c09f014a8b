import { describe, expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import { expectInStep, type RemoteChat, remoteChat, requestsTo } from '../runtime/remote-chat.ts'
import { openRoom, tell } from '../runtime/scripted-server.ts'
import { likeBrowser } from './browser-tabs.ts'
import { directChat, ending, outboxOf, shown, statuses } from './direct-chat.ts'
import { watchedStorage } from './storages.ts'
import { createWorld, idle, noStrayRejections } from './world.ts'

noStrayRejections()

/** Somebody deletes the session at the server. */
function deleteThere({ server }: RemoteChat): void {
  const room = openRoom(server, 's')
  room.gone = true
  tell(server, room, { type: 'session.deleted', id: 's', rev: ++room.rev })
}

const GONE = { status: 'ready', error: { code: 'not-found', message: 'the session was deleted' } }

describe('a session that is deleted while it is open', () => {
  test('on another device says so, and shows nothing of what was said', async () => {
    const open = remoteChat()
    const { session, world, chat } = open
    await (await session.send('one')).answer
    await world.until(() => session.get().connection === 'online')
    expect(session.get().error).toBeUndefined()
    deleteThere(open)
    await world.until(() => session.get().error !== undefined)
    expect(session.get()).toMatchObject({ ...GONE, messages: [], session: undefined, hasOlder: false })
    expect(chat.sessions.get()).toEqual([])
    for (const call of [session.send('two'), session.rename('x'), session.loadOlder(), session.resync()])
      expect(await ending(call)).toBe('not-found')
    await world.pass(300_000)
    expect(session.get()).toMatchObject(GONE)
    expect(chat.health.get().connection).toBe('idle')
  })

  test('is gone also where somebody has just renamed it here, and what waited is not sent to it', async () => {
    const open = remoteChat()
    const { session, world, server } = open
    const { id } = await session.send('one')
    await world.until(() => session.get().connection === 'online' && session.get().status === 'ready')
    server.instead = ({ method }) => (method === 'PATCH' ? new Response('', { status: 503 }) : undefined)
    await session.rename('another')
    await session.edit(id, 'ONE')
    deleteThere(open)
    await world.until(() => session.get().error?.message === GONE.error.message)
    await world.pass(1_000)
    const before = server.requests.length
    await world.pass(60_000)
    expect(server.requests.length).toBe(before)
    expect(session.get()).toMatchObject({ ...GONE, session: undefined })
    expect(shown(session.get().messages)).toEqual(['ONE'])
    expect(statuses(session.get().messages)).toEqual(['user failed'])
  })

  test('in the middle of an answer is not running any more', async () => {
    const open = remoteChat({ answer: () => ['half', new Promise<void>(() => {})] })
    const { session, world } = open
    const { answer } = await session.send('one')
    await world.until(() => shown(session.get().messages).includes('half'))
    deleteThere(open)
    expect(await ending(answer)).toBe('not-found')
    expect(session.get()).toMatchObject({ ...GONE, messages: [] })
  })

  test('fails what waits to be sent, and keeps its words, also over a reload', async () => {
    const open = remoteChat()
    const { session, world, server, chat, storage } = open
    await (await session.send('one')).answer
    await world.pass(1_000)
    server.online = false
    const sent = await session.send('two')
    await session.send('three')
    await session.rename('Tides')
    await session.regenerate(session.get().messages[1]?.id ?? '')
    openRoom(server, 's').gone = true
    server.online = true
    await world.pass(60_000)
    expect(await ending(sent.answer)).toBe('not-found')
    const expected = (view: typeof session) => {
      expect(view.get()).toMatchObject(GONE)
      expect(shown(view.get().messages)).toEqual(['two', 'three'])
      expect(statuses(view.get().messages)).toEqual(['user failed', 'user failed'])
    }
    expected(session)
    await chat.close()
    const requests = server.requests.length
    const again = remoteChat({ server, storage: storage.reopen(), world: createWorld({ name: 'new' }) })
    await again.world.pass(60_000)
    expected(again.session)
    expect(server.requests.slice(requests).filter(({ method }) => method !== 'GET')).toEqual([])
    expect(await ending(again.session.retry(sent.id))).toBe('not-found')
    for (const { id } of again.session.get().messages) await again.session.discard(id)
    expect(again.session.get().messages).toEqual([])
    expect(await outboxOf(again.storage)).toEqual([])
    const { rows } = await again.storage.window('s', { limit: 9 })
    expect(rows).toEqual([])
  })

  test('in another tab says so here, also what is just being written', async () => {
    const storage = watchedStorage(memoryStorage(), likeBrowser())
    const first = directChat({ storage, world: createWorld({ name: 'one' }) })
    await (await first.session.send('one')).answer
    await idle()
    const second = directChat({ storage: storage.reopen(), world: createWorld({ name: 'two' }) })
    await second.world.until(() => second.session.get().messages.length === 2)
    const [, late] = await Promise.all([second.session.delete(), ending(first.session.send('two'))])
    await expect
      .poll(() => [first, second].map(({ session }) => session.get().error?.code))
      .toEqual(['not-found', 'not-found'])
    await idle()
    await first.world.pass(60_000)
    for (const { session, chat } of [first, second]) {
      expect(session.get()).toMatchObject(GONE)
      expect(chat.sessions.get()).toEqual([])
      expect(await ending(session.send('x'))).toBe('not-found')
    }
    expect(late).toBeDefined()
    const { rows, session: left } = await storage.window('s', { limit: 9 })
    expect(left?.deleted).toBe(true)
    // Nothing of the conversation came back; what was not sent is kept as such.
    expect(rows.filter(({ message }) => message.role !== 'user' || message.status !== 'failed')).toEqual([])
  })

  test('in another view of the same page says so there, too', async () => {
    const { session, chat, world } = remoteChat()
    await (await session.send('one')).answer
    const view = chat.session('s')
    await session.delete()
    expect(view.get()).toMatchObject({ ...GONE, messages: [] })
    await world.pass(10_000)
    expect(await ending(view.send('two'))).toBe('not-found')
  })

  test('is deleted at the server once that can be reached, whatever waited before', async () => {
    const { session, server, world, chat, storage } = remoteChat()
    await (await session.send('one')).answer
    server.instead = ({ method }) => (method === 'POST' ? new Response('{}', { status: 400 }) : undefined)
    await session.send('refused')
    await world.pass(1_000)
    await session.delete()
    await world.pass(10_000)
    expect(openRoom(server, 's').gone).toBe(true)
    expect(chat.health.get().outbox).toBe(0)
    expect(await outboxOf(storage)).toEqual([])
  })
})

test('a session is listed until its deletion is stored, or could not be: whoever leaves the page finds what they saw', async () => {
  const slow = directChat({ steps: ['one'] })
  await (await slow.session.send('one')).answer
  await idle()
  const release = slow.storage.hold()
  const deleted = slow.session.delete()
  await idle()
  expect(slow.session.get().messages).toEqual([])
  expect(slow.chat.sessions.get().map(({ id }) => id)).toEqual([slow.session.id])
  release()
  await deleted
  expect(slow.chat.sessions.get()).toEqual([])

  const failing = directChat({ steps: ['one'] })
  await (await failing.session.send('one')).answer
  failing.storage.fail(() => true)
  await failing.session.delete()
  expect(failing.chat.sessions.get()).toEqual([])
})

test('what is said right behind a deletion is refused, and no run begins by it', async () => {
  const direct = directChat({ steps: ['one', 'two'] })
  const mirrored = remoteChat()
  for (const { session } of [direct, mirrored]) {
    const first = await session.send('one')
    const { id } = await first.answer
    const deleted = session.delete()
    const calls = [
      session.send('two'),
      session.edit(first.id, 'ONE'),
      session.regenerate(id),
      session.calls(),
    ]
    for (const call of calls) expect(await ending(call)).toBe('not-found')
    await deleted
    await idle()
    expect(session.get()).toMatchObject({ ...GONE, messages: [] })
  }
  expect(direct.model.calls.length).toBe(1)
})

test('a session that its server has lost says what happened, and is in step once the server knows it again', async () => {
  const open = remoteChat()
  const { session, server, world, chat } = open
  await (await session.send('one')).answer
  await world.pass(1_000)
  const known = session.get().messages
  const room = openRoom(server, 's')
  server.rooms.delete('s')
  void session.resync()
  await world.until(() => session.get().error !== undefined)
  expect(session.get()).toMatchObject({
    connection: 'reconnecting',
    error: { code: 'not-found', message: 'the server does not know this session any more' },
  })
  expect(session.get().messages).toEqual(known)
  expect(chat.health.get().lastError).toEqual(session.get().error)
  server.rooms.set('s', room)
  await world.until(() => session.get().error === undefined, 120_000)
  await expectInStep(open)
  expect(requestsTo(server, 'POST /sessions').length).toBe(1)
})
