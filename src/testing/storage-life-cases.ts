import type { Change, ChatStorage } from '../chat/ports.ts'
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

const message = (id: string, sessionId: string, position: number, rev = 0): Change => ({
  type: 'message',
  row: sampleUser(id, sessionId, position, { rev }),
})

/** Changes everything inside a value that can be changed. */
function scramble(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  for (const key of Object.keys(value)) {
    scramble(Reflect.get(value, key))
    Reflect.set(value, key, 'scrambled')
  }
}

const HOSTILE = ['__proto__', 'constructor', 'toString', 'x', '-', '_'.repeat(64), 'A9-_'.repeat(16)]

const isolationCases: readonly StorageCase[] = [
  {
    name: 'what was handed in can be changed afterwards without changing what is stored',
    async run({ storage }, expect) {
      const changes: Change[] = [
        { type: 'session', row: sampleSession('s1') },
        { type: 'message', row: sampleAnswer('a', 's1', 1, { metadata: { deep: { er: 1 } } }) },
        { type: 'journal', entry: samplePiece('a', 's1', 0, 'Tide') },
        { type: 'outbox', row: sampleOutbox('o', 's1', 1) },
        { type: 'record', record: sampleRecord('k', 'r', 's1', { list: [1] }) },
      ]
      const copy = structuredClone(changes)
      await storage.commit(changes)
      scramble(changes)
      const stored = await everything(storage, ['s1'], ['k'])
      await storage.commit(copy)
      expect(await everything(storage, ['s1'], ['k'])).toEqual(stored)
    },
  },
  {
    name: 'what was read can be changed without changing what is stored',
    async run({ storage }, expect) {
      await storage.commit([
        { type: 'session', row: sampleSession('s1') },
        message('m', 's1', 1),
        { type: 'outbox', row: sampleOutbox('o', 's1', 1) },
        { type: 'record', record: sampleRecord('k', 'r', 's1', { list: [1] }) },
      ])
      const first = await everything(storage, ['s1'], ['k'])
      const copy = structuredClone(first)
      scramble(first)
      scramble(await storage.messages(['m']))
      scramble(await storage.sessions({ limit: 1 }))
      expect(await everything(storage, ['s1'], ['k'])).toEqual(copy)
    },
  },
]

const valueCases: readonly StorageCase[] = [
  {
    name: 'ids at their limits, and named like parts of a prototype, are ids like others',
    async run({ storage }, expect) {
      await storage.commit(HOSTILE.map((id) => ({ type: 'session', row: sampleSession(id) })))
      await storage.commit(HOSTILE.map((id, i) => message(`${id}x`.slice(-64), id, i)))
      await storage.commit(HOSTILE.map((id) => ({ type: 'outbox', row: sampleOutbox(id, id, 1) })))
      await storage.commit(HOSTILE.map((id) => ({ type: 'record', record: sampleRecord(id, id, id, id) })))
      for (const [i, id] of HOSTILE.entries()) {
        const { session, rows, outbox } = await storage.window(id, { limit: 5 })
        expect(session).toEqual(sampleSession(id))
        expect(rows.map((row) => row.position)).toEqual([i])
        expect(outbox.map((row) => row.id)).toEqual([id])
        expect(await storage.records(id, { sessionId: id })).toEqual([sampleRecord(id, id, id, id)])
      }
    },
  },
  {
    name: 'a key named __proto__ changes no prototype',
    async run({ storage }, expect) {
      const odd = () =>
        JSON.parse('{ "__proto__": { "polluted": 1 }, "kept": { "__proto__": { "polluted": 1 } } }')
      await storage.commit([
        { type: 'message', row: sampleUser('m', 's1', 1, { metadata: odd() }) },
        { type: 'record', record: sampleRecord('k', 'r', null, odd()) },
      ])
      const [row] = await storage.messages(['m'])
      const [record] = await storage.records('k')
      for (const value of [{}, row?.message.metadata, row?.message.metadata?.kept, record?.value]) {
        const polluted = Reflect.get(Object(value), 'polluted')
        expect({ polluted, plain: Object.getPrototypeOf(value) === Object.prototype }).toEqual({
          plain: true,
        })
      }
      expect(Object.keys(row?.message.metadata ?? {}).includes('kept')).toEqual(true)
    },
  },
  {
    name: 'NUL, lone surrogates and a megabyte of text come back as they were',
    async run({ storage }, expect) {
      const texts = [
        '\u0000',
        'a\u0000b',
        '\ud800',
        '\udc00\ud800',
        '\ufeff\ufffe\uffff',
        '',
        'tide 🌊 '.repeat(120_000),
      ]
      await storage.commit(
        texts.map((value, i) => ({
          type: 'message',
          row: sampleUser(`m${i}`, 's1', i, {
            content: [{ type: 'text', text: value }],
            name: value.slice(0, 9),
          }),
        })),
      )
      await storage.commit(
        texts.map((value) => ({ type: 'record', record: sampleRecord('k', value.slice(0, 9), null, value) })),
      )
      const { rows } = await storage.window('s1', { limit: 50 })
      const read = rows.map(({ message: { content } }) =>
        content[0]?.type === 'text' ? content[0].text : undefined,
      )
      expect(read.map((value, i) => value === texts[i])).toEqual(texts.map(() => true))
      const values = (await storage.records('k')).map(({ value }) => value)
      expect(texts.filter((value) => !values.includes(value))).toEqual([])
    },
  },
]

/** Raises a counter in a message's `rev`, as often as it takes. */
async function raise(storage: ChatStorage, times: number): Promise<number> {
  let lost = 0
  for (let done = 0; done < times; ) {
    const [row] = await storage.messages(['m'])
    const rev = row?.message.rev ?? 0
    const outcome = await outcomeOf(
      storage.commit([message('m', 's1', 1, rev + 1)], { guards: [{ type: 'rev', messageId: 'm', rev }] }),
    )
    if (outcome === 'done') done++
    else if (outcome === 'conflict') lost++
    else throw new Error(`Expected done or conflict, found ${outcome}`)
  }
  return lost
}

const sharedCases: readonly StorageCase[] = [
  {
    name: 'a second handle sees what the first has committed, and the first what the second has',
    async run({ storage, reopen }, expect) {
      const second = await reopen()
      await storage.commit([message('a', 's1', 1)])
      expect((await second.messages(['a'])).length).toEqual(1)
      await second.commit([message('b', 's1', 2)])
      expect((await storage.window('s1', { limit: 5 })).rows.length).toEqual(2)
    },
  },
  {
    name: 'of concurrent commits under the same guard exactly one is done',
    async run({ storage, reopen }, expect) {
      const handles = [storage, await reopen()]
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          outcomeOf(
            (handles[i % 2] ?? storage).commit([message('m', 's1', 1), message(`by${i}`, 's1', 2 + i)], {
              guards: [{ type: 'absent', table: 'messages', id: 'm' }],
            }),
          ),
        ),
      )
      expect(outcomes.sort()).toEqual([...Array.from({ length: 9 }, () => 'conflict'), 'done'])
      expect((await storage.window('s1', { limit: 20 })).rows.length).toEqual(2)
    },
  },
  {
    name: 'a counter raised from two handles by compare-and-set loses no step',
    async run({ storage, reopen }, expect) {
      await storage.commit([message('m', 's1', 1)])
      await Promise.all([raise(storage, 15), raise(await reopen(), 15)])
      expect((await storage.messages(['m']))[0]?.message.rev).toEqual(30)
    },
  },
  {
    name: 'all that was committed is there after the last handle was closed',
    durable: true,
    async run({ storage, reopen }, expect) {
      await storage.commit([
        { type: 'session', row: sampleSession('s1') },
        { type: 'message', row: sampleAnswer('a', 's1', 1) },
        { type: 'journal', entry: samplePiece('a', 's1', 0, 'Tide') },
        { type: 'outbox', row: sampleOutbox('o', 's1', 1) },
        { type: 'record', record: sampleRecord('k', 'r', 's1', 1) },
      ])
      const before = await everything(storage, ['s1'], ['k'])
      await storage.close()
      expect(await everything(await reopen(), ['s1'], ['k'])).toEqual(before)
    },
  },
  {
    name: 'after close every call fails with storage, and closing again is nothing',
    async run({ storage }, expect) {
      await storage.commit([message('a', 's1', 1)])
      await storage.close()
      await storage.close()
      const calls = [
        storage.start({ sessions: 1 }),
        storage.sessions({ limit: 1 }),
        storage.window('s1', { limit: 1 }),
        storage.messages(['a']),
        storage.records('k'),
        storage.commit([message('b', 's1', 2)]),
      ]
      expect(await Promise.all(calls.map(outcomeOf))).toEqual(calls.map(() => 'storage'))
    },
  },
]

export const lifeCases: readonly StorageCase[] = [...isolationCases, ...valueCases, ...sharedCases]
