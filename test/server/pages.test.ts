import { expect, test } from 'vitest'
import type { MessagePage } from '../../src/protocol/events.ts'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { createHold, scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  createSession,
  eventsOf,
  eventually,
  failureIn,
  feedUntil,
  pageOf,
  type Stage,
  sendBody,
  stage,
} from './stage.ts'

const seqs = ({ messages }: MessagePage) => messages.map(({ seq }) => seq)

/** A session of `turns` questions with their answers. */
async function history(ask: Stage['ask'], turns: number): Promise<MessagePage> {
  await createSession(ask)
  let parent: string | null = null
  for (let turn = 1; turn <= turns; turn++) {
    await ask('POST', '/sessions/s1/messages', sendBody(`m${turn}`, parent))
    await feedUntil(ask, `run-m${turn}`)
    parent = (await pageOf(ask)).session?.headId ?? null
  }
  return pageOf(ask)
}

const idAt = ({ messages }: MessagePage, seq: number) => messages.find((row) => row.seq === seq)?.id ?? ''

test('without a cursor a page is the newest messages', async () => {
  const { ask } = stage()
  const all = await history(ask, 4)
  expect(seqs(all)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  expect(all).toMatchObject({ hasMore: false, limited: false, deleted: [] })
  const page = await pageOf(ask, '?limit=3')
  expect(seqs(page)).toEqual([6, 7, 8])
  expect(page.hasMore).toBe(true)
})

test('the message cursor goes forward in order of seq', async () => {
  const { ask } = stage()
  const all = await history(ask, 4)
  const first = await pageOf(ask, `?after=${idAt(all, 2)}&limit=4`)
  expect([seqs(first), first.hasMore, first.limited]).toEqual([[3, 4, 5, 6], true, false])
  const second = await pageOf(ask, `?after=${idAt(first, 6)}&limit=4`)
  expect([seqs(second), second.hasMore]).toEqual([[7, 8], false])
  expect(seqs(await pageOf(ask, `?after=${idAt(all, 8)}`))).toEqual([])
})

test('older pages go backward, each in order of seq', async () => {
  const { ask } = stage()
  const all = await history(ask, 4)
  const first = await pageOf(ask, `?before=${idAt(all, 6)}&limit=3`)
  expect([seqs(first), first.hasMore]).toEqual([[3, 4, 5], true])
  const second = await pageOf(ask, `?before=${idAt(all, 3)}&limit=3`)
  expect([seqs(second), second.hasMore]).toEqual([[1, 2], false])
})

test('the change cursor brings what changed, in order of rev, page by page to the same end', async () => {
  const { ask } = stage()
  const all = await history(ask, 4)
  const found: MessagePage['messages'] = []
  let rev = 0
  for (let more = true; more; ) {
    const page = await pageOf(ask, `?changedSince=${rev}&limit=3`)
    const revs = page.messages.map((row) => row.rev ?? 0)
    expect(revs).toEqual([...revs].sort((a, b) => a - b))
    if (page.hasMore) expect(page.rev).toBe(revs.at(-1))
    found.push(...page.messages)
    rev = page.rev ?? 0
    more = page.hasMore === true
  }
  expect(rev).toBe(all.rev)
  expect(found.sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0))).toEqual(all.messages)
  expect(await pageOf(ask, `?changedSince=${rev}`)).toMatchObject({ messages: [], hasMore: false, rev })
})

test.each(['after=unknown', 'before=unknown', 'changedSince=100000'])(
  'a cursor that cannot be proven (%s) is answered with the newest messages, and says so',
  async (cursor) => {
    const { ask } = stage()
    await history(ask, 2)
    const page = await pageOf(ask, `?${cursor}&limit=3`)
    expect([seqs(page), page.hasMore, page.limited]).toEqual([[2, 3, 4], true, true])
  },
)

test('a message of another session is no cursor', async () => {
  const { ask } = stage()
  const all = await history(ask, 1)
  await createSession(ask, 's2')
  await ask('POST', '/sessions/s2/messages', sendBody('other'))
  await feedUntil(ask, 'run-other', undefined, 's2')
  expect(await pageOf(ask, `?after=${idAt(all, 1)}`, 's2')).toMatchObject({ limited: true })
})

test('an unsettled message is in every page that has passed it, whole as far as it has come', async () => {
  const { hold, release } = createHold()
  const { ask } = stage({ model: scriptedModel([['so ', 'far', { hold }, '.'], 'two', 'three']) })
  await createSession(ask)
  const stream = await ask('POST', '/sessions/s1/messages', sendBody('m1'), { accept: 'text/event-stream' })
  const live = eventsOf(stream)
  // Two more wait behind it, so that it is not the newest.
  await ask('POST', '/sessions/s1/messages', sendBody('m2', 'm1'))
  await ask('POST', '/sessions/s1/messages', sendBody('m3', 'm2'))
  await eventually(async () => JSON.stringify((await pageOf(ask)).messages)).toContain('so far')
  const all = await pageOf(ask)
  const partial = all.messages.find(({ status }) => status === 'streaming')
  expect(partial).toMatchObject({ content: [{ type: 'text', text: 'so far' }] })
  const last = all.messages.at(-1)?.id
  const queries = [
    '?limit=1',
    `?after=${last}`,
    `?before=m1`,
    `?changedSince=${all.rev}`,
    '?after=nobody&limit=1',
  ]
  for (const query of queries) expect((await pageOf(ask, query)).messages, query).toContainEqual(partial)
  // Windows have no holes.
  expect(seqs(await pageOf(ask, '?limit=1'))).toEqual(
    seqs(all).filter((seq) => (seq ?? 0) >= (partial?.seq ?? 0)),
  )
  release()
  await live
  await feedUntil(ask, 'run-m3')
})

test('deleted messages come as tombstones of the range that a page covers', async () => {
  const store = sqliteStore(':memory:')
  const { ask } = stage({ store })
  const all = await history(ask, 3)
  const scope = { account: 'default', sessionId: 's1' }
  const gone = idAt(all, 3)
  const rev = await store.transact(scope, {}, ({ session }) => {
    if (!session) throw new Error('no session')
    const row = { ...session, rev: session.rev + 1 }
    return {
      changes: [
        { type: 'deleteMessage', id: gone, rev: row.rev },
        { type: 'session', row, recent: false },
      ],
      answer: row.rev,
    }
  })
  expect(await pageOf(ask, `?changedSince=${all.rev}`)).toMatchObject({
    deleted: [{ id: gone, rev }],
    messages: [],
    rev,
  })
  expect((await pageOf(ask, '?changedSince=0&limit=2')).deleted).toEqual([])
  expect(seqs(await pageOf(ask))).toEqual([1, 2, 4, 5, 6])
  // It is gone, but what came after it is known.
  expect(seqs(await pageOf(ask, `?after=${gone}`))).toEqual([4, 5, 6])
  const reuse = await ask('POST', '/sessions/s1/messages', {
    ...sendBody(gone),
    content: [{ type: 'text', text: 'x' }],
  })
  expect(await failureIn(reuse)).toMatchObject({ status: 409 })
})

test.each([
  ['limit=0', 'limit: expected to match'],
  ['limit=x', 'limit: expected to match'],
  ['changedSince=-1', 'changedSince: expected to match'],
  ['changedSince=1.5', 'changedSince: expected to match'],
  ['after=a%2Fb', 'after: expected 1 to 64 letters, digits, hyphens or underscores'],
  ['after=a&before=b', 'after, before, changedSince: expected one of them'],
])('a page cannot be asked for by %s', async (query, message) => {
  const { ask } = stage()
  await createSession(ask)
  const failure = await failureIn(await ask('GET', `/sessions/s1/messages?${query}`))
  expect(failure).toMatchObject({ status: 400, code: 'invalid-request' })
  expect(failure.message).toContain(message)
})

test('a page has no more rows than the server allows, whatever is asked for', async () => {
  const { ask } = stage({ limits: { page: 2 } })
  await history(ask, 2)
  expect(seqs(await pageOf(ask, '?limit=5000'))).toEqual([3, 4])
})

test('an empty session has no event before the one that created it', async () => {
  const { ask } = stage()
  await createSession(ask)
  const page = await pageOf(ask)
  expect(page).toMatchObject({ messages: [], hasMore: false, limited: false, rev: 1 })
  expect(page.eventId).toMatch(/^1\./)
})
