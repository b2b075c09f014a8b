import { describe, expect, onTestFinished, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { storageOver } from '../../src/storage/dexie.ts'
import { type SchemaVersion, VERSIONS } from '../../src/storage/schema.ts'
import { databaseName, dexieUnderTest, settled } from '../storage/dexie-under-test.ts'
import { seen } from '../support/seen.ts'
import { writeFirstRelease } from './first-release.ts'
import { largeChat } from './large.ts'

const LATER: readonly SchemaVersion[] = [
  ...VERSIONS,
  { version: VERSIONS.length + 1, tables: { notes: 'id' } },
]

describe('21: in Chromium', () => {
  test('an upgrade killed half-way is as if it had not begun, and the next visit makes it', async () => {
    const name = databaseName()
    await writeFirstRelease(name)
    const worker = new Worker(new URL('./upgrade.worker.ts', import.meta.url), { type: 'module' })
    await new Promise((resolve) => {
      worker.onmessage = resolve
      worker.postMessage(name)
    })
    worker.terminate()
    const storage = storageOver(name, LATER)
    onTestFinished(async () => {
      await storage.close()
      await settled(indexedDB.deleteDatabase(name))
    })
    const { rows, outbox, session } = await storage.window('s', { limit: 9 })
    expect(rows.map(({ message }) => textOf(message))).toEqual(['one', 'High water', 'two'])
    expect([outbox.map(({ id }) => id), session?.session.title]).toEqual([['u2'], 'Tides'])
  })

  test('an old tab works on from memory and network while a new one has the database', async () => {
    const { storage, reopen, destroy } = await dexieUnderTest()
    onTestFinished(destroy)
    const old = largeChat(storage)
    await (await old.session.send('one')).answer
    await seen(old.session, () => old.chat.health.get().outbox === 0)
    const newer = await reopen({}, LATER)
    const { rows } = await newer.window('s', { limit: 9 })
    const { saved, answer } = await old.session.send('two')
    expect(saved).toBe('memory')
    expect(textOf(await answer)).toBe('two')
    expect(old.chat.health.get()).toMatchObject({ storage: 'failed', lastError: { code: 'storage' } })
    expect((await newer.window('s', { limit: 9 })).rows.length).toBe(rows.length)
    await old.chat.close()
  })
})
