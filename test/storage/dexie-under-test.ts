import { Dexie } from 'dexie'
import { dexieStorage } from '../../src/storage/dexie.ts'
import type { StorageUnderTest } from '../../src/testing/storage-case.ts'

let made = 0

/** A name that no other test has: tests run side by side, in one origin. */
export const databaseName = (): string =>
  `tidemark-test-${Date.now()}-${Math.random().toString(36).slice(2)}-${made++}`

/** A storage in a database of its own, and its end. */
export async function dexieUnderTest(name = databaseName()): Promise<StorageUnderTest & { name: string }> {
  const storage = dexieStorage(name)
  const handles = [storage]
  return {
    name,
    storage,
    async reopen() {
      const handle = dexieStorage(name)
      handles.push(handle)
      return handle
    },
    async destroy() {
      await Promise.all(handles.map((handle) => handle.close()))
      await Dexie.delete(name)
    },
  }
}
