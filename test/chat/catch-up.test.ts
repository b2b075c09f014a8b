import { describe, expect, test } from 'vitest'
import { catchUp } from '../../src/chat/catch-up.ts'
import { type Core, newCore, setFields, update } from '../../src/chat/core.ts'
import type { PageQuery, Runtime } from '../../src/chat/runtime-port.ts'
import type { MessagePage } from '../../src/protocol/events.ts'
import { messagesOf, putMessages } from '../../src/protocol/state.ts'
import { assistant, session, user } from '../protocol/rows.ts'
import { SESSION } from '../protocol/server-model.ts'
import { createWorld } from './world.ts'

type Query = Omit<PageQuery, 'limit'>

/** A session that reads scripted pages, and what it asked for. */
function reader(answer: (query: Query, at: number) => MessagePage) {
  const asked: Query[] = []
  const { env } = createWorld()
  const core: Core = newCore(SESSION, { env, schedule() {}, onChange() {}, onOutbox() {}, onFields() {} })
  const none = () => {
    throw new Error('not asked for')
  }
  const runtime: Runtime = {
    truth: 'server',
    open() {},
    dispatch: none,
    follow: none,
    sessions: none,
    close: async () => {},
    async page(_, { limit: __, ...query }) {
      if (asked.push(query) > 20) throw new Error('read for ever')
      return { page: answer(query, asked.length - 1), malformed: 0 }
    },
  }
  const read = (byMessage = false) => catchUp(core, { runtime, env, byMessage }, new AbortController().signal)
  return { core, asked, read, ids: () => [...messagesOf(core.state)].map(({ id }) => id) }
}

const rows = (...revs: number[]) => revs.map((rev) => user(`m${rev}`, { rev, seq: rev }))

describe('catching up by the change cursor', () => {
  test('reads page after page, each from the last row’s revision, and takes the first page’s event', async () => {
    const pages: MessagePage[] = [
      { messages: rows(1, 2), hasMore: true, rev: 2, eventId: '7.a', session: session() },
      { messages: rows(3, 4), hasMore: true, rev: 4, eventId: '9.b' },
      { messages: rows(5), hasMore: false, rev: 6, eventId: '11.c' },
    ]
    const { core, asked, read, ids } = reader((_, at) => pages[at] ?? { messages: [] })
    await read()
    expect(asked).toEqual([0, 2, 4].map((changedSince) => ({ changedSince, cursor: null })))
    expect(ids()).toEqual(['m1', 'm2', 'm3', 'm4', 'm5'])
    expect(core.state).toMatchObject({ rev: 6, cursor: { n: 7, tag: 'a' }, missing: null })
    expect(core.fields.complete).toBe(true)
  })

  test('moves no cursor past what it has while there is more, so that a crash costs reading and no hole', async () => {
    const moments: unknown[] = []
    const { core, read } = reader((_, at) => {
      moments.push([core.state.rev, core.state.cursor])
      return at < 2
        ? { messages: rows(2 * at + 1, 2 * at + 2), hasMore: true, rev: 99, eventId: '7.a' }
        : { messages: [], rev: 99, eventId: '9.b' }
    })
    await read()
    expect(moments).toEqual([
      [0, null],
      [2, null],
      [4, null],
    ])
  })

  test('says its last event with what it asks, and nothing where it reads anew since that is of another history', async () => {
    const pages: MessagePage[] = [
      { messages: rows(1, 2), rev: 2, eventId: '7.a' },
      { messages: rows(9), limited: true, rev: 9 },
      { messages: rows(1, 9), rev: 9, eventId: '20.b' },
    ]
    const { core, asked, read, ids } = reader((_, at) => pages[at] ?? { messages: [] })
    await read()
    await read()
    expect(asked.slice(1)).toEqual([
      { changedSince: 2, cursor: '7.a' },
      { changedSince: 0, cursor: null },
    ])
    expect(ids()).toEqual(['m1', 'm9'])
    expect(core.state).toMatchObject({ rev: 9, cursor: { n: 20, tag: 'b' } })
  })

  test('goes by deleted rows, too, and takes them away', async () => {
    const { core, asked, read, ids } = reader((_, at) =>
      at === 0
        ? { messages: [], deleted: [{ id: 'm1', rev: 3 }], hasMore: true, rev: 3 }
        : { messages: rows(4), rev: 4 },
    )
    update(core, (state, trace) => putMessages(state, rows(1, 2), trace))
    await read()
    expect(asked.map(({ changedSince }) => changedSince)).toEqual([0, 3])
    expect(ids()).toEqual(['m2', 'm4'])
  })

  test('stops where a server says that there is more, and gives nothing new', async () => {
    const { asked, read } = reader(() => ({ messages: rows(1), hasMore: true, rev: 1 }))
    await read()
    expect(asked.length).toBe(2)
  })

  test('never takes a cursor behind what is applied, unless that was given up', async () => {
    const page = { messages: rows(1), rev: 1, eventId: '3.a' }
    const { core, read } = reader(() => page)
    update(core, (state) => ({ ...state, cursor: { n: 5, tag: 'x' } }))
    await read()
    expect(core.state.cursor).toEqual({ n: 5, tag: 'x' })
    update(core, (state) => ({ ...state, missing: { reason: 'diverged' } }))
    await read()
    expect(core.state).toMatchObject({ cursor: { n: 3, tag: 'a' }, missing: null })
  })

  test('that brings nothing changes nothing', async () => {
    const { core, read } = reader(() => ({ messages: rows(1), rev: 1, eventId: '3.a', session: session() }))
    await read()
    const { state, fields } = core
    await read()
    expect(core.state).toBe(state)
    expect(core.fields).toBe(fields)
  })

  test('does not claim to be complete where the server cannot prove it', async () => {
    const { core, read } = reader(() => ({ messages: rows(1), rev: 1, limited: true }))
    await read()
    expect(core.fields.complete).toBe(false)
  })

  test('brings no session into being that nobody has heard of', async () => {
    const { core, read } = reader((_, at) => ({ messages: at === 0 ? [] : rows(1) }))
    await read()
    expect(core.state.session).toBeUndefined()
    await read()
    expect(core.state.session).toMatchObject({ id: SESSION, headId: null })
  })
})

describe('catching up by message', () => {
  const page = (...ids: string[]) =>
    ids.map((id, at) => assistant(id, { status: 'completed', parentId: ids[at - 1] ?? null }))

  test('goes on from the tidemark, then from each page’s last', async () => {
    const { core, asked, read, ids } = reader((_, at) =>
      at === 0 ? { messages: page('a', 'b'), hasMore: true } : { messages: page('c') },
    )
    setFields(core, { tidemark: 'mark' })
    await read(true)
    expect(asked.map(({ after }) => after)).toEqual(['mark', 'b'])
    expect(ids()).toEqual(['a', 'b', 'c'])
  })

  test('ends where pages repeat, alone or in turn', async () => {
    for (const pages of [[page('a')], [page('a'), page('b')]]) {
      const { asked, read } = reader((_, at) => ({ messages: pages[at % pages.length] ?? [], hasMore: true }))
      await read(true)
      expect(asked.length).toBeLessThanOrEqual(pages.length + 1)
    }
  })
})
