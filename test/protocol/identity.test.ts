import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/message/schema.ts'
import type { ChatEvent } from '../../src/protocol/events.ts'
import { reduce } from '../../src/protocol/reduce.ts'
import { messageOf, putMessages, type SessionState } from '../../src/protocol/state.ts'
import { empty, fold } from './fold.ts'
import { assistant, created, delta, plain, session, started, text, user } from './rows.ts'

const error = { code: 'server', message: 'it broke' } as const
const row = (state: SessionState, id: string): Message | undefined => messageOf(state, id)

describe('a deleted message', () => {
  const deleted = (rev: number): ChatEvent => ({ type: 'message.deleted', id: 'a', rev })
  const gone = fold(
    plain(created(user('u', { rev: 1 })), created(assistant('a', { parentId: 'u', rev: 2 })), deleted(5)),
  )

  test.each<ChatEvent>([
    created(assistant('a', { rev: 2 })),
    created(assistant('a', { rev: 5 })),
    created(assistant('a')),
    started('a', 4),
    started('a'),
    delta('a', 'x'),
    { type: 'message.completed', message: assistant('a', { rev: 4 }) },
    { type: 'message.finished', id: 'a' },
    { type: 'message.failed', id: 'a', error },
    { type: 'message.updated', message: assistant('a', { rev: 5 }) },
    deleted(5),
    deleted(4),
  ])('is not brought back by a late $type', (event) => {
    expect(reduce(gone, { event })).toBe(gone)
  })

  test('hands the head on to what it followed', () => {
    expect(gone.headId).toBe('u')
  })

  test('may be deleted before it was ever seen', () => {
    const state = reduce(empty, { event: deleted(5) })
    expect(reduce(state, { event: created(assistant('a', { rev: 2 })) })).toBe(state)
  })

  test('survives a deletion that is older than itself', () => {
    const state = fold(plain(created(assistant('a', { status: 'completed', rev: 7, content: text('abc') }))))
    expect(reduce(state, { event: deleted(6) })).toBe(state)
  })

  test('that comes back with a later revision can live again', () => {
    const back = reduce(gone, { event: created(assistant('a', { rev: 6, parentId: 'u' })) })
    expect(row(back, 'a')?.rev).toBe(6)
    expect(row(fold(plain(started('a', 7), delta('a', 'x')), back), 'a')).toMatchObject({
      status: 'streaming',
    })
    expect(reduce(back, { event: deleted(5) })).toBe(back)
  })
})

describe('a message that the server gives another id', () => {
  const own = user('c1', { status: 'pending' })
  const child = user('c2', { parentId: 'c1', status: 'pending' })
  const local: SessionState = { ...putMessages(empty, [own, child]), headId: 'c2' }
  const echo = created(user('s1', { seq: 1, rev: 1 }), 'c1')

  test('takes it, keeps its key, and its children follow', () => {
    const state = reduce(local, { event: echo })
    expect(row(state, 'c1')).toBeUndefined()
    expect(row(state, 's1')).toMatchObject({ status: 'completed', clientId: 'c1', seq: 1, rev: 1 })
    expect(row(state, 'c2')?.parentId).toBe('s1')
    expect(state.headId).toBe('c2')
    expect(reduce(state, { event: echo })).toBe(state)
    expect(reduce(reduce({ ...local, headId: 'c1' }, { event: echo }), { event: echo }).headId).toBe('s1')
  })

  test('does so when the message itself says whose it is', () => {
    const state = reduce(local, { event: created(user('s1', { seq: 1, rev: 1, clientId: 'c1' })) })
    expect(row(state, 'c1')).toBeUndefined()
    expect(row(state, 's1')?.clientId).toBe('c1')
  })

  test('gets a place where the server names none', () => {
    expect(row(reduce(local, { event: created(user('s1'), 'c1') }), 's1')).toMatchObject({
      seq: 1,
      status: 'completed',
    })
  })

  test('does not fall back behind what is known of it already', () => {
    const known = putMessages(local, [user('s1', { seq: 1, rev: 9, metadata: { read: true } })])
    const state = reduce(known, { event: echo })
    expect(row(state, 's1')).toMatchObject({ rev: 9, metadata: { read: true }, clientId: 'c1' })
    expect(row(state, 'c1')).toBeUndefined()
  })

  test('is renamed by a later revision, the key included, when it changes again', () => {
    const updated = { type: 'message.updated', message: user('s1', { seq: 1, rev: 2, content: [] }) } as const
    expect(row(fold(plain(echo, updated), local), 's1')).toMatchObject({ rev: 2, clientId: 'c1' })
  })

  test('never swallows a message that is the server’s own, or another’s', () => {
    const acknowledged = fold(plain(created(user('c1', { seq: 1, rev: 1 }))))
    expect(
      row(reduce(acknowledged, { event: created(user('s1', { seq: 2, rev: 2 }), 'c1') }), 'c1'),
    ).toBeDefined()
    expect(row(reduce(local, { event: created(assistant('s1', { seq: 2, rev: 2 }), 'c1') }), 'c1')).toBe(own)
  })
})

describe('the head', () => {
  test('follows what grows the selected branch, and nothing else', () => {
    const state = fold(
      plain(
        created(user('u')),
        created(assistant('a', { parentId: 'u' })),
        created(assistant('b', { parentId: 'u' })),
      ),
    )
    expect(state.headId).toBe('a')
  })

  test('goes where the session says, and stays when the session only gets another title', () => {
    const branches = fold(
      plain(
        { type: 'session.updated', session: session({ rev: 1, headId: 'a' }) },
        created(user('u')),
        created(assistant('a', { parentId: 'u' })),
        created(user('own', { parentId: 'a', status: 'pending' })),
      ),
    )
    expect(branches.headId).toBe('own')
    const titled = reduce(branches, {
      event: { type: 'session.updated', session: session({ rev: 2, headId: 'a', title: 'T' }) },
    })
    expect(titled).toMatchObject({ headId: 'own', session: { title: 'T' } })
    const moved = reduce(titled, {
      event: { type: 'session.updated', session: session({ rev: 3, headId: 'u' }) },
    })
    expect(moved.headId).toBe('u')
  })
})

describe('a session row', () => {
  test.each([1, 2])('of revision %i is no news to one of revision 2', (rev) => {
    const state = reduce(empty, {
      event: { type: 'session.updated', session: session({ rev: 2, headId: 'x' }) },
    })
    expect(
      reduce(state, { event: { type: 'session.updated', session: session({ rev, title: 'old' }) } }),
    ).toBe(state)
  })

  test('without a revision is news only where it differs', () => {
    const state = reduce(empty, {
      event: { type: 'session.updated', session: session({ metadata: { a: [1] } }) },
    })
    expect(
      reduce(state, { event: { type: 'session.updated', session: session({ metadata: { a: [1] } }) } }),
    ).toBe(state)
    expect(
      reduce(state, { event: { type: 'session.updated', session: session({ title: 'T' }) } }).session?.title,
    ).toBe('T')
  })

  test('may say that there is no session any more, once', () => {
    const state = reduce(empty, { event: { type: 'session.deleted', id: 's', rev: 1 } })
    expect(state.deleted).toBe(true)
    expect(reduce(state, { event: { type: 'session.deleted', id: 's', rev: 1 } })).toBe(state)
  })
})
