import { type Change, type ChatStorage, LOCAL_POSITION, type StoredMessage } from '../chat/ports.ts'
import type { StorageCase } from './storage-case.ts'
import { sampleOutbox, sampleRecord, sampleSession, sampleUser, seeded } from './storage-samples.ts'

const message = (row: StoredMessage): Change => ({ type: 'message', row })
const idsOf = (rows: readonly StoredMessage[]) => rows.map((row) => row.message.id)

/** All pages of a session, newest first, as scrolling up asks for them. */
async function pagesOf(storage: ChatStorage, sessionId: string, limit: number): Promise<string[][]> {
  const pages: string[][] = []
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const { rows, hasOlder } = await storage.window(sessionId, { before, limit })
    pages.push(idsOf(rows))
    const [oldest] = rows
    if (!hasOlder || !oldest) return pages
    before = oldest.position
  }
}

/** Random puts and deletes over two sessions, compared with a plain array after each batch. */
async function walk(
  storage: ChatStorage,
  seed: number,
  expect: (actual: unknown) => { toEqual(wanted: unknown): void },
) {
  const random = seeded(seed)
  const below = (n: number) => Math.floor(random() * n)
  let model: StoredMessage[] = []
  for (let batch = 0; batch < 8; batch++) {
    const changes = Array.from({ length: 1 + below(20) }, (): Change => {
      const n = below(40)
      const [id, sessionId] = [`m${n}`, n % 3 === 0 ? 's2' : 's1']
      model = model.filter((row) => row.message.id !== id)
      if (below(4) === 0) return { type: 'deleteMessage', id }
      // A place of its own in the session, among the acknowledged ones or behind them.
      const row = sampleUser(id, sessionId, n + (below(2) ? LOCAL_POSITION : 0), { rev: batch })
      model.push(row)
      return { type: 'message', row }
    })
    await storage.commit(changes)
    const [before, limit] = [below(2) ? LOCAL_POSITION + below(40) : below(40), 1 + below(12)]
    const expected = model
      .filter((row) => row.message.sessionId === 's1' && row.position < before)
      .sort((a, b) => a.position - b.position)
    const { rows, hasOlder } = await storage.window('s1', { before, limit })
    expect({ seed, batch, rows, hasOlder }).toEqual({
      seed,
      batch,
      rows: expected.slice(-limit),
      hasOlder: expected.length > limit,
    })
  }
}

const windowCases: readonly StorageCase[] = [
  {
    name: 'a session that is not known has an empty window',
    async run({ storage }, expect) {
      const { session, rows, hasOlder, outbox } = await storage.window('s1', { limit: 5 })
      expect({ session, rows, hasOlder, outbox }).toEqual({
        session: undefined,
        rows: [],
        hasOlder: false,
        outbox: [],
      })
    },
  },
  {
    name: 'a window is the newest messages in ascending order, with the session and its outbox in theirs',
    async run({ storage }, expect) {
      await storage.commit([
        ...[5, 3, 1, 4, 2].map((n) => message(sampleUser(`m${n}`, 's1', n))),
        message(sampleUser('local', 's1', LOCAL_POSITION)),
        message(sampleUser('other', 's2', 6)),
        { type: 'session', row: sampleSession('s1', { rev: 7 }) },
        ...[11, 2, 1].map((n): Change => ({ type: 'outbox', row: sampleOutbox(`o${n}`, 's1', n) })),
        { type: 'outbox', row: sampleOutbox('other', 's2', 0) },
      ])
      const { session, rows, hasOlder, outbox } = await storage.window('s1', { limit: 3 })
      expect(session).toEqual(sampleSession('s1', { rev: 7 }))
      expect(idsOf(rows)).toEqual(['m4', 'm5', 'local'])
      expect(hasOlder).toEqual(true)
      expect(outbox).toEqual([1, 2, 11].map((n) => sampleOutbox(`o${n}`, 's1', n)))
      expect(await pagesOf(storage, 's1', 3)).toEqual([
        ['m4', 'm5', 'local'],
        ['m1', 'm2', 'm3'],
      ])
      expect((await storage.window('s1', { limit: Number.MAX_SAFE_INTEGER })).rows.length).toEqual(6)
    },
  },
  {
    name: 'messages that share a position are never torn apart by a page',
    async run({ storage }, expect) {
      await storage.commit(
        ['a', 'b', 'c', 'd', 'e'].map((id, i) => message(sampleUser(id, 's1', i < 1 ? 0 : i < 4 ? 1 : 2))),
      )
      expect(await pagesOf(storage, 's1', 2)).toEqual([['b', 'c', 'd', 'e'], ['a']])
    },
  },
  {
    name: 'windows agree with a plain array through random puts and deletes',
    async run({ storage, reopen }, expect) {
      for (let seed = 1; seed <= 5; seed++) {
        await walk(storage, seed, expect)
        await (await reopen()).commit([
          { type: 'deleteSession', id: 's1' },
          { type: 'deleteSession', id: 's2' },
        ])
      }
    },
  },
]

const listCases: readonly StorageCase[] = [
  {
    name: 'sessions come by recency, then by id, page after page',
    async run({ storage }, expect) {
      const rows = [3, 1, 2, 2, 3, 1, 2].map((at, i) => sampleSession(`s${i}`, {}, at))
      await storage.commit(rows.map((row) => ({ type: 'session', row })))
      const order = ['s4', 's0', 's6', 's3', 's2', 's5', 's1']
      const read: string[] = []
      for (let after: { updatedAt: number; id: string } | undefined; ; ) {
        const page = await storage.sessions({ limit: 3, ...(after && { after }) })
        read.push(...page.map(({ session }) => session.id))
        const last = page.at(-1)
        if (!last) break
        after = { updatedAt: last.session.updatedAt, id: last.session.id }
      }
      expect(read).toEqual(order)
      const { sessions } = await storage.start({ sessions: 2 })
      expect(sessions.map(({ session }) => session.id)).toEqual(order.slice(0, 2))
      expect((await storage.start({ sessions: 0 })).sessions).toEqual([])
    },
  },
  {
    name: 'the start has every outbox row, session by session, in order',
    async run({ storage }, expect) {
      const places = [
        ['s2', 2],
        ['s1', 9],
        ['s2', 1],
        ['s1', 10],
      ] as const
      await storage.commit(places.map(([s, n]) => ({ type: 'outbox', row: sampleOutbox(`${s}-${n}`, s, n) })))
      const { outbox } = await storage.start({ sessions: 1 })
      expect(outbox.map(({ id }) => id)).toEqual(['s1-9', 's1-10', 's2-1', 's2-2'])
    },
  },
  {
    name: 'messages are found by id, in the order asked, the absent ones left out',
    async run({ storage }, expect) {
      await storage.commit([message(sampleUser('a', 's1', 1)), message(sampleUser('b', 's2', 1))])
      expect(idsOf(await storage.messages(['b', 'x', 'a']))).toEqual(['b', 'a'])
      expect(await storage.messages([])).toEqual([])
    },
  },
  {
    name: 'records are found by kind and session, ascending by key',
    async run({ storage }, expect) {
      const rows = [
        sampleRecord('a', '2', 's1', { n: 1 }),
        sampleRecord('a', '10', 's2', [1]),
        sampleRecord('a', '', null, null),
        sampleRecord('ab', '1', 's1', 'text'),
        sampleRecord('a', '1\u0000', 's1', 0),
      ]
      await storage.commit(rows.map((record) => ({ type: 'record', record })))
      const keysOf = async (kind: string, sessionId?: string) =>
        (await storage.records(kind, sessionId === undefined ? {} : { sessionId })).map(({ key }) => key)
      expect(await keysOf('a')).toEqual(['', '1\u0000', '10', '2'])
      expect(await keysOf('a', 's1')).toEqual(['1\u0000', '2'])
      expect(await keysOf('b')).toEqual([])
      await storage.commit([{ type: 'deleteRecord', kind: 'a', key: '10' }])
      expect(await keysOf('a', 's2')).toEqual([])
      expect(await storage.records('ab')).toEqual([rows[3]])
    },
  },
]

export const readCases: readonly StorageCase[] = [...windowCases, ...listCases]
