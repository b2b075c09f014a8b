import 'fake-indexeddb/auto'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Change } from '../../src/chat/ports.ts'
import { type SchemaVersion, VERSIONS } from '../../src/storage/schema.ts'
import { outcomeOf } from '../../src/testing/storage-case.ts'
import { sampleAnswer, samplePiece, sampleUser } from '../../src/testing/storage-samples.ts'
import { dexieUnderTest, dump, putRaw, settled } from './dexie-under-test.ts'

/** What a second version could be: a new table, an index that is gone, rows in another form. */
const SECOND: readonly SchemaVersion[] = [
  ...VERSIONS,
  {
    version: 2,
    tables: { notes: 'id', outbox: 'id, [sessionId+position]' },
    upgrade: (transaction) =>
      transaction
        .table('messages')
        .toCollection()
        .modify((row) => {
          row.message.metadata = { ...row.message.metadata, moved: true }
        }),
  },
]

const put = (id: string, position = 1): Change => ({ type: 'message', row: sampleUser(id, 's1', position) })

afterEach(() => {
  vi.restoreAllMocks()
})

describe('versions of the stored schema', () => {
  test('are numbered without holes from one', () => {
    expect(VERSIONS.map(({ version }) => version)).toEqual(VERSIONS.map((_, i) => i + 1))
  })

  test('a released version is never edited', () => {
    expect(VERSIONS[0]).toEqual({
      version: 1,
      tables: {
        sessions: 'session.id, [session.updatedAt+session.id]',
        messages: 'message.id, [message.sessionId+position], [message.sessionId+message.rev]',
        journal: '[messageId+index+offset]',
        outbox: 'id, [sessionId+position], nextAttemptAt',
        records: '[kind+key], [sessionId+kind]',
      },
    })
  })

  test('a database of the first version is brought to the second with all its rows', async () => {
    const { storage, reopen, raw, destroy } = await dexieUnderTest()
    await storage.commit([
      put('a', 1),
      { type: 'message', row: sampleAnswer('b', 's1', 2) },
      { type: 'journal', entry: samplePiece('b', 's1', 0, 'Tide') },
    ])
    await storage.close()
    const newer = await reopen({}, SECOND)
    const { rows } = await newer.window('s1', { limit: 5 })
    expect(rows.map(({ message }) => [message.id, message.metadata])).toEqual([
      ['a', { moved: true }],
      ['b', { moved: true }],
    ])
    expect(rows[1]?.message.content).toEqual([{ type: 'text', text: 'Tide' }])
    await newer.close()
    const db = await raw()
    expect(db.version).toBe(20)
    expect([...db.objectStoreNames]).toContain('notes')
    await destroy()
  })

  test('a new database begins with the second version at once', async () => {
    const { storage, destroy } = await dexieUnderTest({}, SECOND)
    await storage.commit([put('a')])
    expect(await storage.messages(['a'])).toEqual([sampleUser('a', 's1', 1)])
    await destroy()
  })

  test('an upgrade that fails leaves the first version as it was, and open to the old code', async () => {
    const { storage, reopen, raw, destroy } = await dexieUnderTest()
    await storage.commit([put('a')])
    await storage.close()
    const broken = {
      ...SECOND[1],
      version: 2,
      tables: { notes: 'id' },
      upgrade: () => Promise.reject(new Error('Killed')),
    }
    const newer = await reopen({}, [...VERSIONS, broken])
    expect(await outcomeOf(newer.start({ sessions: 1 }))).toBe('storage')
    expect((await raw()).version).toBe(10)
    expect(await (await reopen()).messages(['a'])).toEqual([sampleUser('a', 's1', 1)])
    await destroy()
  })

  test('code older than what is stored fails with storage and writes nothing, neither rows nor schema', async () => {
    const { storage, reopen, raw, destroy } = await dexieUnderTest({}, SECOND)
    await storage.commit([put('a')])
    await storage.close()
    const reader = await raw()
    const before = await dump(reader)
    const old = await reopen({}, VERSIONS)
    const calls = [
      () => old.start({ sessions: 1 }),
      () => old.window('s1', { limit: 1 }),
      () => old.commit([put('b', 2)]),
      () => old.commit([put('b', 2)], { durability: 'strict' }),
    ]
    for (const call of calls) expect(await outcomeOf(call())).toBe('storage')
    await expect(old.commit([put('b', 2)])).rejects.toThrow(/VersionError.*newer version/)
    expect(await dump(reader)).toEqual(before)
    reader.close()
    expect((await raw()).version).toBe(20)
    await destroy()
  })

  test('a newer tab’s upgrade is not held back by an older one, which writes nothing from then on', async () => {
    const log = vi.spyOn(console, 'warn')
    const { storage: old, reopen, destroy } = await dexieUnderTest()
    await old.commit([put('a')])
    const newer = await reopen({}, SECOND)
    expect((await newer.window('s1', { limit: 5 })).rows).toHaveLength(1)
    expect(await outcomeOf(old.commit([put('b', 2)]))).toBe('storage')
    expect((await newer.window('s1', { limit: 5 })).rows).toHaveLength(1)
    expect(log).not.toHaveBeenCalled()
    await destroy()
  })

  test('a database of the same name and version that is none of ours is left alone', async () => {
    const { name, storage, raw, destroy } = await dexieUnderTest()
    const request = indexedDB.open(name, 10)
    request.onupgradeneeded = () => request.result.createObjectStore('theirs', { keyPath: 'id' })
    const theirs = await settled(request)
    await putRaw(theirs, 'theirs', { id: 1 })
    theirs.close()
    vi.spyOn(console, 'warn').mockReturnValue()
    expect(await outcomeOf(storage.commit([put('a')]))).toBe('storage')
    const db = await raw()
    expect([db.version, [...db.objectStoreNames]]).toEqual([10, ['theirs']])
    await destroy()
  })
})
