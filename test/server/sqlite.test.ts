import Sqlite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import type { Decision, HistoryStore, View } from '../../src/server/ports.ts'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { createSession, feedUntil, pageOf, sendBody, stage, temporaryFolder } from './stage.ts'

const scope = { account: 'a', sessionId: 's1' }

/** Adds one event to a session that is made at the first. */
const addEvent =
  (tag: string) =>
  ({ session }: View): Decision<number> => {
    const n = (session?.events ?? 0) + 1
    const row = session ?? {
      account: 'a',
      session: { id: 's1', createdAt: 0, updatedAt: 0, metadata: {}, headId: null, v: 1 },
      seq: 0,
      rev: 0,
      events: 0,
      tag: null,
      trimmed: 0,
      published: 0,
      epoch: 0,
      deleted: false,
    }
    return {
      changes: [
        { type: 'session', row: { ...row, events: n, tag }, recent: true },
        { type: 'event', row: { id: { n, tag }, event: { type: 'run.started', runId: tag } } },
      ],
      answer: n,
    }
  }

function open(file: string): HistoryStore & { log: NonNullable<HistoryStore['log']> } {
  const store = sqliteStore(file)
  onTestFinished(() => store.close())
  return store
}

test('numbers rise without a hole, whoever writes at once and through whichever connection', async () => {
  const file = `${temporaryFolder()}/chat.db`
  const stores = [open(file), open(file), open(file)]
  const writes = Array.from({ length: 90 }, (_, at) =>
    (stores[at % 3] ?? open(file)).transact(scope, {}, addEvent(`t${at}`)),
  )
  const numbers = await Promise.all(writes)
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 90 }, (_, at) => at + 1))
  const { entries } = await open(file).log.read('s1', 0, 100)
  expect(entries.map(({ id }) => id.n)).toEqual(Array.from({ length: 90 }, (_, at) => at + 1))
})

test('a decision that throws leaves nothing', async () => {
  const store = open(':memory:')
  await store.transact(scope, {}, addEvent('one'))
  const failure = new Error('no')
  const failing = store.transact(scope, {}, () => {
    throw failure
  })
  await expect(failing).rejects.toBe(failure)
  // A change that cannot be applied takes the ones before it back.
  const doubled = store.transact(scope, {}, (view) => {
    const { changes, answer } = addEvent('two')(view)
    return { changes: [...changes, ...changes], answer }
  })
  await expect(doubled).rejects.toMatchObject({ code: 'storage' })
  expect(await store.log.read('s1', 0, 10)).toMatchObject({ entries: [{ id: { n: 1 } }], tail: 1 })
  expect(await store.transact(scope, {}, addEvent('two'))).toBe(2)
})

test('who waits is woken by a commit of this store, and of another one on the same file', async () => {
  const file = `${temporaryFolder()}/chat.db`
  const [one, two] = [open(file), open(file)]
  await one.transact(scope, {}, addEvent('one'))
  const { signal } = new AbortController()
  const woken: string[] = []
  const waits = [
    one.log.wait('s1', 1, signal).then(() => woken.push('one')),
    two.log.wait('s1', 1, signal).then(() => woken.push('two')),
  ]
  const idle = new AbortController()
  const other = two.log.wait('s2', 0, idle.signal)
  await one.transact(scope, {}, addEvent('two'))
  await Promise.all(waits)
  expect(woken.sort()).toEqual(['one', 'two'])
  // What is there already need not be waited for.
  await two.log.wait('s1', 1, signal)
  idle.abort()
  await other
})

test('a store that is closed wakes who waits, and refuses what comes later', async () => {
  const store = sqliteStore(':memory:')
  await store.transact(scope, {}, addEvent('one'))
  const waiting = store.log.wait('s1', 1, new AbortController().signal)
  await store.close()
  await waiting
  await store.close()
  await expect(store.read(scope, {})).rejects.toMatchObject({
    code: 'storage',
    message: 'the store is closed',
  })
})

test('a file of a newer version is not touched', () => {
  const file = `${temporaryFolder()}/chat.db`
  const db = new Sqlite(file)
  db.pragma('user_version = 99')
  db.close()
  expect(() => sqliteStore(file)).toThrow('the database has schema 99')
  const after = new Sqlite(file, { readonly: true })
  expect(after.prepare('select count(*) from sqlite_master').pluck().get()).toBe(0)
  after.close()
})

test('a file that cannot be opened is a storage failure', () => {
  expect(() => sqliteStore(`${temporaryFolder()}/no/such/folder/chat.db`)).toThrow(
    expect.objectContaining({ code: 'storage' }),
  )
})

test('the schema is made once and says what was applied', async () => {
  const file = `${temporaryFolder()}/chat.db`
  for (let times = 0; times < 2; times++) await sqliteStore(file).close()
  const db = new Sqlite(file, { readonly: true })
  expect(db.pragma('user_version', { simple: true })).toBe(3)
  expect(db.prepare('select version, name from migrations').all()).toEqual([
    { version: 1, name: 'sessions, messages, events, runs, keys' },
    { version: 2, name: 'runs that wait for somebody' },
    { version: 3, name: 'records' },
  ])
  expect(db.pragma('journal_mode', { simple: true })).toBe('wal')
  db.close()
})

test('a database that the app opened stays its own to close', async () => {
  const db = new Sqlite(':memory:')
  const store = sqliteStore(db)
  await store.transact(scope, {}, addEvent('one'))
  await store.close()
  expect(db.prepare('select events from sessions').pluck().get()).toBe(1)
  db.close()
})

test('what was answered is there after a restart', async () => {
  const file = `${temporaryFolder()}/chat.db`
  const one = stage({}, file)
  await createSession(one.ask)
  await one.ask('POST', '/sessions/s1/messages', sendBody('m1'))
  const events = await feedUntil(one.ask, 'run-m1')
  const page = await pageOf(one.ask)
  await one.chat.close()
  const two = stage({}, file)
  expect(await pageOf(two.ask)).toEqual(page)
  expect(await feedUntil(two.ask, 'run-m1')).toEqual(events)
  const again = await two.ask('POST', '/sessions/s1/messages', sendBody('m1'))
  expect(again.status).toBe(202)
  expect(await pageOf(two.ask)).toEqual(page)
})
