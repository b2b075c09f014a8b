import { describe, expect, test } from 'vitest'
import { ending, shown } from '../chat/direct-chat.ts'
import { row, send } from '../chat/rows.ts'
import { watchedStorage } from '../chat/storages.ts'
import { createWorld, idle, noStrayRejections } from '../chat/world.ts'
import { createBrowser } from '../scenarios/page.ts'
import { remoteChat, requestsTo, SEND } from './remote-chat.ts'
import { say } from './scripted-routes.ts'
import { cut, openRoom, refusal, scriptedServer } from './scripted-server.ts'

noStrayRejections()

describe('the sessions of a mirror', () => {
  test('are the server’s and the device’s, and the newer word of both stands', async () => {
    const first = remoteChat()
    const { server } = first
    await (await first.session.send('one')).answer
    await first.world.pass(300)
    await first.chat.close()
    const room = openRoom(server, 's')
    room.session = { ...room.session, title: 'renamed elsewhere', rev: ++room.rev }
    say(server, openRoom(server, 't'), 'elsewhere', null)
    const again = remoteChat({ server, storage: first.storage.reopen(), world: createWorld({ name: 'new' }) })
    await again.world.until(() => again.chat.sessions.get().length === 2)
    expect(
      again.chat.sessions
        .get()
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(['s', 't'])
  })

  test('that are deleted elsewhere meanwhile are gone when the page is seen again, from the list and from the disk', async () => {
    const server = scriptedServer()
    for (const id of ['d', 'kept']) say(server, openRoom(server, id), `said-in-${id}`, null)
    const page = createBrowser().page()
    const { chat, storage, world } = remoteChat({ server, platform: page.platform })
    const listed = () =>
      chat.sessions
        .get()
        .map(({ id }) => id)
        .toSorted()
    await world.until(() => listed().length === 2)
    chat.session('d')
    await world.until(() => chat.session('d').get().messages.length === 1)
    await world.pass(500)
    expect((await storage.window('d', { limit: 9 })).rows.length).toBe(1)
    await chat.close()
    const again = remoteChat({ server, storage: storage.reopen(), platform: page.platform, world })
    const left = () =>
      again.chat.sessions
        .get()
        .map(({ id }) => id)
        .toSorted()
    await world.until(() => left().length === 2)
    server.instead = ({ method }) => (method === 'POST' ? refusal(503, 'server') : undefined)
    await again.chat.session('new').send('not sent yet')
    openRoom(server, 'd').gone = true
    expect(left()).toEqual(['d', 'kept', 'new'])
    page.show('visible')
    await world.until(() => left().length === 2)
    expect(left()).toEqual(['kept', 'new'])
    await world.pass(500)
    expect((await again.storage.window('d', { limit: 9 })).rows).toEqual([])
  })

  test('go on where the server says that they ended, also before their messages are there', async () => {
    const server = scriptedServer()
    const room = openRoom(server, 's')
    say(server, room, 'from-elsewhere', null)
    let slow = () => {}
    const pages = new Promise<void>((resolve) => {
      slow = resolve
    })
    server.instead = async ({ method, path }) => {
      if (method === 'GET' && path.startsWith('/sessions/s/')) await pages
      return undefined
    }
    const { session, chat, world } = remoteChat({ server })
    await world.until(() => chat.sessions.get().length === 1)
    await idle()
    const sent = await session.send('and more')
    expect(session.message(sent.id).get()?.parentId).toBe('from-elsewhere')
    await world.until(() => session.message(sent.id).get()?.status === 'completed')
    // Not before everything older is known.
    expect(session.get().tidemark).toBeNull()
    slow()
    await world.ended(sent.answer)
    expect(requestsTo(server, 'POST /sessions').length).toBe(0)
    expect(shown(session.get().messages)).toEqual(['from-elsewhere', 'and more', 're: and more'])
  })

  test('hold few connections, those that were asked for last, and all are in step', async () => {
    const server = scriptedServer()
    const { chat, world } = remoteChat({ server })
    const sessions = Array.from({ length: 9 }, (_, at) => chat.session(`s${at}`))
    for (const session of sessions) await world.ended((await session.send('hi')).answer)
    await world.pass(3_000)
    expect(server.streams.size).toBeLessThanOrEqual(4)
    expect(sessions.map((session) => shown(session.get().messages))).toEqual(
      sessions.map(() => ['hi', 're: hi']),
    )
    const [oldest] = sessions
    say(server, openRoom(server, 's0'), 'later', openRoom(server, 's0').session.headId)
    await world.pass(3_000)
    expect(shown(oldest?.get().messages ?? []).at(-1)).toBe('re: hi')
    expect(chat.session('s0')).toBe(oldest)
    await world.until(() => shown(oldest?.get().messages ?? []).at(-1) === 'later')
    expect(server.streams.size).toBeLessThanOrEqual(4)
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    server.options.answer = () => ['slow ', held, 'answer']
    const sent = await sessions[2]?.send('still there?')
    cut(server)
    release()
    await world.until(() => shown(sessions[2]?.get().messages ?? []).at(-1) === 'slow answer')
    expect(await sent?.answer).toMatchObject({ status: 'completed' })
  })

  test('of another account are neither sent nor asked for', async () => {
    const storage = watchedStorage()
    await storage.commit([
      { type: 'outbox', row: row('x', 1, { sessionId: 'theirs', account: 'other', request: send('x') }) },
    ])
    const { server, world, session } = remoteChat({ storage })
    await (await session.send('mine')).answer
    await world.pass(60_000)
    expect(server.requests.filter(({ path }) => path.includes('theirs'))).toEqual([])
    expect(requestsTo(server, SEND).length).toBe(1)
    expect((await storage.start({ sessions: 9 })).outbox.map(({ id }) => id)).toEqual(['x'])
  })

  test('that cannot be listed are none, and that is told only where it is news', async () => {
    const { chat, server, world } = remoteChat()
    expect(await ending(Promise.resolve(chat.sessions.get()))).toEqual([])
    server.instead = () => new Response('{}', { status: 403 })
    await world.pass(1_000)
    const denied = remoteChat({ server, world: createWorld({ name: 'new' }) })
    await denied.world.until(() => denied.chat.health.get().lastError?.code === 'auth')
    const minimal = remoteChat({ sessions: false })
    await minimal.world.pass(1_000)
    expect(minimal.chat.health.get().lastError).toBeUndefined()
  })
})

test('older messages come from the storage, then from the server, until there are none', async () => {
  const server = scriptedServer()
  const room = openRoom(server, 's')
  for (let n = 0; n < 130; n++) say(server, room, `m${n}`, n === 0 ? null : `m${n - 1}`)
  const first = remoteChat({ server })
  await first.world.until(() => first.session.get().messages.length === 130)
  await first.world.pass(300)
  await first.chat.close()
  const { session, world } = remoteChat({
    server,
    storage: first.storage.reopen(),
    world: createWorld({ name: 'new' }),
  })
  await world.until(() => session.get().connection === 'online')
  const seen = [session.get().messages.length]
  expect(session.get().hasOlder).toBe(true)
  while (session.get().hasOlder) {
    await session.loadOlder()
    seen.push(session.get().messages.length)
    expect(seen.length).toBeLessThan(6)
  }
  expect(seen).toEqual([50, 100, 130])
  expect(session.get().messages.map(({ id }) => id)).toEqual(Array.from({ length: 130 }, (_, n) => `m${n}`))
  const before = server.requests.length
  await session.loadOlder()
  expect(server.requests.length).toBe(before)
})

test('a message whose parent nobody has does not ask for older ones for ever', async () => {
  const server = scriptedServer()
  say(server, openRoom(server, 's'), 'orphan', 'nobody')
  const { session, world } = remoteChat({ server })
  await world.until(() => session.get().messages.length === 1)
  for (let n = 0; n < 5 && session.get().hasOlder; n++) await session.loadOlder()
  expect(session.get().hasOlder).toBe(false)
})
