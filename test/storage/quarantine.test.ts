import 'fake-indexeddb/auto'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ROWS } from '../../src/chat/rows.ts'
import {
  sampleAnswer,
  sampleOutbox,
  samplePiece,
  sampleRecord,
  sampleSession,
  sampleUser,
} from '../../src/testing/storage-samples.ts'
import { dexieUnderTest, dump, putRaw } from './dexie-under-test.ts'

const bad = (id: string, position: number) => ({ message: { id, sessionId: 's1', role: 'poet' }, position })

afterEach(() => {
  vi.restoreAllMocks()
})

describe('a row that cannot be read', () => {
  test('is left out, the rest of the session opens, and the row stays where it is beside its copy', async () => {
    const { storage, raw, destroy } = await dexieUnderTest()
    await storage.commit([1, 3].map((n) => ({ type: 'message', row: sampleUser(`m${n}`, 's1', n) })))
    const db = await raw()
    await putRaw(db, 'messages', bad('m2', 2))
    const { rows, hasOlder } = await storage.window('s1', { limit: 5 })
    expect(rows.map((row) => row.message.id)).toEqual(['m1', 'm3'])
    expect(hasOlder).toBe(false)
    expect(await storage.messages(['m2', 'm3'])).toHaveLength(1)
    expect(await storage.records('quarantine')).toEqual([
      {
        kind: 'quarantine',
        key: '["messages","m2"]',
        sessionId: 's1',
        value: { table: 'messages', row: bad('m2', 2), path: 'message.role' },
      },
    ])
    expect((await dump(db)).messages).toContainEqual(bad('m2', 2))
    await destroy()
  })

  test('does not cost its page a place: what is below comes instead', async () => {
    const { storage, raw, destroy } = await dexieUnderTest()
    await storage.commit([0, 1, 2].map((n) => ({ type: 'message', row: sampleUser(`m${n}`, 's1', n) })))
    await putRaw(await raw(), 'messages', ...Array.from({ length: 7 }, (_, i) => bad(`bad${i}`, 3 + i)))
    const { rows, hasOlder } = await storage.window('s1', { limit: 2 })
    expect(rows.map((row) => row.message.id)).toEqual(['m1', 'm2'])
    expect(hasOlder).toBe(true)
    expect(await storage.records('quarantine')).toHaveLength(7)
    await destroy()
  })

  test('of any table is copied once, under its own name', async () => {
    const { storage, raw, destroy } = await dexieUnderTest()
    await storage.commit([{ type: 'message', row: sampleAnswer('a', 's1', 1) }])
    const db = await raw()
    await putRaw(db, 'sessions', { session: { id: 's1', updatedAt: 1 } })
    await putRaw(db, 'outbox', { ...sampleOutbox('o', 's1', 1), request: { type: 'sing' } })
    await putRaw(db, 'journal', samplePiece('a', 's1', 0, 'Ti'), {
      ...samplePiece('a', 's1', 2, ''),
      text: 7,
    })
    await putRaw(db, 'records', { kind: 'k', key: 'r', sessionId: 7, value: 1 })
    const puts = vi.spyOn(IDBObjectStore.prototype, 'put')
    for (let i = 0; i < 2; i++) {
      expect((await storage.start({ sessions: 5 })).sessions).toEqual([])
      const { session, rows, outbox } = await storage.window('s1', { limit: 5 })
      expect({ session, outbox }).toEqual({ session: undefined, outbox: [] })
      expect(rows[0]?.message.content).toEqual([{ type: 'text', text: 'Ti' }])
      expect(await storage.records('k')).toEqual([])
    }
    const copies = await storage.records('quarantine')
    expect(copies.map(({ key, sessionId }) => [key, sessionId])).toEqual([
      ['["journal","a",0,2]', 's1'],
      ['["outbox","o"]', 's1'],
      ['["records","k","r"]', null],
      ['["sessions","s1"]', 's1'],
    ])
    expect(puts).toHaveBeenCalledTimes(4)
    await destroy()
  })

  test('does not keep the others from being read where its copy cannot be written', async () => {
    const { storage, raw, destroy } = await dexieUnderTest()
    await storage.commit([{ type: 'message', row: sampleUser('m1', 's1', 1) }])
    await putRaw(await raw(), 'messages', bad('m2', 2))
    vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementationOnce(() => {
      throw new DOMException('Full', 'QuotaExceededError')
    })
    expect((await storage.window('s1', { limit: 5 })).rows).toHaveLength(1)
    expect(await storage.records('quarantine')).toEqual([])
    expect((await storage.window('s1', { limit: 5 })).rows).toHaveLength(1)
    expect(await storage.records('quarantine')).toHaveLength(1)
    await destroy()
  })
})

describe('the schemas of rows', () => {
  test('read what the port may write, also with fields that are there but undefined', () => {
    const rows = {
      sessions: [sampleSession('s1')],
      messages: [sampleUser('m', 's1', 1), sampleAnswer('m', 's1', -1.5, { model: undefined })],
      journal: [samplePiece('m', 's1', 0, ''), { ...samplePiece('m', 's1', 0, ''), block: undefined }],
      outbox: [
        { ...sampleOutbox('o', 's1', 1), error: undefined },
        sampleOutbox('o', 's1', 1, { error: { code: 'conflict', message: 'No' } }),
        ...[
          { type: 'createSession' as const, body: { id: 's1' } },
          { type: 'patchSession' as const, body: { title: 'Tides' } },
          { type: 'deleteSession' as const },
          { type: 'command' as const, body: { id: 'c', type: 'cancel' as const, runId: 'r' } },
        ].map((request) => sampleOutbox('o', 's1', 1, { request })),
      ],
      records: [sampleRecord('k', '', null, undefined), sampleRecord('k', '', 's1', { a: [null] })],
    }
    for (const [table, schema] of Object.entries(ROWS))
      for (const row of Reflect.get(rows, table)) {
        const { success, data } = schema.safeParse(row)
        expect({ table, success, data }).toEqual({ table, success: true, data: row })
      }
  })
})
