import 'fake-indexeddb/auto'
import { Dexie } from 'dexie'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Change } from '../../src/chat/ports.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import { dexieStorage } from '../../src/storage/dexie.ts'
import { VERSIONS } from '../../src/storage/schema.ts'
import { outcomeOf } from '../../src/testing/storage-case.ts'
import { sampleAnswer, sampleSession, sampleUser } from '../../src/testing/storage-samples.ts'
import { databaseName, dexieUnderTest, dump, occupy, standingClock } from './dexie-under-test.ts'

const put = (id: string, position = 1): Change => ({ type: 'message', row: sampleUser(id, 's1', position) })
const failureOf = async (call: Promise<unknown>) => {
  const thrown = await call.then(
    () => new Error('It was done'),
    (error: unknown) => error,
  )
  if (thrown instanceof TidemarkError) return thrown
  throw thrown
}

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

describe('a database that does not answer', () => {
  test('a commit that hangs fails after five seconds, and is not written behind its caller’s back', async () => {
    const clock = standingClock()
    const { storage, raw, destroy } = await dexieUnderTest({ env: clock.env })
    await storage.commit([put('a')])
    const db = await raw()
    const held = occupy(db, 'messages')
    const commit = failureOf(storage.commit([put('b', 2)]))
    // The commit has asked for its transaction once a later reader of another table was answered.
    await storage.records('k')
    clock.pass(5_000)
    const { code, message } = await commit
    expect(code).toBe('storage')
    expect(message).toContain('did not answer within 5000 ms')
    await held.release()
    const opened = vi.spyOn(IDBFactory.prototype, 'open')
    expect((await storage.window('s1', { limit: 5 })).rows.map((row) => row.message.id)).toEqual(['a'])
    // The handle that hung is not trusted again.
    expect(opened).toHaveBeenCalledTimes(1)
    await storage.commit([put('c', 3)])
    expect((await dump(db)).messages).toHaveLength(2)
    await destroy()
  })

  test('a machine that slept gives the database its time again', async () => {
    const clock = standingClock()
    const { storage, raw, destroy } = await dexieUnderTest({ env: clock.env })
    await storage.commit([put('a')])
    const held = occupy(await raw(), 'messages')
    const commit = storage.commit([put('b', 2)])
    await storage.records('k')
    clock.pass(3_600_000)
    await storage.records('k')
    await held.release()
    expect(await outcomeOf(commit)).toBe('done')
    await destroy()
  })

  test('an upgrade blocked by a tab that does not give way fails after five seconds, and goes on when it does', async () => {
    const clock = standingClock()
    const { storage, raw, reopen, destroy } = await dexieUnderTest({ env: clock.env })
    await storage.commit([put('a')])
    await storage.close()
    const stubborn = await raw()
    const newer = await reopen({ env: clock.env }, [...VERSIONS, { version: 2, tables: { more: 'id' } }])
    const asked = vi.spyOn(IDBFactory.prototype, 'open')
    const log = vi.spyOn(console, 'warn')
    const commit = failureOf(newer.commit([put('b', 2)]))
    await vi.waitFor(() => expect(asked).toHaveBeenCalled())
    clock.pass(5_000)
    expect((await commit).code).toBe('storage')
    stubborn.close()
    expect((await newer.window('s1', { limit: 5 })).rows.map((row) => row.message.id)).toEqual(['a'])
    expect(log).not.toHaveBeenCalled()
    await destroy()
  })
})

describe('a handle that is lost', () => {
  test('a dead handle is replaced, and the commit that found it so is done', async () => {
    const { storage, destroy } = await dexieUnderTest()
    await storage.commit([put('a')])
    const opened = vi.spyOn(IDBFactory.prototype, 'open')
    vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementationOnce(() => {
      throw new DOMException('The database connection is closing.', 'InvalidStateError')
    })
    await storage.commit([put('b', 2)])
    expect(opened).toHaveBeenCalledTimes(1)
    expect((await storage.window('s1', { limit: 5 })).rows).toHaveLength(2)
    await destroy()
  })

  test('a database deleted from outside is not held back, and the next call makes a new one', async () => {
    const { name, storage, destroy } = await dexieUnderTest()
    await storage.commit([put('a')])
    const log = vi.spyOn(console, 'warn')
    await Dexie.delete(name)
    expect((await storage.window('s1', { limit: 5 })).rows).toEqual([])
    await storage.commit([put('b')])
    expect((await storage.window('s1', { limit: 5 })).rows).toHaveLength(1)
    expect(log).not.toHaveBeenCalled()
    await destroy()
  })
})

describe('a database that refuses', () => {
  test('without IndexedDB every call fails with storage', async () => {
    vi.stubGlobal('indexedDB', undefined)
    const storage = dexieStorage(databaseName())
    expect((await failureOf(storage.start({ sessions: 1 }))).code).toBe('storage')
    expect((await failureOf(storage.commit([put('a')]))).code).toBe('storage')
    await storage.close()
  })

  test('a refused open is told by the browser’s name for it, and tried again by the next call', async () => {
    const { storage, destroy } = await dexieUnderTest()
    vi.spyOn(IDBFactory.prototype, 'open').mockImplementationOnce(() => {
      throw new DOMException('Not here', 'SecurityError')
    })
    const failure = await failureOf(storage.commit([put('a')]))
    expect(failure.code).toBe('storage')
    expect(failure.message).toContain('SecurityError')
    expect(failure.cause).toBeInstanceOf(Error)
    expect(await outcomeOf(storage.commit([put('a')]))).toBe('done')
    await destroy()
  })

  test('a full disk is told by the abort of the transaction, when its request never settles', async () => {
    const { storage, destroy } = await dexieUnderTest()
    await storage.commit([put('a')])
    const original = IDBObjectStore.prototype.put
    vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementationOnce(function (
      this: IDBObjectStore,
      ...args
    ) {
      const request = original.apply(this, args)
      const { transaction } = this
      Object.defineProperty(transaction, 'error', { value: new DOMException('Full', 'QuotaExceededError') })
      queueMicrotask(() => transaction.abort())
      return Object.create(request)
    })
    const failure = await failureOf(storage.commit([put('b', 2), put('c', 3)]))
    expect(failure.code).toBe('quota')
    expect(failure.message).toContain('QuotaExceededError')
    expect((await storage.window('s1', { limit: 5 })).rows).toHaveLength(1)
    await destroy()
  })

  test('an aborted transaction without a reason fails with storage', async () => {
    const { storage, destroy } = await dexieUnderTest()
    const original = IDBObjectStore.prototype.put
    vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementationOnce(function (
      this: IDBObjectStore,
      ...args
    ) {
      const { transaction } = this
      queueMicrotask(() => transaction.abort())
      return original.apply(this, args)
    })
    expect((await failureOf(storage.commit([put('a')]))).message).toContain('AbortError')
    await destroy()
  })

  test('closing while the database opens leaves no handle behind', async () => {
    const { storage, destroy } = await dexieUnderTest()
    const closed = vi.spyOn(IDBDatabase.prototype, 'close')
    const start = outcomeOf(storage.start({ sessions: 1 }))
    await storage.close()
    expect(await start).toBe('storage')
    await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(1))
    await destroy()
  })

  test('an answer in flight survives the failure of what comes after it', async () => {
    const { storage, destroy } = await dexieUnderTest()
    const kept: Change[] = [
      { type: 'session', row: sampleSession('s1') },
      { type: 'message', row: sampleAnswer('a', 's1', 1) },
    ]
    const bad: Change = { type: 'record', record: { kind: 'k', key: 'k', sessionId: null, value: () => 1 } }
    expect(await Promise.all([outcomeOf(storage.commit(kept)), outcomeOf(storage.commit([bad]))])).toEqual([
      'done',
      'storage',
    ])
    expect(await storage.messages(['a'])).toEqual([sampleAnswer('a', 's1', 1)])
    await destroy()
  })
})
