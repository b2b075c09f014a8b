import { describe, expect, onTestFinished, test } from 'vitest'
import { createChat } from '../../src/chat/create.ts'
import type { Chat, ChatSession } from '../../src/chat/types.ts'
import { remote } from '../../src/runtime/remote.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { expectStored, type Operation, watchedStorage } from '../chat/storages.ts'
import { createWorld, noStrayRejections, type World } from '../chat/world.ts'
import { remoteChat } from '../runtime/remote-chat.ts'
import { fetchOf, say } from '../runtime/scripted-routes.ts'
import { openRoom, type Server, scriptedServer } from '../runtime/scripted-server.ts'
import { type Fault, faultyStorage } from './faults.ts'

noStrayRejections()

interface Teller {
  session: ChatSession
  server: Server
  world: World
  /** Says something; what is then said to be on disk must be there. */
  send(text: string): Promise<{ answer: Promise<unknown> }>
}

/** What a user and a server do. Each ends with all that it asked for. */
const STORIES: Readonly<Record<string, (teller: Teller) => Promise<unknown>>> = {
  send: async ({ send, world }) => world.ended((await send('one')).answer),
  stream: async ({ send, world }) => {
    const { answer } = await send('slow')
    await world.ended(answer)
    await world.ended((await send('again slow')).answer)
  },
  stop: async ({ send, world, session }) => {
    const { answer } = await send('endless')
    await world.until(() => session.get().messages.at(-1)?.status === 'streaming')
    await world.ended(session.stop())
    await world.ended(answer)
  },
  resync: async ({ send, world, session, server }) => {
    await world.ended((await send('one')).answer)
    const room = openRoom(server, 's')
    for (let n = 1; n <= 30; n++)
      say(server, room, `t${n}`, n > 1 ? `t${n - 1}` : (room.session.headId ?? null))
    await world.ended(session.resync())
  },
  delete: async ({ send, world, session }) => {
    await world.ended((await send('one')).answer)
    await world.ended(session.delete())
  },
}

const answer = (text: string) =>
  text.includes('endless') ? ['hm ', new Promise<void>(() => {})] : ['re: ', text, '!']

type FaultOf = (n: number, operation: Operation) => Fault | undefined

/** How often the chat said that its storage fails. */
function countFailures(chat: Chat): () => number {
  let last = chat.health.get().storage
  let count = 0
  chat.health.subscribe(() => {
    const { storage } = chat.health.get()
    if (storage === 'failed' && last !== 'failed') count++
    last = storage
  })
  return () => count
}

/** Tells a story over a storage with faults, lets it work again, and looks at what is left. Returns how often it was asked. */
async function tell(story: string, faultOf: FaultOf): Promise<number> {
  const world = createWorld()
  const server = scriptedServer({ answer })
  const disk = watchedStorage()
  const storage = faultyStorage(disk, world.env, faultOf)
  const chat = createChat({
    storage,
    env: world.env,
    runtime: remote({ url: 'http://server', fetch: fetchOf(server) }),
  })
  onTestFinished(() => chat.close())
  const failures = countFailures(chat)
  const session = chat.session('s')
  const send: Teller['send'] = async (text) => {
    const sent = await world.ended(session.send(text))
    if (sent.saved === 'disk') {
      const [kept] = await disk.reopen().messages([sent.id])
      expect(kept?.message.content).toEqual([{ type: 'text', text }])
    }
    return sent
  }
  await STORIES[story]?.({ session, server, world, send })
  // The page went on from memory and from the network.
  const room = openRoom(server, 's')
  const alive = () => [...room.messages.keys()].every((id) => session.message(id).get() !== undefined)
  if (story !== 'delete') await world.until(alive)
  const asked = storage.asked()
  storage.mend()
  await world.pass(60_000)
  expect(failures()).toBeLessThanOrEqual(1)
  expect(chat.health.get()).toMatchObject({ storage: 'disk', outbox: 0 })
  expect(room.gone).toBe(story === 'delete')
  if (story === 'delete') {
    const left = await disk.reopen().window('s', { limit: 9 })
    expect([left.rows, left.outbox, left.session?.deleted]).toEqual([[], [], true])
  } else {
    expect(session.get().messages.map(({ id }) => id)).toEqual([...room.messages.keys()])
    await expectStored(chat, session, disk.reopen())
  }
  const shown = session.get().messages
  await chat.close()
  const again = remoteChat({ server, storage: disk.reopen(), world: createWorld({ name: 'again' }) })
  await again.world.until(() => again.session.get().status === 'ready')
  expect(again.session.get().messages).toEqual(shown)
  await again.chat.close()
  return asked
}

const KINDS: [name: string, fault: (n: number) => FaultOf][] = [
  ['is refused', (n) => (at) => (at === n ? 'refused' : undefined)],
  ['and all after it are refused', (n) => (at) => (at >= n ? 'refused' : undefined)],
  [
    'finds the disk full, and so do all writes after it',
    (n) => (at, op) => (at >= n && op === 'commit' ? 'full' : undefined),
  ],
  ['is done, but told as a failure', (n) => (at) => (at === n ? 'belied' : undefined)],
  ['and all after it are done, but told as failures', (n) => (at) => (at >= n ? 'belied' : undefined)],
  ['hangs', (n) => (at) => (at === n ? 'hung' : undefined)],
  ['finds the database deleted', (n) => (at) => (at === n ? 'emptied' : undefined)],
]

describe.each(Object.keys(STORIES))('19: in a story of "%s", the n-th operation of the storage', (story) => {
  test.each(KINDS)(
    '%s: nothing is lost, one event, and all is well in the end, for every n',
    async (_, fault) => {
      let n = 1
      for (let asked = n; n <= asked + 1; n++) {
        try {
          asked = Math.min(await tell(story, fault(n)), 40)
        } catch (error) {
          throw new Error(`at operation ${n}`, { cause: error })
        }
      }
      expect(n).toBeGreaterThan(5)
    },
  )
})

describe('19: the browser dies, and the last relaxed commits with it', () => {
  test.each(['stream', 'stop', 'resync'])(
    'of "%s": whichever they are, the next visit has all',
    async (story) => {
      const { session, server, world, storage, chat } = remoteChat({ answer })
      const sent: { id: string; after: number }[] = []
      await STORIES[story]?.({
        session,
        server,
        world,
        async send(text) {
          const one = await world.ended(session.send(text))
          sent.push({ id: one.id, after: storage.commits.length })
          return one
        },
      })
      await world.pass(1_000)
      await chat.close()
      const room = openRoom(server, 's')
      for (let kept = 0; kept <= storage.commits.length; kept++) {
        const disk = memoryStorage()
        for (const { changes } of storage.commits.slice(0, kept)) await disk.commit(changes)
        // What was said to be on disk was written strictly: no crash takes it.
        for (const { id, after } of sent) if (kept >= after) expect(await disk.messages([id])).toHaveLength(1)
        const again = remoteChat({
          server,
          storage: watchedStorage(disk),
          world: createWorld({ name: `again${kept}` }),
        })
        await again.world.until(() => again.session.get().connection === 'online')
        await again.world.pass(5_000)
        expect(again.session.get().messages).toEqual([...room.messages.values()])
        await expectStored(again.chat, again.session, again.storage)
        await again.chat.close()
      }
    },
  )
})
