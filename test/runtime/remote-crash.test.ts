import { describe, expect, test } from 'vitest'
import { ending, outboxOf, shown } from '../chat/direct-chat.ts'
import { expectStored, type Operation, watchedStorage } from '../chat/storages.ts'
import { createWorld, idle, noStrayRejections } from '../chat/world.ts'
import { expectInStep, remoteChat, requestsTo, SEND } from './remote-chat.ts'
import { cut, scriptedServer } from './scripted-server.ts'

noStrayRejections()

describe('a page that is gone', () => {
  test('at any moment of an answer shows all of it after a reload, and had sent its question once', async () => {
    for (let turns = 0; turns < 45; turns++) {
      const server = scriptedServer({ answer: () => ['Hé', 'llo ', 'the', 're ', '😀'] })
      const first = remoteChat({ server })
      const { id, saved } = await first.session.send('one')
      expect(saved).toBe('disk')
      await idle(turns)
      if (turns % 3 === 0) await first.world.pass(100)
      // Gone without a word: what it does from here on reaches neither storage nor server.
      const kept = first.storage.reopen()
      first.storage.fail(() => true)
      server.online = false
      cut(server)
      await first.chat.close()
      server.online = true
      const again = remoteChat({ server, storage: kept, world: createWorld({ name: `new-${turns}` }) })
      await again.world.until(() => again.session.get().messages.at(-1)?.status === 'completed')
      await expectInStep(again)
      expect(shown(again.session.get().messages)).toEqual(['one', 'Héllo there 😀'])
      expect(new Set(requestsTo(server, SEND).map(({ body }) => body)).size).toBe(1)
      expect([...(server.rooms.get('s')?.messages.keys() ?? [])]).toContain(id)
      expect(await outboxOf(kept)).toEqual([])
    }
  })

  test('while nothing is stored of what streams, reads it again from the server', async () => {
    const server = scriptedServer({ answer: () => ['a', 'b', 'c'] })
    const first = remoteChat({ server })
    await (await first.session.send('one')).answer
    await first.world.pass(200)
    await first.chat.close()
    const again = remoteChat({ server, storage: first.storage.reopen(), world: createWorld({ name: 'new' }) })
    const before = server.requests.length
    await again.world.until(() => again.session.get().connection === 'online')
    expect(again.session.get().messages).toEqual(first.session.get().messages)
    const asked = server.requests.slice(before).map(({ path }) => path)
    expect(asked).not.toContain('/sessions/s/messages')
    expect(asked).toContain('/sessions/s/events')
  })
})

type Decide = (n: number, operation: Operation) => boolean

const kinds: [name: string, decide: (n: number) => Decide][] = [
  ['alone', (n) => (at) => at === n],
  ['and the five after it', (n) => (at) => at >= n && at < n + 6],
  ['and all after it', (n) => (at) => at >= n],
]

async function tryWith(decide: Decide): Promise<number> {
  const storage = watchedStorage()
  storage.fail(decide)
  const open = remoteChat({ storage, answer: (text) => ['re: ', text] })
  const { session, world, chat, server } = open
  const say = async (text: string) => world.ended((await session.send(text)).answer)
  await say('one')
  await Promise.all([say('two'), say('three')])
  await session.rename('Tides')
  const ids = session.get().messages.map(({ id }) => id)
  await world.ended((await session.regenerate(ids[1] ?? '')).answer)
  await session.selectBranch(ids[1] ?? '')
  await world.pass(150)
  await session.send('stopped')
  await session.stop()
  await session.resync()
  const asked = storage.asked()
  storage.fail()
  await world.pass(60_000)
  expect(chat.health.get()).toMatchObject({ storage: 'disk', outbox: 0 })
  await expectInStep(open)
  await chat.close()
  const again = remoteChat({ server, storage: storage.reopen(), world: createWorld({ name: 'new' }) })
  await again.world.until(() => again.session.get().connection === 'online')
  expect(again.session.get().messages).toEqual(session.get().messages)
  await again.world.pass(1_000)
  await expectStored(again.chat, again.session, again.storage)
  await again.chat.close()
  return asked
}

describe('a mirror whose storage fails at its n-th operation', () => {
  test.each(kinds)(
    '%s: nothing is thrown, and page, storage and server are the same in the end, for every n',
    async (_, decide) => {
      const last = (await tryWith(() => false)) + 2
      expect(last).toBeGreaterThan(12)
      for (let n = 1; n <= last; n++) await tryWith(decide(n))
    },
    60_000,
  )
})

test.each([
  ['new', false],
  ['known', true],
])('a closed mirror of a %s session leaves no timer, no stream and no request', async (_, isKnown) => {
  for (let turns = 0; turns < 30; turns++) {
    const first = remoteChat()
    const { server } = first
    if (isKnown) await (await first.session.send('known')).answer
    await first.chat.close()
    const storage = first.storage.reopen()
    const { session, chat, world } = remoteChat({
      server,
      storage,
      world: createWorld({ name: `n${turns}` }),
    })
    const calls = [
      session.send('one'),
      session.send('two'),
      session.stop(),
      session.resync(),
      session.loadOlder(),
    ]
    const ended = Promise.all(calls.map((call) => ending(call)))
    await idle(turns)
    await Promise.all([chat.close(), chat.close()])
    await ended
    await idle()
    expect(world.sleeping()).toBe(0)
    expect(server.streams.size).toBe(0)
    const before = server.requests.length
    await world.pass(60_000)
    expect(server.requests.length).toBe(before)
  }
})
