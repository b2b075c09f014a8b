import type { Change, ChatStorage, Guard } from '../chat/ports.ts'
import { TidemarkError } from '../lib/errors.ts'
import { outcomeOf, type StorageCase } from './storage-case.ts'
import {
  everything,
  sampleAnswer,
  sampleOutbox,
  samplePiece,
  sampleRecord,
  sampleSession,
  sampleUser,
} from './storage-samples.ts'

const all = (storage: ChatStorage) => everything(storage, ['s1', 's2'], ['summary', 'call'])

/** A session with a message of revision 3, an answer in flight, a claimed row and a record. */
const furnish = (storage: ChatStorage) =>
  storage.commit([
    { type: 'session', row: sampleSession('s1', { epoch: 2 }) },
    { type: 'message', row: sampleUser('m1', 's1', 1, { rev: 3 }) },
    { type: 'message', row: sampleAnswer('m2', 's1', 2) },
    { type: 'journal', entry: samplePiece('m2', 's1', 0, 'Tides') },
    { type: 'outbox', row: sampleOutbox('o1', 's1', 1, { claim: 'tab-a' }) },
    { type: 'outbox', row: sampleOutbox('o2', 's1', 2) },
    { type: 'record', record: sampleRecord('summary', 'k1', 's1', { text: 'old', rev: 1 }) },
  ])

/** Twenty changes that leave nothing of what was furnished as it was. */
const twenty: readonly Change[] = [
  { type: 'session', row: sampleSession('s1', { epoch: 9 }) },
  { type: 'session', row: sampleSession('s2') },
  { type: 'message', row: sampleUser('m1', 's1', 1, { rev: 4 }) },
  { type: 'deleteMessage', id: 'm2' },
  { type: 'journal', entry: samplePiece('m2', 's1', 5, ' rise') },
  { type: 'outbox', row: sampleOutbox('o1', 's1', 1, { attempts: 1 }) },
  { type: 'deleteOutbox', id: 'o2' },
  { type: 'record', record: sampleRecord('summary', 'k1', 's1', { text: 'new' }) },
  { type: 'deleteRecord', kind: 'summary', key: 'k1' },
  { type: 'record', record: sampleRecord('call', 'k2', 's2', 1) },
  ...Array.from({ length: 10 }, (_, i): Change => ({ type: 'message', row: sampleUser(`n${i}`, 's2', i) })),
]

const guards: readonly (readonly [name: string, holds: Guard, fails: Guard])[] = [
  ['rev', { type: 'rev', messageId: 'm1', rev: 3 }, { type: 'rev', messageId: 'm1', rev: 2 }],
  ['rev of none', { type: 'rev', messageId: 'm2', rev: null }, { type: 'rev', messageId: 'm1', rev: null }],
  [
    'rev of the absent',
    { type: 'rev', messageId: 'm9', rev: null },
    { type: 'rev', messageId: 'm9', rev: 1 },
  ],
  [
    'claim',
    { type: 'claim', outboxId: 'o1', claim: 'tab-a' },
    { type: 'claim', outboxId: 'o1', claim: 'tab-b' },
  ],
  [
    'rev of a record',
    { type: 'record', kind: 'summary', key: 'k1', rev: 1 },
    { type: 'record', kind: 'summary', key: 'k1', rev: 2 },
  ],
  [
    'no record',
    { type: 'record', kind: 'call', key: 'k9', rev: null },
    { type: 'record', kind: 'summary', key: 'k1', rev: null },
  ],
  [
    'claim of nobody',
    { type: 'claim', outboxId: 'o2', claim: null },
    { type: 'claim', outboxId: 'o1', claim: null },
  ],
  [
    'claim of the absent',
    { type: 'claim', outboxId: 'o2', claim: null },
    { type: 'claim', outboxId: 'o9', claim: null },
  ],
  [
    'absent outbox row',
    { type: 'absent', table: 'outbox', id: 'o9' },
    { type: 'absent', table: 'outbox', id: 'o1' },
  ],
  [
    'absent message',
    { type: 'absent', table: 'messages', id: 'm9' },
    { type: 'absent', table: 'messages', id: 'm1' },
  ],
  [
    'absent session',
    { type: 'absent', table: 'sessions', id: 's9' },
    { type: 'absent', table: 'sessions', id: 's1' },
  ],
  ['epoch', { type: 'epoch', sessionId: 's1', epoch: 2 }, { type: 'epoch', sessionId: 's1', epoch: 1 }],
  [
    'epoch of the absent',
    { type: 'epoch', sessionId: 's1', epoch: 2 },
    { type: 'epoch', sessionId: 's9', epoch: 0 },
  ],
]

const guardCases = guards.flatMap(([name, holds, fails]): StorageCase[] => [
  {
    name: `a guard that holds lets the batch pass: ${name}`,
    async run({ storage }, expect) {
      await furnish(storage)
      expect(await outcomeOf(storage.commit(twenty, { guards: [holds] }))).toEqual('done')
      expect((await storage.records('call')).length).toEqual(1)
    },
  },
  {
    name: `a guard that fails is a conflict that writes nothing: ${name}`,
    async run({ storage }, expect) {
      await furnish(storage)
      const before = await all(storage)
      const thrown = await storage
        .commit(twenty, { guards: [holds, fails, holds] })
        .catch((error: unknown) => error)
      const { code, message } =
        thrown instanceof TidemarkError ? thrown : { code: String(thrown), message: '' }
      expect({ code, named: message.includes(`"${fails.type}"`) }).toEqual({ code: 'conflict', named: true })
      expect(await all(storage)).toEqual(before)
    },
  },
])

export const commitCases: readonly StorageCase[] = [
  {
    name: 'a batch of all kinds of changes is applied in its order',
    async run({ storage }, expect) {
      await furnish(storage)
      await storage.commit(twenty, { durability: 'strict' })
      const { start, windows, records } = await all(storage)
      expect(start.sessions.map(({ session, epoch }) => [session.id, epoch])).toEqual([
        ['s2', 0],
        ['s1', 9],
      ])
      expect(start.outbox.map(({ id, attempts }) => [id, attempts])).toEqual([['o1', 1]])
      expect(windows.map(({ rows }) => rows.length)).toEqual([1, 10])
      expect(records).toEqual([[], [sampleRecord('call', 'k2', 's2', 1)]])
    },
  },
  ...guardCases,
  {
    name: 'guards alone write nothing and answer all the same',
    async run({ storage }, expect) {
      expect(await outcomeOf(storage.commit([]))).toEqual('done')
      const absent: Guard = { type: 'absent', table: 'messages', id: 'm1' }
      expect(await outcomeOf(storage.commit([], { guards: [absent] }))).toEqual('done')
      await furnish(storage)
      expect(await outcomeOf(storage.commit([], { guards: [absent] }))).toEqual('conflict')
    },
  },
  {
    name: 'a value that cannot be stored, in the middle of a batch, leaves nothing of it behind',
    async run({ storage }, expect) {
      await furnish(storage)
      const before = await all(storage)
      const odd: Change = { type: 'record', record: sampleRecord('call', 'odd', null, () => 1) }
      expect(await outcomeOf(storage.commit([...twenty.slice(0, 10), odd, ...twenty.slice(10)]))).toEqual(
        'storage',
      )
      expect(await all(storage)).toEqual(before)
    },
  },
  {
    name: 'the later change of a batch stands: put after delete, delete after put',
    async run({ storage }, expect) {
      await storage.commit([
        { type: 'deleteMessage', id: 'm1' },
        { type: 'message', row: sampleUser('m1', 's1', 1) },
        { type: 'message', row: sampleUser('m2', 's1', 2) },
        { type: 'deleteMessage', id: 'm2' },
        { type: 'message', row: sampleUser('m3', 's1', 3) },
        { type: 'deleteSession', id: 's1' },
        { type: 'session', row: sampleSession('s1') },
        { type: 'message', row: sampleUser('m4', 's1', 4) },
      ])
      const { session, rows } = await storage.window('s1', { limit: 10 })
      expect({ session, rows }).toEqual({ session: sampleSession('s1'), rows: [sampleUser('m4', 's1', 4)] })
    },
  },
  {
    name: 'a deleted session takes all that is its own with it, but for its outbox',
    async run({ storage }, expect) {
      await furnish(storage)
      const record = sampleRecord('summary', 'of nobody', null, 1)
      await storage.commit([
        { type: 'session', row: sampleSession('s2') },
        { type: 'message', row: sampleUser('n1', 's2', 1) },
        { type: 'record', record },
      ])
      await storage.commit([{ type: 'deleteSession', id: 's1' }])
      const { start, windows, records } = await all(storage)
      expect(start.sessions).toEqual([sampleSession('s2')])
      expect(start.outbox.map(({ id }) => id)).toEqual(['o1', 'o2'])
      expect(windows[0]?.rows).toEqual([])
      expect(windows[1]?.rows).toEqual([sampleUser('n1', 's2', 1)])
      expect(records[0]).toEqual([record])
      // Nor does its journal come back with a message of the same name.
      await storage.commit([{ type: 'message', row: sampleAnswer('m2', 's1', 2) }])
      expect(await storage.messages(['m2'])).toEqual([sampleAnswer('m2', 's1', 2)])
    },
  },
  {
    name: 'deleting what is not there is done at once',
    async run({ storage }, expect) {
      const changes: Change[] = [
        { type: 'deleteSession', id: 'x' },
        { type: 'deleteMessage', id: 'x' },
        { type: 'deleteOutbox', id: 'x' },
        { type: 'deleteRecord', kind: 'x', key: 'x' },
      ]
      expect(await outcomeOf(storage.commit(changes))).toEqual('done')
    },
  },
  {
    name: 'a batch of a thousand messages is one batch',
    async run({ storage }, expect) {
      const rows = Array.from({ length: 1_000 }, (_, i) => sampleUser(`m${i}`, 's1', i))
      const changes = rows.map((row): Change => ({ type: 'message', row }))
      await storage.commit([...changes, { type: 'journal', entry: samplePiece('m5', 's1', 0, 'x') }])
      const { rows: read, hasOlder } = await storage.window('s1', { limit: 1_000 })
      expect({ read, hasOlder }).toEqual({ read: rows, hasOlder: false })
      await storage.commit([{ type: 'deleteSession', id: 's1' }])
      expect((await storage.window('s1', { limit: 1 })).rows).toEqual([])
    },
  },
]
