import 'fake-indexeddb/auto'
import { serialize } from 'node:v8'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Change } from '../../src/chat/ports.ts'
import { dexieStorage } from '../../src/storage/dexie.ts'
import {
  sampleAnswer,
  sampleOutbox,
  samplePiece,
  sampleSession,
  sampleUser,
} from '../../src/testing/storage-samples.ts'
import { databaseName, dexieUnderTest } from './dexie-under-test.ts'

const CALLS = [
  'put',
  'add',
  'delete',
  'clear',
  'get',
  'getKey',
  'getAll',
  'getAllKeys',
  'getAllRecords',
  'count',
  'openCursor',
  'openKeyCursor',
]

/** Counts what is asked of IndexedDB from now on. */
function watch() {
  const calls: string[] = []
  const bytes: number[] = []
  const rows: unknown[][] = []
  for (const prototype of [IDBObjectStore.prototype, IDBIndex.prototype])
    for (const name of CALLS) {
      const original = Reflect.get(prototype, name)
      if (!original) continue
      Reflect.set(prototype, name, function (this: IDBObjectStore | IDBIndex, ...args: unknown[]) {
        calls.push(`${'objectStore' in this ? this.objectStore.name : this.name}.${name}`)
        if (name === 'put') bytes.push(serialize(args[0]).byteLength)
        const request = original.apply(this, args)
        if (name === 'getAll' || name === 'getAllRecords')
          request.addEventListener('success', () => rows.push(request.result))
        return request
      })
      restore.push(() => Reflect.set(prototype, name, original))
    }
  const transactions = vi.spyOn(IDBDatabase.prototype, 'transaction')
  return { calls, bytes, rows, transactions: transactions.mock.calls }
}
const restore: (() => void)[] = []
afterEach(() => {
  for (const undo of restore.splice(0)) undo()
  vi.restoreAllMocks()
})

/** Makes it a browser of before 2025. */
function withoutRecords() {
  const native = Object.getOwnPropertyDescriptor(IDBIndex.prototype, 'getAllRecords')
  Reflect.deleteProperty(IDBIndex.prototype, 'getAllRecords')
  restore.push(() => native && Object.defineProperty(IDBIndex.prototype, 'getAllRecords', native))
}

const id = (letter: string) => letter.repeat(21)

describe('what a call costs', () => {
  test.each([2_000, 200_000])(
    'a delta behind %d units of text is one put of at most 200 bytes, and no read',
    async (length) => {
      const { storage, destroy } = await dexieUnderTest()
      const content = [{ type: 'text' as const, text: 'x'.repeat(length) }]
      await storage.commit([{ type: 'message', row: sampleAnswer(id('m'), id('s'), 1, { content }) }])
      const seen = watch()
      for (let i = 0; i < 20; i++)
        await storage.commit([
          { type: 'journal', entry: samplePiece(id('m'), id('s'), length + i * 5, ' tide') },
        ])
      expect(seen.calls).toEqual(Array.from({ length: 20 }, () => 'journal.put'))
      expect(Math.max(...seen.bytes)).toBeLessThanOrEqual(200)
      expect(seen.transactions).toEqual(
        Array.from({ length: 20 }, () => [['journal'], 'readwrite', { durability: 'relaxed' }]),
      )
      await destroy()
    },
  )

  test('deltas of a tenth of a second in one piece cost a fraction each', async () => {
    const { storage, destroy } = await dexieUnderTest()
    const seen = watch()
    await storage.commit([
      { type: 'journal', entry: samplePiece(id('m'), id('s'), 5_000, ' tide'.repeat(10)) },
    ])
    expect((seen.bytes[0] ?? 0) / 10).toBeLessThanOrEqual(20)
    await destroy()
  })

  test.each([
    ['and one more', ['messages.getAllRecords'], 51],
    ['where the browser has no getAllRecords', ['messages.getAll', 'messages.openKeyCursor'], 50],
  ])('a window is one transaction that reads no more rows than it answers %s', async (_, asked, read) => {
    if (read === 50) withoutRecords()
    const { storage, destroy } = await dexieUnderTest()
    await storage.commit([
      { type: 'session', row: sampleSession('s1') },
      ...Array.from(
        { length: 300 },
        (_, i): Change => ({ type: 'message', row: sampleUser(`m${i}`, 's1', i) }),
      ),
      { type: 'message', row: sampleAnswer('a', 's1', 300) },
      { type: 'journal', entry: samplePiece('a', 's1', 0, 'Tide') },
      { type: 'outbox', row: sampleOutbox('o', 's1', 0) },
    ])
    const seen = watch()
    const { rows, hasOlder } = await storage.window('s1', { limit: 50 })
    expect([rows.length, hasOlder]).toEqual([50, true])
    expect(seen.transactions.length).toBe(1)
    expect(seen.calls.sort()).toEqual(['journal.getAll', ...asked, 'outbox.getAll', 'sessions.get'])
    expect(seen.rows.map((read) => read.length).sort((a, b) => a - b)).toEqual([1, 1, read])
    await destroy()
  })

  test('the start counts nothing and reads only what it answers', async () => {
    const { storage, destroy } = await dexieUnderTest()
    await storage.commit(
      Array.from({ length: 30 }, (_, i) => ({ type: 'session', row: sampleSession(`s${i}`, {}, i) })),
    )
    const seen = watch()
    await storage.start({ sessions: 10 })
    expect(seen.calls.sort()).toEqual(['outbox.getAll', 'sessions.getAllRecords'])
    expect(seen.rows.map((read) => read.length).sort((a, b) => a - b)).toEqual([0, 11])
    await destroy()
  })

  test('a batch opens only the tables it needs, strictly where it was asked', async () => {
    const { storage, destroy } = await dexieUnderTest()
    await storage.start({ sessions: 1 })
    const seen = watch()
    await storage.commit(
      [
        { type: 'message', row: sampleUser('m', 's1', 1) },
        { type: 'outbox', row: sampleOutbox('m', 's1', 1) },
      ],
      { durability: 'strict', guards: [{ type: 'absent', table: 'outbox', id: 'm' }] },
    )
    expect(seen.transactions).toEqual([
      [['messages', 'journal', 'outbox'], 'readwrite', { durability: 'strict' }],
    ])
    expect(seen.calls).toEqual(['outbox.get', 'journal.delete', 'messages.put', 'outbox.put'])
    await destroy()
  })

  test('a page of two hundred messages asks once which of them have a journal', async () => {
    const { storage, destroy } = await dexieUnderTest()
    const page = Array.from(
      { length: 200 },
      (_, i): Change => ({ type: 'message', row: sampleUser(`m${i}`, 's1', i) }),
    )
    const seen = watch()
    await storage.commit(page)
    expect(seen.calls).toEqual(['journal.getAllKeys', ...page.map(() => 'messages.put')])
    await destroy()
  })

  test('nothing is opened before the first call, and once for all that come together', async () => {
    const open = vi.spyOn(IDBFactory.prototype, 'open')
    const storage = dexieStorage(databaseName())
    expect(open).not.toHaveBeenCalled()
    await Promise.all([storage.start({ sessions: 1 }), storage.records('k'), storage.messages(['m'])])
    expect(open).toHaveBeenCalledTimes(1)
    await storage.close()
  })
})
