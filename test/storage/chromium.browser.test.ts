import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Change } from '../../src/chat/ports.ts'
import { VERSIONS } from '../../src/storage/schema.ts'
import { outcomeOf } from '../../src/testing/storage-case.ts'
import { samplePiece, sampleUser } from '../../src/testing/storage-samples.ts'
import { databaseName, dexieUnderTest } from './dexie-under-test.ts'

const put = (id: string, position = 1): Change => ({ type: 'message', row: sampleUser(id, 's1', position) })

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

describe('IndexedDB in Chromium', () => {
  test('a strict commit is a strict transaction, every other a relaxed one', async () => {
    const { storage, destroy } = await dexieUnderTest()
    await storage.start({ sessions: 1 })
    const opened = vi.spyOn(IDBDatabase.prototype, 'transaction')
    await storage.commit([put('a')])
    await storage.commit([put('b', 2)], { durability: 'strict' })
    await storage.window('s1', { limit: 5 })
    expect(opened.mock.results.map(({ value }) => value.durability)).toEqual(['relaxed', 'strict', 'relaxed'])
    await destroy()
  })

  test('a full disk is quota, leaves nothing of the batch behind, and what is there can be read', async () => {
    // A bucket with a quota of its own: the origin's is everyone's, and Chromium does not look at it each time.
    const buckets = Reflect.get(navigator, 'storageBuckets')
    const bucket = await buckets.open(databaseName().toLowerCase().replaceAll('_', '-'), { quota: 1_000_000 })
    vi.stubGlobal('indexedDB', bucket.indexedDB)
    const { storage } = await dexieUnderTest()
    await storage.commit([put('a')])
    const big = Array.from({ length: 20 }, (_, i): Change => {
      const noise = Array.from({ length: 50_000 }, () => Math.random().toString(36)).join('')
      return { type: 'record', record: { kind: 'big', key: `${i}`, sessionId: null, value: noise } }
    })
    expect(await outcomeOf(storage.commit([put('b', 2), ...big, put('c', 3)]))).toBe('quota')
    expect((await storage.window('s1', { limit: 5 })).rows.map((row) => row.message.id)).toEqual(['a'])
    expect(await storage.records('big')).toEqual([])
    await storage.close()
    await buckets.delete(bucket.name)
  })

  test('a newer tab’s upgrade is not held back by an older one', async () => {
    const log = vi.spyOn(console, 'warn')
    const { storage: old, reopen, destroy } = await dexieUnderTest()
    await old.commit([put('a')])
    const newer = await reopen({}, [...VERSIONS, { version: 2, tables: { notes: 'id' } }])
    expect((await newer.window('s1', { limit: 5 })).rows).toHaveLength(1)
    expect(await outcomeOf(old.commit([put('b', 2)]))).toBe('storage')
    expect(log).not.toHaveBeenCalled()
    await destroy()
  })

  test('a writer killed in mid-answer leaves every acknowledged piece, in order and whole', async () => {
    const { name, storage, destroy } = await dexieUnderTest()
    const worker = new Worker(new URL('./stream.worker.ts', import.meta.url), { type: 'module' })
    let acknowledged = 0
    worker.onmessage = ({ data }) => {
      acknowledged = data
    }
    worker.postMessage(name)
    await vi.waitFor(() => expect(acknowledged).toBeGreaterThan(100), { timeout: 10_000 })
    worker.terminate()
    const [row] = await storage.messages(['a'])
    const [block] = row?.message.content ?? []
    const text = block?.type === 'text' ? block.text : ''
    expect(text.length).toBeGreaterThanOrEqual(acknowledged)
    let expected = ''
    while (expected.length < text.length) expected += `${expected.length} `
    expect(text).toBe(expected)
    await storage.commit([{ type: 'journal', entry: samplePiece('a', 's1', text.length, 'end') }])
    expect((await storage.messages(['a']))[0]?.message.content).toEqual([
      { type: 'text', text: `${text}end` },
    ])
    await destroy()
  })
})
