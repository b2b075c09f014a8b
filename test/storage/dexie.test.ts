import 'fake-indexeddb/auto'
import { describe, expect, test } from 'vitest'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { dexieUnderTest } from './dexie-under-test.ts'

storageContract('dexieStorage on fake-indexeddb', () => dexieUnderTest(), { describe, test, expect })

storageContract(
  'dexieStorage in a browser without getAllRecords',
  async () => {
    const native = Object.getOwnPropertyDescriptor(IDBIndex.prototype, 'getAllRecords')
    Reflect.deleteProperty(IDBIndex.prototype, 'getAllRecords')
    const { destroy, ...subject } = await dexieUnderTest()
    return {
      ...subject,
      async destroy() {
        await destroy()
        if (native) Object.defineProperty(IDBIndex.prototype, 'getAllRecords', native)
      },
    }
  },
  { describe, test, expect },
)
