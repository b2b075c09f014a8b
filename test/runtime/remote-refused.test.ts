import { describe, expect, test } from 'vitest'
import { ending, shown, statuses } from '../chat/direct-chat.ts'
import { expectStored } from '../chat/storages.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { remoteChat, requestsTo, SEND } from './remote-chat.ts'
import { json, refusal } from './scripted-server.ts'

noStrayRejections()

describe('what is refused', () => {
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

  test('since the server has lost what it follows is said at the end of what is left, in whatever words it is told', async () => {
    const { session, server, world } = remoteChat()
    await (await session.send('fine')).answer
    await world.until(() => requestsTo(server, 'GET /sessions/s/events').length > 0)
    let refuses = true
    server.instead = ({ method, path }) =>
      refuses && `${method} ${path}` === SEND
        ? json({ error: { code: 'invalid-request', message: 'nichts davon', field: 'parentId' } }, 400)
        : undefined
    const before = requestsTo(server, 'GET /sessions/s/messages').length
    await session.send('more')
    await world.until(() => requestsTo(server, 'GET /sessions/s/messages').length > before)
    refuses = false
    expect(requestsTo(server, 'GET /sessions/s/messages')[before]?.query.get('changedSince')).toBe('0')
  })

  test('by somebody in between, who answers with a page for people, is not refused: it waits, and goes with its key', async () => {
    const { session, server, world, chat } = remoteChat()
    await (await session.send('fine')).answer
    server.instead = ({ method, path }) =>
      `${method} ${path}` === SEND
        ? new Response('<!doctype html><title>Welcome aboard</title>', {
            headers: { 'content-type': 'text/html; charset=utf-8' },
          })
        : undefined
    const sent = await session.send('on the train')
    await world.pass(60_000)
    expect(session.message(sent.id).get()?.status).toBe('pending')
    expect(chat.health.get()).toMatchObject({ outbox: 1, lastError: { code: 'protocol' } })
    server.instead = undefined
    expect(shown([await world.ended(sent.answer)])).toEqual(['re: on the train'])
    const bodies = requestsTo(server, SEND).slice(1)
    expect(new Set(bodies.map(({ body }) => body)).size).toBe(1)
  })

  test('for now waits no longer than that, though the clock is put back meanwhile', async () => {
    const world = createWorld()
    let back = 0
    const env = { ...world.env, now: () => world.env.now() - back }
    const { session, server } = remoteChat({ world: { ...world, env } })
    await (await session.send('fine')).answer
    server.instead = ({ method, path }) => (`${method} ${path}` === SEND ? refusal(503, 'server') : undefined)
    const sent = await session.send('late')
    await world.pass(20_000)
    back = 5 * 3_600_000
    server.instead = undefined
    await world.pass(40_000)
    expect(shown([await world.ended(sent.answer)])).toEqual(['re: late'])
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
