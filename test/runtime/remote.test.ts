import { describe, expect, test } from 'vitest'
import { ending, outboxOf, shown, statuses } from '../chat/direct-chat.ts'
import { expectStored, watchedStorage } from '../chat/storages.ts'
import { createWorld, idle, noStrayRejections } from '../chat/world.ts'
import { deepFreeze } from '../support/messages.ts'
import { remoteChat, requestsTo, SEND } from './remote-chat.ts'
import { say } from './scripted-routes.ts'
import { cut, openRoom, refusal, scriptedServer, tell } from './scripted-server.ts'

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

describe('what is sent', () => {
  test('offline waits, and arrives once, in its order', async () => {
    const { session, server, chat, storage, world } = remoteChat()
    server.online = false
    const one = await session.send('one')
    const two = await session.send('two')
    await world.pass(45_000)
    expect(statuses(session.get().messages)).toEqual(['user pending', 'user pending'])
    expect(chat.health.get()).toMatchObject({ outbox: 3, connection: 'reconnecting' })
    await expectStored(chat, session, storage)
    server.online = true
    await world.until(() => session.get().messages.length === 4)
    await Promise.all([one.answer, two.answer])
    expect(requestsTo(server, SEND).length).toBe(2)
    expect([...(server.rooms.get('s')?.messages.keys() ?? [])].filter((id) => !id.startsWith('a-'))).toEqual([
      one.id,
      two.id,
    ])
  })

  test('while the question before it is being answered stands behind that answer, also where the server is naive', async () => {
    const { held, release } = hold()
    const { session, server, chat, storage, world } = remoteChat({
      naive: true,
      answer: (text) => (text === 'one' ? ['re: ', held, 'one'] : [`re: ${text}`]),
    })
    let arrives = () => {}
    const slow = new Promise<void>((resolve) => {
      arrives = resolve
    })
    server.instead = async ({ method, path, body }) => {
      if (`${method} ${path}` === SEND && body.includes('two')) await slow
      return undefined
    }
    const one = await session.send('one')
    const two = await session.send('two')
    const three = await session.send('three')
    await world.until(() => shown(session.get().messages).includes('re: '))
    expect(shown(session.get().messages)).toEqual(['one', 're: ', 'two', 'three'])
    release()
    await one.answer
    arrives()
    await Promise.all([two.answer, three.answer])
    await world.pass(300)
    const parents = new Map(
      [...(server.rooms.get('s')?.messages.values() ?? [])].map(({ id, parentId }) => [id, parentId]),
    )
    expect(parents.get(three.id)).not.toBe(two.id)
    expect(shown(session.get().messages).at(-1)).toBe('re: three')
    await expectStored(chat, session, storage)
  })

  test('offline, by a page that was closed meanwhile, arrives once', async () => {
    const first = remoteChat()
    const { server } = first
    server.online = false
    const { id } = await first.session.send('one')
    await first.session.send('two')
    await first.world.pass(3_000)
    await first.chat.close()
    server.online = true
    const again = remoteChat({ server, storage: first.storage.reopen(), world: createWorld({ name: 'new' }) })
    await again.world.until(() => again.session.get().messages.length === 4)
    await again.world.until(() => again.session.get().status === 'ready')
    expect(shown(again.session.get().messages).toSorted()).toEqual(['one', 're: one', 're: two', 'two'])
    expect(requestsTo(server, SEND).map(({ headers }) => headers.get('idempotency-key'))[0]).toBe(id)
    expect(requestsTo(server, SEND).length).toBe(2)
    await again.world.pass(300)
    await expectStored(again.chat, again.session, again.storage)
  })

  test('is sent again with the same key and the very same body where the answer was lost, also after a reload', async () => {
    const first = remoteChat()
    const { server } = first
    let lost = 0
    server.spoil = (response, { method, path }) => {
      if (`${method} ${path}` !== SEND || ++lost > 3) return response
      throw new TypeError('Failed to fetch')
    }
    const sent = await first.session.send([{ type: 'text', text: 'ü 😀' }], {
      metadata: { b: 1, a: [null, 2] },
    })
    await first.world.until(() => lost === 1)
    await first.chat.close()
    const again = remoteChat({ server, storage: first.storage.reopen(), world: createWorld({ name: 'new' }) })
    await again.world.until(() => again.session.get().messages.at(-1)?.status === 'completed')
    await again.world.until(() => again.chat.health.get().outbox === 0)
    const posts = requestsTo(server, SEND)
    expect(posts.length).toBeGreaterThan(1)
    expect(new Set(posts.map(({ body }) => body)).size).toBe(1)
    expect(new Set(posts.map(({ headers }) => headers.get('idempotency-key')))).toEqual(new Set([sent.id]))
    expect(shown(again.session.get().messages)).toEqual(['ü 😀', 're: ü 😀'])
  })

  test('is refused visibly, holds up what follows, and goes with the same key when tried again', async () => {
    const { session, server, chat, storage, world } = remoteChat()
    await (await session.send('fine')).answer
    let refuses = true
    server.instead = ({ method, path }) =>
      refuses && `${method} ${path}` === SEND ? refusal(422, 'invalid-request') : undefined
    const bad = await session.send('bad')
    const next = await session.send('next')
    expect(await ending(bad.answer)).toBe('invalid-request')
    await world.pass(120_000)
    expect(session.message(bad.id).get()).toMatchObject({
      status: 'failed',
      error: { code: 'invalid-request', status: 422 },
    })
    expect(session.message(next.id).get()?.status).toBe('pending')
    expect(requestsTo(server, SEND).length).toBe(2)
    await expectStored(chat, session, storage)
    refuses = false
    const again = await session.retry(bad.id)
    expect(again.id).toBe(bad.id)
    expect(shown([await again.answer, await next.answer])).toEqual(['re: bad', 're: next'])
    const keys = requestsTo(server, SEND).map(({ headers }) => headers.get('idempotency-key'))
    expect(keys.slice(1)).toEqual([bad.id, bad.id, next.id])
    await world.pass(500)
    await expectStored(chat, session, storage)
  })

  test('and refused is given up, and what follows follows what came before', async () => {
    const { session, server, chat, storage, world } = remoteChat()
    await (await session.send('fine')).answer
    server.instead = ({ method, path, body }) =>
      `${method} ${path}` === SEND && body.includes('bad') ? refusal(413, 'invalid-request') : undefined
    const bad = await session.send('bad')
    const next = await session.send('next')
    await ending(bad.answer)
    await session.discard(bad.id)
    expect(shown([await next.answer])).toEqual(['re: next'])
    await world.pass(500)
    expect(shown(session.get().messages)).toEqual(['fine', 're: fine', 'next', 're: next'])
    const body = JSON.parse(requestsTo(server, SEND).at(-1)?.body ?? '')
    expect(body.parentId).toBe(session.get().messages[1]?.id)
    await expectStored(chat, session, storage)
  })

  test('waits as long as a server asks, whatever else is sent meanwhile', async () => {
    const { session, server, world } = remoteChat()
    await (await session.send('fine')).answer
    let busy = true
    server.instead = ({ method, path }) =>
      busy && `${method} ${path}` === SEND ? refusal(429, 'rate-limit', { 'retry-after': '20' }) : undefined
    await session.send('one')
    await world.pass(1_000)
    await session.send('two')
    await world.pass(17_000)
    expect(requestsTo(server, SEND).length).toBe(2)
    busy = false
    await world.pass(2_000)
    expect(requestsTo(server, SEND).length).toBeGreaterThan(2)
    await world.until(() => shown(session.get().messages).includes('re: two'))
  })

  test('into a session that may not be created fails visibly, and can be tried again', async () => {
    const { session, server, chat, storage, world } = remoteChat()
    let denied = true
    server.instead = ({ method, path }) =>
      denied && method === 'POST' && path === '/sessions' ? refusal(403, 'auth') : undefined
    const one = await session.send('one')
    const two = await session.send('two')
    expect(await ending(one.answer)).toBe('auth')
    await world.pass(100_000)
    expect(statuses(session.get().messages)).toEqual(['user failed', 'user pending'])
    expect(requestsTo(server, 'POST /sessions').length).toBe(1)
    await expectStored(chat, session, storage)
    denied = false
    const again = await session.retry(one.id)
    await Promise.all([again.answer, two.answer])
    expect(shown(session.get().messages).toSorted()).toEqual(['one', 're: one', 're: two', 'two'])
    await world.pass(300)
    await expectStored(chat, session, storage)
  })

  test('what is refused and has no message is told of, and holds nothing up', async () => {
    const { session, server, chat, storage, world } = remoteChat()
    await (await session.send('one')).answer
    const [question, reply] = session.get().messages
    server.instead = ({ method, path }) =>
      method === 'PATCH' || path.endsWith('/commands') ? refusal(403, 'auth') : undefined
    await session.rename('Nope')
    const again = await session.regenerate(reply?.id ?? '')
    expect(await ending(again.answer)).toBe('auth')
    expect(shown([await (await session.send('two')).answer])).toEqual(['re: two'])
    await world.pass(500)
    expect(chat.health.get()).toMatchObject({ outbox: 0, lastError: { code: 'auth' } })
    expect(
      session
        .get()
        .messages.slice(0, 2)
        .map(({ id }) => id),
    ).toEqual([question?.id, reply?.id])
    await expectStored(chat, session, storage)
  })
})

describe('stop', () => {
  test('ends a run at the server, and shows nothing that comes after it', async () => {
    const { held, release } = hold()
    const { session, server, chat, storage, world } = remoteChat({ answer: () => ['before ', held, 'after'] })
    const { answer } = await session.send('one')
    await world.until(() => shown(session.get().messages).at(-1) === 'before ')
    const seen: string[] = []
    session.subscribe(() => seen.push(shown(session.get().messages).join()))
    await session.stop()
    release()
    expect(await ending(answer)).toMatchObject({ status: 'interrupted' })
    await world.pass(500)
    expect(shown(session.get().messages)).toEqual(['one', 'before '])
    expect(seen.filter((text) => text.includes('after'))).toEqual([])
    expect(requestsTo(server, 'POST /sessions/s/commands').length).toBe(1)
    await expectStored(chat, session, storage)
  })

  test('shows what a server that was faster has to say', async () => {
    const { held, release } = hold()
    const { session, server, world } = remoteChat({ answer: () => ['before ', held, 'after'] })
    const { answer } = await session.send('one')
    await world.until(() => shown(session.get().messages).at(-1) === 'before ')
    let cancelled = () => {}
    const first = new Promise<void>((resolve) => {
      cancelled = resolve
    })
    server.instead = async ({ path }) => {
      if (path.endsWith('/commands')) await first
      return undefined
    }
    await session.stop()
    release()
    expect(await answer).toMatchObject({ status: 'completed' })
    expect(shown(session.get().messages)).toEqual(['one', 'before after'])
    cancelled()
  })

  test('offline is told when the line is back', async () => {
    const { held, release } = hold()
    const { session, server, storage, world } = remoteChat({ answer: () => ['before ', held, 'after'] })
    await session.send('one')
    await world.until(() => shown(session.get().messages).at(-1) === 'before ')
    server.online = false
    cut(server)
    await world.pass(1_000)
    await session.stop()
    await session.stop()
    await world.pass(10_000)
    expect((await outboxOf(storage)).length).toBe(1)
    server.online = true
    await world.until(() => session.get().messages.at(-1)?.status === 'interrupted')
    expect(shown(session.get().messages)).toEqual(['one', 'before '])
    release()
    await world.pass(1_000)
    expect(await outboxOf(storage)).toEqual([])
  })

  test('of what is not sent yet sends it, and asks for no answer', async () => {
    const { session, server, chat, world } = remoteChat()
    server.online = false
    const one = await session.send('one')
    await session.stop()
    server.online = true
    expect(await ending(one.answer)).toBe('aborted')
    await world.pass(40_000)
    expect(shown(session.get().messages)).toEqual(['one'])
    expect(session.get().status).toBe('ready')
    expect(chat.health.get().outbox).toBe(0)
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
