import { platformEnv } from '../../src/lib/env.ts'
import { type DexieStorageOptions, storageOver } from '../../src/storage/dexie.ts'
import { type SchemaVersion, VERSIONS } from '../../src/storage/schema.ts'
import type { StorageUnderTest } from '../../src/testing/storage-case.ts'

/** A name that no other test has: tests run side by side, in one origin. */
export const databaseName = (): string => `tidemark-test-${platformEnv.createId()}`

export interface DexieUnderTest extends StorageUnderTest {
  name: string
  /** Another handle, as of another version of the code, or with another clock. */
  reopen(
    options?: DexieStorageOptions,
    versions?: readonly SchemaVersion[],
  ): Promise<StorageUnderTest['storage']>
  /** The browser's own handle, for what the port does not do. Closed at the end, and when asked. */
  raw(): Promise<IDBDatabase>
}

/** The answer to a request, for tests that speak to IndexedDB themselves. */
export const settled = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

/** A storage in a database of its own, and its end. */
export async function dexieUnderTest(
  options: DexieStorageOptions = {},
  versions: readonly SchemaVersion[] = VERSIONS,
): Promise<DexieUnderTest> {
  const name = databaseName()
  const closers: (() => unknown)[] = []
  const open: DexieUnderTest['reopen'] = async (own = {}, ownVersions = versions) => {
    const handle = storageOver(name, ownVersions, own)
    closers.push(() => handle.close())
    return handle
  }
  return {
    name,
    storage: await open(options),
    reopen: open,
    async raw() {
      const handle = await settled(indexedDB.open(name))
      closers.push(() => handle.close())
      return handle
    },
    async destroy() {
      for (const close of closers) await close()
      // Waits for what is still running, and says nothing about it.
      await settled(indexedDB.deleteDatabase(name))
    },
  }
}

/** Puts rows as they are, past the port. */
export async function putRaw(db: IDBDatabase, table: string, ...rows: unknown[]): Promise<void> {
  const tx = db.transaction(table, 'readwrite')
  for (const row of rows) tx.objectStore(table).put(row)
  await new Promise((resolve, reject) => {
    tx.oncomplete = resolve
    tx.onabort = () => reject(tx.error)
  })
}

/** All that a database holds, by table. */
export async function dump(db: IDBDatabase): Promise<Record<string, unknown[]>> {
  const names = [...db.objectStoreNames]
  const tx = db.transaction(names, 'readonly')
  const rows = await Promise.all(names.map((name) => settled<unknown[]>(tx.objectStore(name).getAll())))
  return Object.fromEntries(names.map((name, i) => [name, rows[i] ?? []]))
}

/** A transaction that holds a table until it is let go: whoever else wants to write waits. */
export function occupy(db: IDBDatabase, table: string): { release(): Promise<void> } {
  const tx = db.transaction(table, 'readwrite')
  let held = true
  const hold = () => {
    if (held) tx.objectStore(table).count().onsuccess = hold
  }
  hold()
  const over = new Promise<void>((resolve) => {
    tx.oncomplete = () => resolve()
  })
  return {
    release() {
      held = false
      return over
    },
  }
}

/** A clock that stands still; its sleepers wake when they are told to. */
export function standingClock() {
  let now = 0
  const sleepers: (() => void)[] = []
  return {
    env: {
      now: () => now,
      sleep: () =>
        new Promise<void>((resolve) => {
          sleepers.push(resolve)
        }),
    },
    /** Lets `ms` pass, and wakes everyone who sleeps at this moment. */
    pass(ms: number) {
      now += ms
      for (const wake of sleepers.splice(0)) wake()
    },
  }
}
