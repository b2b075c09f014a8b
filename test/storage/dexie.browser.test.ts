import { describe, expect, test } from 'vitest'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { dexieUnderTest } from './dexie-under-test.ts'

storageContract('dexieStorage in Chromium', () => dexieUnderTest(), { describe, test, expect })
