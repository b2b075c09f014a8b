import 'fake-indexeddb/auto'
import { describe, expect, test } from 'vitest'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { dexieUnderTest } from './dexie-under-test.ts'

storageContract('dexieStorage on fake-indexeddb', () => dexieUnderTest(), { describe, test, expect })
