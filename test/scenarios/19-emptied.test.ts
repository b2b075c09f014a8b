import { describe, expect, test } from 'vitest'
import { directChat, lookInto, outboxOf, shown } from '../chat/direct-chat.ts'
import { expectStored } from '../chat/storages.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { expectInStep, remoteChat, requestsTo } from '../runtime/remote-chat.ts'
import { say } from '../runtime/scripted-routes.ts'
import { openRoom, scriptedServer } from '../runtime/scripted-server.ts'

noStrayRejections()

/** A server whose session has so many messages. */
function serverWith(count: number) {
  const server = scriptedServer()
  const room = openRoom(server, 's')
  for (let n = 1; n <= count; n++) say(server, room, `m${n}`, n > 1 ? `m${n - 1}` : null)
  return server
}

/** A chat that has only the newest messages loaded, of all that it stored on an earlier visit. */
async function second(count: number) {
  const server = serverWith(count)
  const first = remoteChat({ server, world: createWorld({ name: 'first' }) })
  await first.world.until(() => first.session.get().connection === 'online')
  await first.world.pass(1_000)
  await first.chat.close()
  const open = remoteChat({ server, storage: first.storage.reopen() })
  await open.world.until(() => open.session.get().connection === 'online')
  return open
}

describe('19: a database that is deleted while the page is open', () => {
  test('gets everything that the page knows, also what changed long ago', async () => {
    const { session, chat, storage, world } = directChat()
    for (const text of ['one', 'two', 'three']) await (await session.send(text)).answer
    await world.pass(1_000)
    const known = session.get().messages
    storage.empty()
    expect((await session.send('four')).saved).toBe('disk')
    await world.until(() => session.get().status === 'ready')
    await world.pass(1_000)
    await expectStored(chat, session, storage)
    expect(chat.health.get()).toMatchObject({ storage: 'disk', lastError: { code: 'storage' } })
    await chat.close()
    const look = lookInto(storage)
    await look.world.until(() => look.session.get().status === 'ready')
    expect(look.session.get().messages.slice(0, 6)).toEqual(known)
    expect(shown(look.session.get().messages)).toHaveLength(8)
  })

  test('gets the sessions that nobody touches, too, with the one in which something is said', async () => {
    const { session, chat, storage, world } = directChat()
    const other = chat.session('t')
    await (await session.send('zero')).answer
    await (await other.send('elsewhere')).answer
    await world.pass(1_000)
    storage.empty()
    await (await session.send('one')).answer
    await world.pass(1_000)
    expect((await storage.window('t', { limit: 9 })).rows.map(({ message }) => message)).toEqual(
      other.get().messages,
    )
  })

  test('loses nothing that waits to be sent', async () => {
    const { session, storage, server, world } = remoteChat()
    await (await session.send('one')).answer
    server.online = false
    const { id } = await session.send('two')
    storage.empty()
    await session.rename('Tides')
    expect((await outboxOf(storage)).map((row) => row.request.type)).toEqual(['send', 'patchSession'])
    expect((await storage.messages([id])).length).toBe(1)
    server.online = true
    await world.pass(60_000)
    expect(openRoom(server, 's').messages.has(id)).toBe(true)
  })

  test('is asked the server for, where more was stored than is loaded: all of it is stored again', async () => {
    const open = await second(130)
    const { session, storage, server, world } = open
    expect(session.get().messages).toHaveLength(50)
    storage.empty()
    await (await session.send('more')).answer
    await world.pass(10_000)
    await expectInStep(open)
    expect((await storage.window('s', { limit: 1_000 })).rows).toHaveLength(132)
    expect(requestsTo(server, 'GET /sessions/s/messages').at(-1)?.query.get('changedSince')).toBe('0')
  })

  test('never holds a cursor that claims more than its rows, whenever the page is gone', async () => {
    for (let commits = 1; commits <= 8; commits++) {
      const { session, storage, server, world, chat } = await second(70)
      storage.empty()
      let left = commits
      storage.fail((_, operation) => operation === 'commit' && left-- <= 0)
      await session.send('more')
      await world.pass(3_000)
      const kept = storage.reopen()
      storage.fail(() => true)
      const { session: row, rows } = await kept.window('s', { limit: 1_000 })
      const stored = new Set(rows.map(({ message }) => message.id))
      const room = openRoom(server, 's')
      for (const { id, rev = 0 } of room.messages.values())
        if (rev <= (row?.rev ?? 0)) expect([commits, id, stored.has(id)]).toEqual([commits, id, true])
      await chat.close()
      const again = remoteChat({ server, storage: kept, world: createWorld({ name: `again${commits}` }) })
      await again.world.pass(20_000)
      const whole = await kept.reopen().window('s', { limit: 1_000 })
      expect(whole.rows.map(({ message }) => message)).toEqual([...room.messages.values()])
    }
  })

  test('is told once, and asks for nothing where nothing was lost', async () => {
    const { session, chat, storage, server, world } = remoteChat()
    await (await session.send('one')).answer
    await world.pass(1_000)
    const errors = new Set<unknown>([undefined])
    chat.health.subscribe(() => errors.add(chat.health.get().lastError))
    const pages = requestsTo(server, 'GET /sessions/s/messages').length
    storage.empty()
    await session.rename('Tides')
    await world.pass(60_000)
    expect(errors.size).toBe(2)
    expect(chat.health.get().lastError?.message).toContain('emptied')
    expect(requestsTo(server, 'GET /sessions/s/messages').length).toBe(pages)
    await expectStored(chat, session, storage)
  })

  test('is found by an empty answer as well: nothing in memory is taken for gone', async () => {
    const open = await second(60)
    open.storage.empty()
    await open.session.loadOlder()
    await open.world.pass(5_000)
    await open.session.loadOlder()
    expect(open.session.get().messages).toHaveLength(60)
    await expectInStep(open)
  })
})
