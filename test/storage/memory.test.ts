import { describe, expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'

storageContract(
  'memoryStorage',
  async () => {
    const storage = memoryStorage()
    return { storage, reopen: async () => storage, destroy: () => storage.close() }
  },
  { describe, test, expect },
  { durable: false },
)
