import { describe, expect, onTestFinished, test } from 'vitest'
import { dexieUnderTest } from '../storage/dexie-under-test.ts'
import { expectBurst, expectHuge, expectLong, fill } from './large.ts'

async function database() {
  const under = await dexieUnderTest({ timeout: 60_000 })
  onTestFinished(under.destroy)
  return under
}

describe('24: in Chromium, over its IndexedDB', () => {
  test('10,000 deltas in one burst are a handful of renders, and stored as they were said', async () => {
    const { storage, reopen } = await database()
    await expectBurst(storage, 10_000)
    const { rows } = await (await reopen()).window('s', { limit: 9 })
    expect(rows.map(({ message }) => message.status)).toEqual(['completed', 'completed'])
  })

  test('a message of ten megabytes is sent, answered, stored and read again', async () => {
    const { storage, reopen } = await database()
    await expectHuge(storage, reopen)
  })

  test('a history of 100,000 messages is opened by its newest fifty, read on, and deleted whole', async () => {
    const { storage, reopen } = await database()
    await fill(storage, 100_000)
    await expectLong(storage, 100_000)
    const { rows, session } = await (await reopen()).window('s', { limit: 9 })
    expect([rows, session?.deleted]).toEqual([[], true])
  }, 180_000)
})
