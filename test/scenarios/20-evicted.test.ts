import 'fake-indexeddb/auto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { directChat, shown, statuses } from '../chat/direct-chat.ts'
import { watchedStorage } from '../chat/storages.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { remoteChat } from '../runtime/remote-chat.ts'
import { openRoom, scriptedServer } from '../runtime/scripted-server.ts'
import { dexieUnderTest, dump, putRaw, settled } from '../storage/dexie-under-test.ts'

noStrayRejections()

const TABLES = ['sessions', 'messages', 'journal', 'outbox', 'records'] as const

async function database() {
  const under = await dexieUnderTest()
  onTestFinished(under.destroy)
  return under
}

/** Takes rows of a table away: one, or all. */
async function evict(db: IDBDatabase, table: string, at?: number): Promise<void> {
  const store = db.transaction(table, 'readwrite').objectStore(table)
  const keys = await settled(store.getAllKeys())
  for (const key of at === undefined ? keys : keys.slice(at, at + 1)) await settled(store.delete(key))
}

/** A visit to a server: two turns, then a question that could not be sent. Returns what the browser has of it. */
async function visit() {
  const server = scriptedServer()
  const { raw, reopen, storage } = await database()
  const { session, world, chat } = remoteChat({ server, storage: watchedStorage(storage) })
  for (const text of ['one', 'two']) await world.ended((await world.ended(session.send(text))).answer)
  await world.pass(1_000)
  server.online = false
  const { id } = await world.ended(session.send('unsent'))
  await world.pass(1_000)
  await world.ended(chat.close())
  server.online = true
  return { server, db: await raw(), reopen, unsent: id }
}

type Visit = Awaited<ReturnType<typeof visit>>

/** The next visit: in the end the page has all that the server has, and so has the browser. */
async function expectHealed({ server, reopen, unsent }: Visit, lost: string): Promise<void> {
  const storage = watchedStorage(await reopen())
  const { session, world, chat } = remoteChat({ server, storage, world: createWorld({ name: 'next' }) })
  const room = openRoom(server, 's')
  const has = (id: string) => session.get().messages.some((message) => message.id === id)
  const isStranded = () =>
    session.message(unsent).get()?.status === 'pending' && chat.health.get().outbox === 0
  await world.until(() => session.get().connection === 'online' && !isStranded())
  // Where a row of the branch is gone, what is older is offered, and comes from the server.
  if (session.get().hasOlder) await world.ended(session.loadOlder())
  await world.until(() => [...room.messages.keys()].every(has), 60_000)
  const message = session.message(unsent).get()
  if (message?.status === 'failed') {
    // What would have sent it is gone: that is told, and it is sent by hand.
    expect([lost, message.error?.code]).toEqual([lost, 'storage'])
    await world.ended((await world.ended(session.retry(unsent))).answer)
  }
  await world.until(() => session.get().status === 'ready' && chat.health.get().outbox === 0)
  await world.pass(1_000)
  expect([lost, ...shown(session.get().messages)].slice(0, 5)).toEqual([
    lost,
    'one',
    're: one',
    'two',
    're: two',
  ])
  const { rows } = await storage.window('s', { limit: 100 })
  expect([lost, rows.map((row) => row.message)]).toEqual([lost, [...room.messages.values()]])
  await world.ended(chat.close())
}

describe('20: a storage that the browser evicted between two visits', () => {
  test('as a whole is filled again from the server', async () => {
    const gone = await visit()
    for (const table of TABLES) await evict(gone.db, table)
    await expectHealed(gone, 'everything')
    expect(openRoom(gone.server, 's').messages.size).toBe(4)
  })

  test.each(TABLES)(
    'without its table "%s" is filled again, and what was not sent is sent',
    async (table) => {
      const gone = await visit()
      await evict(gone.db, table)
      await expectHealed(gone, table)
      expect(openRoom(gone.server, 's').messages.has(gone.unsent)).toBe(true)
    },
  )

  test('without any one of its rows is filled again', async () => {
    const { db } = await visit()
    for (const [table, rows] of Object.entries(await dump(db)))
      for (const at of rows.keys()) {
        const gone = await visit()
        await evict(gone.db, table, at)
        await expectHealed(gone, `${table} ${at}`)
        expect(openRoom(gone.server, 's').messages.has(gone.unsent)).toBe(true)
      }
  })

  test('with any one row that cannot be read: that is told, kept, and mended where the server has it', async () => {
    const { db } = await visit()
    for (const [table, rows] of Object.entries(await dump(db)))
      for (const [at, row] of rows.entries()) {
        const gone = await visit()
        const [own] = [(await dump(gone.db))[table]?.[at]]
        const bad = structuredClone(own ?? row)
        const inner = Reflect.get(Object(bad), 'message') ?? Reflect.get(Object(bad), 'session') ?? bad
        Reflect.set(inner, table === 'outbox' ? 'request' : table === 'sessions' ? 'metadata' : 'status', 7)
        await putRaw(gone.db, table, bad)
        await expectHealed(gone, `${table} ${at}`)
        const copies = await (await gone.reopen()).records('quarantine')
        expect(copies.map(({ value }) => Reflect.get(Object(value), 'row'))).toEqual([bad])
      }
  })
})

describe('20: the same in a chat that has no server', () => {
  const talked = async () => {
    const { raw, reopen, storage } = await database()
    const { session, world, chat } = directChat({ storage: watchedStorage(storage) })
    for (const text of ['one', 'two']) await world.ended((await world.ended(session.send(text))).answer)
    await world.pass(1_000)
    await world.ended(chat.close())
    return { db: await raw(), reopen }
  }

  test('any one row may be gone: what is left is shown, and goes on', async () => {
    const { db } = await talked()
    const before = await dump(db)
    const seqs = (before.messages ?? []).map((row) => Number(Reflect.get(Object(row), 'position'))).sort()
    for (const [table, rows] of Object.entries(before))
      for (const at of rows.keys()) {
        const gone = await talked()
        await evict(gone.db, table, at)
        const storage = watchedStorage(await gone.reopen())
        const { session, world, chat } = directChat({ storage, world: createWorld({ name: 'next' }) })
        await world.until(() => session.get().status === 'ready')
        // What stood before a hole cannot be reached from behind it; without the newest, the others stand.
        const hole =
          table === 'messages' ? seqs.indexOf(Number(Reflect.get(Object(rows[at]), 'position'))) : -1
        expect([table, at, session.get().messages.length]).toEqual([table, at, hole === 3 ? 3 : 3 - hole])
        await world.ended((await world.ended(session.send('three'))).answer)
        await world.pass(1_000)
        expect(shown(session.get().messages).slice(-2)).toEqual(['three', 're: three'])
        await world.ended(chat.close())
        const look = directChat({
          storage: watchedStorage(await gone.reopen()),
          world: createWorld({ name: 'look' }),
        })
        await look.world.until(() => look.session.get().status === 'ready')
        expect(look.session.get().messages).toEqual(session.get().messages)
        expect(new Set(statuses(look.session.get().messages))).toEqual(
          new Set(['user completed', 'assistant completed']),
        )
        expect(look.chat.sessions.get().map(({ id }) => id)).toEqual(['s'])
        await look.world.ended(look.chat.close())
      }
  })
})
