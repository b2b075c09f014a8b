import { describe, expect, test } from 'vitest'
import { watchedStorage } from '../chat/storages.ts'
import { expectBurst, expectHuge, expectLong, fill } from './large.ts'

describe('24: without a browser', () => {
  test('10,000 deltas in one burst are a handful of renders', async () => {
    const storage = watchedStorage()
    await expectBurst(storage, 10_000)
    // Nor is it a write for each: what comes at once is written at once.
    expect(storage.commits.length).toBeLessThan(30)
  })

  test('a message of ten megabytes is sent, answered, stored and read again', async () => {
    const storage = watchedStorage()
    await expectHuge(storage, async () => storage.reopen())
  })

  test('a history of 20,000 messages is opened by its newest fifty, read on, and deleted whole', async () => {
    const storage = watchedStorage()
    await fill(storage, 20_000)
    await expectLong(storage.reopen(), 20_000)
    const { rows, session } = await storage.window('s', { limit: 9 })
    expect([rows, session?.deleted]).toEqual([[], true])
  })
})
