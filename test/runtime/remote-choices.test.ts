import { expect, test } from 'vitest'
import type { Platform } from '../../src/chat/platform.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { likeBrowser } from '../chat/browser-tabs.ts'
import { shown } from '../chat/direct-chat.ts'
import { watchedStorage } from '../chat/storages.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { type RemoteChat, remoteChat } from './remote-chat.ts'
import { moveHead, openRoom, type Seen, type Server, tell } from './scripted-server.ts'

noStrayRejections()

/** A page whose frames come at once. */
const prompt: Platform = {
  setTimeout(run) {
    setImmediate(run)
    return 0
  },
}

/** A question with three answers, the last of them shown. */
async function threeAnswers(setup: Parameters<typeof remoteChat>[0] = {}) {
  let count = 0
  const open = remoteChat({ answer: () => [`answer ${++count}`], platform: prompt, ...setup })
  const { session, world } = open
  await (await session.send('one')).answer
  const [question, first] = session.get().messages
  for (let more = 0; more < 2; more++) await (await session.regenerate(first?.id ?? '')).answer
  await world.pass(300)
  return { ...open, question: question?.id ?? '', branches: session.branches(first?.id ?? '') }
}

/** Everything that is shown from now on, without what is shown twice in a row. */
function shownBy({ session }: Pick<RemoteChat, 'session'>): string[] {
  const seen: string[] = []
  const look = () => {
    const { messages, session: row } = session.get()
    const now = `${row?.title ?? ''}${shown(messages).at(-1)}`
    if (seen.at(-1) !== now) seen.push(now)
  }
  session.subscribe(look)
  look()
  return seen
}

/** Lets requests of a kind wait, from the n-th on, until they are let through. */
function holds(server: Server, method: string, path: string, from: number) {
  let count = 0
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  server.instead = async (seen: Seen) => {
    if (seen.method === method && seen.path.endsWith(path) && ++count >= from) await held
    return undefined
  }
  return release
}

/** Holds the answers to requests back, once they are carried out. */
function holdsAnswers(server: Server, path: string) {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  server.spoil = async (response, seen) => {
    if (seen.path.endsWith(path) && seen.method !== 'GET') await held
    return response
  }
  return release
}

test('of two quick choices the echo of the first moves nothing while the second is on its way', async () => {
  const open = await threeAnswers()
  const { session, server, world, branches } = open
  const release = holds(server, 'POST', '/commands', 2)
  await session.selectBranch(branches[0] ?? '')
  await session.selectBranch(branches[1] ?? '')
  const seen = shownBy(open)
  await world.pass(300)
  expect(server.rooms.get('s')?.session.headId).toBe(branches[0])
  release()
  await world.pass(300)
  expect(server.rooms.get('s')?.session.headId).toBe(branches[1])
  expect(seen).toEqual(['answer 2'])
})

test('neither does an echo that comes after the answers to both', async () => {
  const open = await threeAnswers()
  const { session, server, world, branches } = open
  // The feed is held up; requests are not.
  const listeners = [...server.streams]
  const late: (() => void)[] = []
  for (const [stream, listener] of listeners)
    server.streams.set(stream, (envelope) => void late.push(() => listener(envelope)))
  await session.selectBranch(branches[0] ?? '')
  await session.selectBranch(branches[1] ?? '')
  await world.pass(300)
  const seen = shownBy(open)
  expect(open.chat.health.get().outbox).toBe(0)
  for (const listen of late.splice(0)) {
    listen()
    await world.pass(100)
  }
  for (const [stream, listener] of listeners) server.streams.set(stream, listener)
  expect(seen).toEqual(['answer 2'])
  moveHead(server, openRoom(server, 's'), branches[2] ?? '')
  await world.pass(100)
  expect(seen).toEqual(['answer 2', 'answer 3'])
})

test('once a choice is settled the server’s word stands: somebody has chosen after it', async () => {
  const open = await threeAnswers()
  const { session, server, world, branches } = open
  const release = holdsAnswers(server, '/commands')
  const seen = shownBy(open)
  await session.selectBranch(branches[0] ?? '')
  await world.pass(300)
  moveHead(server, openRoom(server, 's'), branches[1] ?? '')
  await world.pass(300)
  expect(seen).toEqual(['answer 3', 'answer 1'])
  release()
  await world.pass(300)
  expect(seen).toEqual(['answer 3', 'answer 1', 'answer 2'])
})

test('a choice that is refused is taken back for what the server said meanwhile', async () => {
  const open = await threeAnswers()
  const { session, server, world, branches } = open
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  server.instead = async ({ path }) => {
    if (!path.endsWith('/commands')) return undefined
    await held
    return new Response('{"error":{"code":"invalid-request","message":"no"}}', { status: 400 })
  }
  await session.selectBranch(branches[0] ?? '')
  moveHead(server, openRoom(server, 's'), branches[1] ?? '')
  await world.pass(300)
  expect(shown(session.get().messages)).toEqual(['one', 'answer 1'])
  release()
  await world.pass(300)
  expect(shown(session.get().messages)).toEqual(['one', 'answer 2'])
})

test('a tab that dies after its choice was accepted and overruled leaves the server’s word to the next', async () => {
  const storage = watchedStorage(memoryStorage())
  const { session, server, world, branches, question } = await threeAnswers({ storage })
  server.spoil = (response, { path }) => (path.endsWith('/commands') ? new Promise(() => {}) : response)
  await session.regenerate(question)
  await world.pass(300)
  // It is stopped from elsewhere, and its end shows what was shown before.
  const room = openRoom(server, 's')
  moveHead(server, room, branches[1] ?? '')
  await world.pass(300)
  expect(shown(session.get().messages)).not.toEqual(['one', 'answer 2'])
  server.spoil = undefined
  const next = remoteChat({
    server,
    storage: storage.reopen(),
    world: createWorld({ name: 'next' }),
    platform: prompt,
  })
  await next.world.until(() => next.chat.health.get().outbox === 0 && next.session.get().status === 'ready')
  await next.world.pass(300)
  expect(shown(next.session.get().messages)).toEqual(['one', 'answer 2'])
})

test('of two quick names the echo of the first is not shown, and what the server says after them is', async () => {
  const open = await threeAnswers()
  const { session, server, world } = open
  const release = holds(server, 'PATCH', '/sessions/s', 2)
  const seen = shownBy(open)
  await session.rename('A ')
  await session.rename('B ')
  await world.pass(300)
  expect(server.rooms.get('s')?.session.title).toBe('A ')
  expect(seen.slice(seen.indexOf('B answer 3'))).toEqual(['B answer 3'])
  release()
  await world.pass(300)
  expect(server.rooms.get('s')?.session.title).toBe('B ')
  const answers = holdsAnswers(server, '/sessions/s')
  await session.rename('C ')
  await world.pass(300)
  const room = openRoom(server, 's')
  room.session = { ...room.session, title: 'D ', rev: ++room.rev }
  tell(server, room, { type: 'session.updated', session: room.session })
  await world.pass(300)
  expect(session.get().session?.title).toBe('C ')
  answers()
  await world.pass(300)
  expect(session.get().session?.title).toBe('D ')
})

test('a choice is shown in every tab while it is on its way, whoever leads', async () => {
  const storage = watchedStorage(memoryStorage(), likeBrowser())
  const platform = { ...prompt, navigator, BroadcastChannel }
  const one = await threeAnswers({ storage, platform, world: createWorld({ name: 'one' }) })
  const { server, branches } = one
  const two = remoteChat({ server, storage: storage.reopen(), platform, world: createWorld({ name: 'two' }) })
  const until = (text: string, tab: RemoteChat) =>
    expect
      .poll(async () => {
        await one.world.pass(50)
        await two.world.pass(50)
        return shown(tab.session.get().messages).at(-1)
      })
      .toBe(text)
  await until('answer 3', two)
  const release = holds(server, 'POST', '/commands', 2)
  await two.session.selectBranch(branches[0] ?? '')
  await two.session.selectBranch(branches[1] ?? '')
  const mine = shownBy(two)
  await until('answer 2', one)
  const seen = shownBy(one)
  await expect.poll(() => server.rooms.get('s')?.session.headId).toBe(branches[0])
  await until('answer 2', one)
  release()
  await expect.poll(() => server.rooms.get('s')?.session.headId).toBe(branches[1])
  await expect.poll(async () => (await storage.window('s', { limit: 9 })).outbox).toEqual([])
  await until('answer 2', two)
  expect([seen, mine]).toEqual([['answer 2'], ['answer 2']])
})
