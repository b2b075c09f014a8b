import { describe, expect, test } from 'vitest'
import { ending, shown } from '../chat/direct-chat.ts'
import { expectStored, watchedStorage } from '../chat/storages.ts'
import { createWorld, idle, noStrayRejections } from '../chat/world.ts'
import { deepFreeze } from '../support/messages.ts'
import { remoteChat, requestsTo, SEND } from './remote-chat.ts'
import { say } from './scripted-routes.ts'
import { cut, openRoom, scriptedServer, tell } from './scripted-server.ts'

noStrayRejections()

const hold = () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  return { held, release: () => release() }
}

describe('a mirrored session', () => {
  test('sends, streams the answer in, and has what the server has', async () => {
    const { session, server, chat, storage, world } = remoteChat({ answer: () => ['Hello ', 'there'] })
    const frozen: unknown[] = []
    session.subscribe(() => frozen.push(deepFreeze(session.get())))
    const { answer, saved } = await session.send('one')
    expect(saved).toBe('disk')
    expect(shown([await answer])).toEqual(['Hello there'])
    await (await session.send('two')).answer
    await world.until(() => chat.health.get().connection === 'online')
    const room = server.rooms.get('s')
    expect(session.get().messages).toEqual([...(room?.messages.values() ?? [])])
    expect(requestsTo(server, 'POST /sessions').length).toBe(1)
    expect(requestsTo(server, SEND).map(({ headers }) => headers.get('idempotency-key'))).toEqual(
      session
        .get()
        .messages.filter(({ role }) => role === 'user')
        .map(({ id }) => id),
    )
    await world.pass(1_000)
    await expectStored(chat, session, storage)
  })

  test('holds one feed, and does not open it again for every message', async () => {
    const { session, server, world } = remoteChat()
    for (const text of ['one', 'two', 'three', 'four']) {
      await (await session.send(text)).answer
      await world.pass(200)
    }
    expect(requestsTo(server, 'GET /sessions/s/events').length).toBe(1)
    expect(requestsTo(server, 'GET /sessions/s/messages').length).toBeLessThanOrEqual(3)
    const accepts = requestsTo(server, SEND).map(({ headers }) => headers.get('accept'))
    expect(accepts.slice(1)).toEqual(Array(3).fill('application/json'))
  })

  test('goes on from its cursor when the line is cut in mid-answer, and the status says so', async () => {
    const again = hold()
    const { session, server, world } = remoteChat()
    await (await session.send('first')).answer
    server.options.answer = () => ['half ', again.held, 'whole']
    const sent = await session.send('two')
    await world.until(() => shown(session.get().messages).at(-1) === 'half ')
    server.online = false
    cut(server)
    await idle()
    expect(session.get()).toMatchObject({ status: 'running', connection: 'reconnecting' })
    expect(session.get().messages.at(-1)?.status).toBe('streaming')
    await world.pass(5_000)
    server.online = true
    again.release()
    await world.until(() => session.get().messages.at(-1)?.status === 'completed')
    expect(shown([await sent.answer])).toEqual(['half whole'])
    const feeds = requestsTo(server, 'GET /sessions/s/events')
    expect(feeds.at(-1)?.headers.get('last-event-id')).toMatch(/^\d+\.t\d+$/)
  })

  test('shows what another device says, and where it moved to', async () => {
    const { session, server, chat, storage, world } = remoteChat()
    await (await session.send('one')).answer
    await world.until(() => requestsTo(server, 'GET /sessions/s/events').length > 0)
    const room = openRoom(server, 's')
    say(server, room, 'elsewhere', session.get().messages[1]?.id ?? null)
    await world.until(() => shown(session.get().messages).includes('elsewhere'))
    expect(session.get().messages.length).toBe(3)
    await world.pass(200)
    await expectStored(chat, session, storage)
  })

  test('is read on another device, in whatever pages', async () => {
    const server = scriptedServer()
    const first = remoteChat({ server })
    for (const text of ['one', 'two', 'three', 'four']) await (await first.session.send(text)).answer
    for (const pageSize of [1, 2, 3, 200]) {
      server.options.pageSize = pageSize
      const { session, chat, storage, world } = remoteChat({
        server,
        world: createWorld({ name: `p${pageSize}` }),
      })
      await world.until(() => session.get().connection === 'online')
      expect(session.get().messages).toEqual(first.session.get().messages)
      expect(chat.sessions.get().map(({ id }) => id)).toEqual(['s'])
      await world.pass(200)
      await expectStored(chat, session, storage)
    }
  })

  test('that is deleted elsewhere is gone here, from the storage too', async () => {
    const { session, server, chat, storage, world } = remoteChat()
    await (await session.send('one')).answer
    await world.until(() => requestsTo(server, 'GET /sessions/s/events').length > 0)
    const room = openRoom(server, 's')
    room.gone = true
    tell(server, room, { type: 'session.deleted', id: 's', rev: ++room.rev })
    await world.until(() => chat.sessions.get().length === 0)
    await world.pass(1_000)
    expect((await storage.window('s', { limit: 9 })).rows).toEqual([])
    expect(await ending(session.send('two'))).toBe('not-found')
    const asked = server.requests.length
    await world.pass(300_000)
    expect(server.requests.length - asked).toBeLessThan(3)
  })

  test('that is renamed elsewhere has the new name here, in the storage too', async () => {
    const { session, server, chat, storage, world } = remoteChat()
    await (await session.send('one')).answer
    await world.until(() => requestsTo(server, 'GET /sessions/s/events').length > 0)
    const room = openRoom(server, 's')
    room.session = { ...room.session, title: 'Ebb', rev: ++room.rev }
    tell(server, room, { type: 'session.updated', session: room.session })
    await world.until(() => chat.sessions.get()[0]?.title === 'Ebb')
    await world.pass(200)
    await expectStored(chat, session, storage)
    await session.rename('Flow')
    await world.until(() => room.session.title === 'Flow')
    await world.pass(200)
    expect(session.get().session?.title).toBe('Flow')
    await expectStored(chat, session, storage)
  })

  test('looks the same, as the same object, after events that change nothing of it', async () => {
    const { session, server, world } = remoteChat()
    await (await session.send('one')).answer
    await world.until(() => requestsTo(server, 'GET /sessions/s/events').length > 0)
    await world.pass(1_000)
    const before = session.get()
    const room = openRoom(server, 's')
    tell(server, room, { type: 'run.waiting', runId: 'r', calls: [] })
    tell(server, room, { type: 'run.finished', runId: 'r', outcome: 'completed' })
    await world.pass(1_000)
    expect(session.get()).toBe(before)
  })

  test('a burst of ten thousand replayed deltas is a handful of notifications', async () => {
    const server = scriptedServer()
    const room = openRoom(server, 's')
    say(server, room, 'go', null)
    tell(server, room, { type: 'message.started', id: 'a', runId: 'r', rev: ++room.rev })
    const { session, world } = remoteChat({ server })
    await world.until(() => requestsTo(server, 'GET /sessions/s/events').length > 0)
    let told = 0
    session.subscribe(() => told++)
    const message = session.message('a')
    let appended = ''
    message.onAppend(({ text }) => {
      appended += text
    })
    await idle()
    server.spoil = async (response) => {
      if (!response.headers.get('content-type')?.includes('event-stream')) return response
      const text = Array.from({ length: 10_000 }, (_, at) => {
        const id = room.log.length + at + 1
        return `id: ${id}.x\nevent: message.delta\ndata: {"id":"a","index":0,"delta":"x"}\n\n`
      })
      return new Response(text.join(''), { headers: { 'content-type': 'text/event-stream' } })
    }
    cut(server, 'over')
    await world.until(() => appended.length === 10_000)
    await expect.poll(() => told).toBeGreaterThan(0)
    expect(told).toBeLessThan(10)
    expect(shown(session.get().messages).at(-1)?.length).toBe(10_000)
  })
})

test('branches are the server’s: regenerate, edit and select end the same on both sides', async () => {
  let count = 0
  const { session, server, chat, storage, world } = remoteChat({ answer: () => [`answer ${++count}`] })
  await (await session.send('one')).answer
  const [question, first] = session.get().messages
  await (await session.regenerate(first?.id ?? '')).answer
  expect(shown(session.get().messages)).toEqual(['one', 'answer 2'])
  await session.selectBranch(first?.id ?? '')
  await world.pass(300)
  expect(shown(session.get().messages)).toEqual(['one', 'answer 1'])
  expect(server.rooms.get('s')?.session.headId).toBe(first?.id)
  await (await session.edit(question?.id ?? '', 'ONE')).answer
  await world.pass(300)
  expect(shown(session.get().messages)).toEqual(['ONE', 'answer 3'])
  await expectStored(chat, session, storage)
  const other = remoteChat({ server, storage: watchedStorage(), world: createWorld({ name: 'other' }) })
  await other.world.until(() => other.session.get().connection === 'online')
  expect(other.session.get().messages).toEqual(session.get().messages)
})
