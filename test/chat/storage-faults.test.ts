import { describe, expect, test } from 'vitest'
import type { DirectChat } from './direct-chat.ts'
import { directChat, ending, lookInto, shown } from './direct-chat.ts'
import { expectStored, type Operation, type WatchedStorage, watchedStorage } from './storages.ts'
import { createWorld, idle, noStrayRejections } from './world.ts'

noStrayRejections()

test('what is promised to be on disk is written as strictly by the next attempt', async () => {
  const storage = watchedStorage()
  let failures = 1
  storage.fail((_, operation) => operation === 'commit' && failures-- > 0)
  const { session } = directChat({ storage })
  expect((await session.send('hello')).saved).toBe('disk')
  const holder = storage.commits.find(({ changes }) => changes.some(({ type }) => type === 'outbox'))
  expect(holder?.options?.durability).toBe('strict')
})

type Decide = (n: number, operation: Operation) => boolean

/** What a user does in a session. Returns what the calls threw, and which messages were said to be on disk. */
async function visit({ session, world }: DirectChat) {
  const thrown: unknown[] = []
  const onDisk: string[] = []
  const act = async (call: Promise<unknown>) => {
    await call.catch((error: unknown) => thrown.push(error))
    await idle(2)
  }
  const say = async (text: string) => {
    const { id, saved, answer } = await session.send(text)
    if (saved === 'disk') onDisk.push(id)
    await act(answer)
  }
  await act(say('one'))
  await act(Promise.all([say('two'), say('three')]))
  await act(session.rename('Tides'))
  const ids = session.get().messages.map(({ id }) => id)
  await act(session.regenerate(ids[1] ?? '').then(({ answer }) => answer))
  await act(session.selectBranch(ids[1] ?? ''))
  await act(session.edit(ids[2] ?? '', 'TWO').then(({ answer }) => answer))
  await world.pass(150)
  const stopped = session.send('stall')
  await act(stopped)
  await act(session.stop())
  await act(stopped.then(({ answer }) => answer))
  await act(session.loadOlder())
  await act(session.resync())
  return { thrown, onDisk }
}

const steps = (context: { messages: readonly Parameters<typeof shown>[0][number][] }) => {
  const [said = ''] = shown(context.messages.slice(-1))
  return said === 'stall' ? ['hm', { stall: true as const }] : `re: ${said}`
}

/** A visit over a storage that fails in some way, and what is left once it works again. */
async function tryWith(storage: WatchedStorage, decide: Decide): Promise<void> {
  const before = storage.asked()
  storage.fail((n, operation) => decide(n - before, operation))
  const open = directChat({ storage, steps, chunkSize: 2, world: createWorld({ name: 'new' }) })
  const { thrown, onDisk } = await visit(open)
  expect(thrown).toEqual([])
  const inside = storage.reopen()
  const kept = await inside.messages(onDisk)
  expect(kept.map(({ message }) => message.id).toSorted()).toEqual(onDisk.toSorted())
  storage.fail()
  await open.world.pass(120_000)
  const { chat, session } = open
  expect(chat.health.get()).toMatchObject({ storage: 'disk', outbox: 0 })
  expect(session.get().status).toBe('ready')
  await expectStored(chat, session, storage)
  const look = lookInto(storage)
  await look.world.until(() => look.session.get().status !== 'loading')
  expect(look.session.get().messages).toEqual(session.get().messages)
  expect(look.session.get().session).toEqual({
    ...session.get().session,
    headId: session.get().messages.at(-1)?.id,
  })
}

/** How many operations a visit takes where all goes well, and a little more. */
async function operations(storage: WatchedStorage): Promise<number> {
  await visit(directChat({ storage, steps, chunkSize: 2 }))
  return storage.asked() + 3
}

const kinds: [name: string, decide: (n: number) => Decide][] = [
  ['alone', (n) => (at) => at === n],
  ['and the five after it', (n) => (at) => at >= n && at < n + 6],
  ['and all after it', (n) => (at) => at >= n],
  ['if it writes, and all writes after it', (n) => (at, operation) => at >= n && operation === 'commit'],
  ['if it reads, and all reads after it', (n) => (at, operation) => at >= n && operation !== 'commit'],
]

describe('a storage whose n-th operation fails', () => {
  test.each(kinds)(
    '%s: nothing is thrown, and what is shown is stored in the end, for every n',
    async (_, decide) => {
      const last = await operations(watchedStorage())
      expect(last).toBeGreaterThan(15)
      for (let n = 1; n <= last; n++) await tryWith(watchedStorage(), decide(n))
    },
  )

  test.each(kinds)('%s: also over a history, which is not written over', async (_, decide) => {
    for (let n = 1; n <= 8; n++) {
      const storage = watchedStorage()
      const earlier = directChat({ storage, steps })
      for (const text of ['early', 'earlier']) await (await earlier.session.send(text)).answer
      await idle()
      const known = earlier.session.get().messages
      await earlier.chat.close()
      const later = storage.reopen()
      await tryWith(later, decide(n))
      const { rows } = await later.reopen().window('s', { limit: 100 })
      expect(new Set(rows.map(({ position }) => position)).size).toBe(rows.length)
      for (const message of known)
        expect(rows.find((row) => row.message.id === message.id)?.message).toEqual(message)
    }
  })
})

test('a storage that never works leaves a chat that works from memory', async () => {
  const storage = watchedStorage()
  storage.fail(() => true)
  const { session, chat, world } = directChat({ storage })
  expect(await ending(session.send('one').then(({ saved }) => saved))).toBe('memory')
  await world.pass(10_000)
  expect(await ending(session.send('two').then(({ answer }) => answer))).toMatchObject({
    status: 'completed',
  })
  expect(shown(session.get().messages)).toEqual(['one', 're: one', 'two', 're: two'])
  expect(chat.health.get().storage).toBe('failed')
  const asked = storage.asked()
  await world.pass(600_000)
  // Tried again with patience: start, the session, and its writes, each some four times a minute in the long run.
  expect(storage.asked() - asked).toBeLessThan(200)
})

test('a storage that fails is not asked for every word of an answer', async () => {
  const storage = watchedStorage()
  storage.fail((_, operation) => operation === 'commit')
  const world = createWorld()
  // A word every 150 ms: each of them would be reason enough to write.
  const words = Array.from({ length: 60 }, (_, at) => ['x', { hold: world.env.sleep(150 * at) }])
  const { session } = directChat({ storage, world, steps: [words.flat()] })
  const { answer } = await session.send('go')
  const asked = storage.asked()
  await world.pass(9_500)
  expect(shown([await answer])).toEqual(['x'.repeat(60)])
  expect(storage.asked() - asked).toBeLessThan(20)
})

test('what could not be read is not written over: nothing is stored before it was', async () => {
  const storage = watchedStorage()
  const earlier = directChat({ storage, steps })
  await (await earlier.session.send('early')).answer
  await earlier.chat.close()
  const later = storage.reopen()
  const before = await storage.reopen().window('s', { limit: 9 })
  later.fail((_, operation) => operation !== 'commit')
  const { session, chat, world } = directChat({ storage: later, steps, world: createWorld({ name: 'new' }) })
  const { saved, answer } = await session.send('late')
  expect(saved).toBe('memory')
  expect(shown([await answer])).toEqual(['re: late'])
  await world.pass(10_000)
  expect(await storage.reopen().window('s', { limit: 9 })).toEqual(before)
  later.fail()
  await world.until(() => chat.health.get().storage === 'disk')
  await world.pass(1_000)
  const { rows } = await storage.reopen().window('s', { limit: 9 })
  expect(shown(rows.map(({ message }) => message))).toEqual(['early', 're: early', 'late', 're: late'])
})
