import 'fake-indexeddb/auto'
import { expect, test } from 'vitest'
import type { ChatStorage } from '../../src/chat/ports.ts'
import { VERSIONS } from '../../src/storage/schema.ts'
import { sampleUser } from '../../src/testing/storage-samples.ts'
import { noStrayRejections } from '../chat/world.ts'
import { dexieUnderTest, dump, putRaw } from '../storage/dexie-under-test.ts'
import { PLANTED_STORAGE } from './planted.ts'
import { askedByThree } from './two-tabs.ts'

noStrayRejections()

type Wrap = (storage: ChatStorage) => ChatStorage

/** What code of today does to the rows of a later release. */
async function byOlderCode(wrap: Wrap): Promise<string> {
  const later = [...VERSIONS, { version: VERSIONS.length + 1, tables: { notes: 'id' } }]
  const { storage, reopen, raw, destroy } = await dexieUnderTest({}, later)
  await storage.commit([{ type: 'message', row: sampleUser('a', 's1', 1) }])
  const db = await raw()
  const before = await dump(db)
  const old = wrap(await reopen({}, VERSIONS))
  await old.commit([{ type: 'message', row: sampleUser('b', 's1', 2) }]).catch(() => undefined)
  const after = await dump(db)
  await destroy()
  return JSON.stringify(after) === JSON.stringify(before) ? '' : 'older code has written'
}

/** What opens of a session with an unreadable row. */
async function besideUnreadable(wrap: Wrap): Promise<string> {
  const { storage, raw, destroy } = await dexieUnderTest()
  await storage.commit([1, 3].map((n) => ({ type: 'message', row: sampleUser(`m${n}`, 's1', n) })))
  await putRaw(await raw(), 'messages', { message: { id: 'm2', sessionId: 's1', role: 'poet' }, position: 2 })
  const window = await wrap(storage)
    .window('s1', { limit: 5 })
    .catch(() => undefined)
  await destroy()
  if (window?.rows.map(({ message }) => message.id).join() !== 'm1,m3') return 'the rest does not open'
  return window.unreadable?.length === 1 ? '' : 'nobody is told of it'
}

async function byThreeTabs(wrap: Wrap): Promise<string> {
  const { asked } = await askedByThree({ storage: wrap })
  return asked.length === 6 ? '' : `6 messages were asked for ${asked.length} times`
}

/** What each fault is found by. */
const FOUND_BY: Readonly<Record<string, (wrap: Wrap) => Promise<string>>> = {
  'code older than the stored schema writes': byOlderCode,
  'a row that cannot be read keeps its session shut': besideUnreadable,
  'a row that cannot be read is not told of': besideUnreadable,
  'a claim of another tab is ignored': byThreeTabs,
}

test.each(Object.entries(PLANTED_STORAGE))('it is found out that %s', async (name, plant) => {
  const find = FOUND_BY[name]
  expect(await find?.((storage) => storage)).toBe('')
  expect(await find?.(plant)).toMatch(/./)
})
