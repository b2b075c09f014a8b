import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Message, Status } from '../../src/message/schema.ts'
import type { MessagePage } from '../../src/protocol/events.ts'
import { mergeMessage } from '../../src/protocol/merge.ts'
import { mergePage } from '../../src/protocol/page.ts'
import { reduce } from '../../src/protocol/reduce.ts'
import { messageOf, messagesOf, putMessages } from '../../src/protocol/state.ts'
import { empty, fold, visible } from './fold.ts'
import { assistant, created, delta, plain, session, started, text, user } from './rows.ts'

const idsOf = (page: MessagePage, from = empty) =>
  [...messagesOf(mergePage(from, page))].map(({ id }) => id).toSorted()

describe('merge: of two versions of a message', () => {
  const versions = (status: Status, rev: number | undefined, value: string): Message =>
    assistant('a', { status, content: text(value), ...(rev !== undefined && { rev }) })

  const table: [string, Message, Message, 'first' | 'second'][] = [
    ['the higher revision stands', versions('completed', 2, 'x'), versions('streaming', 3, 'y'), 'second'],
    ['the lower revision is no news', versions('streaming', 3, 'x'), versions('completed', 2, 'y'), 'first'],
    [
      'at one revision the settled one stands',
      versions('streaming', 2, 'xyz'),
      versions('completed', 2, 'x'),
      'second',
    ],
    [
      'at one revision the settled one stays',
      versions('failed', 2, 'x'),
      versions('streaming', 2, 'xyz'),
      'first',
    ],
    [
      'at one revision the further one stands',
      versions('pending', 2, ''),
      versions('streaming', 2, ''),
      'second',
    ],
    [
      'at one revision the further one stays',
      versions('streaming', 2, ''),
      versions('pending', 2, ''),
      'first',
    ],
    [
      'at one revision the longer one stands',
      versions('streaming', 2, 'x'),
      versions('streaming', 2, 'xy'),
      'second',
    ],
    [
      'at one revision the longer one stays',
      versions('streaming', 2, 'xy'),
      versions('streaming', 2, 'x'),
      'first',
    ],
    [
      'a revision beats none',
      versions('completed', undefined, 'xy'),
      versions('streaming', 1, 'x'),
      'second',
    ],
    [
      'none does not beat a settled revision',
      versions('completed', 1, 'x'),
      versions('completed', undefined, 'y'),
      'first',
    ],
    [
      'without revisions the settled one stands',
      versions('streaming', undefined, 'xy'),
      versions('completed', undefined, 'x'),
      'second',
    ],
    [
      'without revisions the later final word stands',
      versions('completed', undefined, 'x'),
      versions('completed', undefined, 'y'),
      'second',
    ],
  ]
  test.each(table)('%s', (_, present, given, stands) => {
    expect(mergeMessage(present, given)).toEqual(stands === 'first' ? present : given)
    if (stands === 'first') expect(mergeMessage(present, given)).toBe(present)
  })

  test('with revisions it does not matter which came first', () => {
    const version = fc
      .tuple(fc.constantFrom<Status>('pending', 'streaming', 'completed'), fc.nat(3), fc.nat(4))
      // What one revision says differs only by how far it has streamed, or by having ended.
      .map(([status, rev, length]) =>
        versions(
          status,
          rev,
          status === 'pending' ? '' : 'abcd'.slice(0, status === 'completed' ? 4 : length),
        ),
      )
    fc.assert(
      fc.property(fc.array(version, { minLength: 1 }), fc.array(version), (one, other) => {
        const merge = (rows: Message[]) => rows.reduce<Message | undefined>(mergeMessage, undefined)
        expect(merge([...one, ...other])).toEqual(merge([...other, ...one]))
        expect(merge([...one, ...one])).toBe(merge(one))
      }),
    )
  })

  test('the one that says nothing new is the very same object, also when a server dates it by the time of asking', () => {
    const present = user('u', { seq: 3, clientId: 'c' })
    expect(mergeMessage(present, user('u', { createdAt: 99, updatedAt: 99 }))).toBe(present)
    const news = mergeMessage(present, user('u', { createdAt: 99, updatedAt: 99, name: 'Ada' }))
    expect(news).toEqual({ ...present, name: 'Ada', updatedAt: 99 })
  })

  test('a parent that a server leaves out does not tear a message off', () => {
    const present = user('u', { parentId: 'a' })
    expect(mergeMessage(present, user('u', { parentId: null }))).toBe(present)
    expect(mergeMessage(present, user('u', { parentId: null, rev: 1 })).parentId).toBeNull()
  })
})

describe('merge: a page', () => {
  test('that names a message twice takes the newer, wherever it stands', () => {
    const rows = [user('u', { rev: 1 }), user('u', { rev: 3, name: 'new' }), user('u', { rev: 2 })]
    for (const messages of [rows, rows.toReversed()])
      expect(messageOf(mergePage(empty, { messages }), 'u')).toMatchObject({ rev: 3, name: 'new' })
  })

  test('removes what was deleted, and lets it not come back', () => {
    const before = fold(
      plain(created(user('u', { rev: 1 })), created(assistant('a', { rev: 2, parentId: 'u' }))),
    )
    const page = { messages: [], deleted: [{ id: 'a', rev: 5 }] }
    const after = mergePage(before, page)
    expect([...messagesOf(after)].map(({ id }) => id)).toEqual(['u'])
    expect(mergePage(after, page)).toBe(after)
    expect(idsOf({ messages: [assistant('a', { rev: 5 })] }, after)).toEqual(['u'])
    expect(idsOf({ messages: [assistant('a', { rev: 6 })] }, after)).toEqual(['a', 'u'])
  })

  test('and a page with the same message risen again give the same in either order', () => {
    const buried = { messages: [], deleted: [{ id: 'u', rev: 5 }] }
    const risen = { messages: [user('u', { rev: 7, seq: 1 })] }
    const one = mergePage(mergePage(empty, buried), risen)
    const other = mergePage(mergePage(empty, risen), buried)
    expect(one).toEqual(other)
    expect(messageOf(one, 'u')?.rev).toBe(7)
  })

  test('of a server without places gives them in its order, once', () => {
    const page = { messages: [user('u'), assistant('a', { parentId: 'u', status: 'completed' })] }
    const state = mergePage(fold(plain(created(user('o', { seq: 4 })))), page)
    expect([...messagesOf(state)].map(({ id, seq }) => [id, seq])).toEqual([
      ['o', 4],
      ['u', 5],
      ['a', 6],
    ])
    expect(state.nextSeq).toBe(7)
    expect(mergePage(state, page)).toBe(state)
  })

  test('that places only some of its messages places the others after them', () => {
    const page = { messages: [user('u', { seq: 7 }), user('v'), user('w')] }
    expect([...messagesOf(mergePage(empty, page))].map(({ seq }) => seq)).toEqual([7, 8, 9])
  })

  test('without a session shows its messages all the same: the branch grows with them', () => {
    const messages = [
      user('u', { seq: 1 }),
      assistant('a', { seq: 2, parentId: 'u' }),
      user('u2', { seq: 3, parentId: 'a' }),
    ]
    expect(mergePage(empty, { messages }).headId).toBe('u2')
    expect(mergePage(empty, { messages: messages.toReversed() }).headId).toBe('u2')
    expect(mergePage(empty, { messages, session: session({ rev: 1, headId: 'a' }) }).headId).toBe('a')
  })

  test('brings the id that the server gave to the client’s message', () => {
    const own = user('c1', { status: 'pending' })
    const local = { ...putMessages(empty, [own]), headId: 'c1' }
    const page = {
      messages: [
        user('s1', { seq: 1, rev: 1, clientId: 'c1' }),
        assistant('a', { seq: 2, rev: 2, parentId: 's1' }),
      ],
    }
    const state = mergePage(local, page)
    expect([...messagesOf(state)].map(({ id }) => id).toSorted()).toEqual(['a', 's1'])
    expect(state.headId).toBe('a')
    expect(mergePage(state, page)).toBe(state)
  })

  test('leaves what was written offline where it is', () => {
    const own = user('c1', { status: 'pending', parentId: 'u' })
    const local = { ...putMessages(empty, [own]), headId: 'c1' }
    const state = mergePage(local, { messages: [user('u', { seq: 1, rev: 1 })] })
    expect(messageOf(state, 'c1')).toBe(own)
    expect(state.headId).toBe('c1')
  })

  test('does not take back what has streamed since it was read', () => {
    const state = fold(plain(created(assistant('a', { rev: 1 })), started('a', 2), delta('a', 'abcdef')))
    expect(
      mergePage(state, { messages: [assistant('a', { rev: 2, status: 'streaming', content: text('abc') })] }),
    ).toBe(state)
    const further = mergePage(state, {
      messages: [assistant('a', { rev: 2, status: 'streaming', content: text('abcdefgh') })],
    })
    expect(messageOf(reduce(further, { event: delta('a', 'ghij', 6) }), 'a')?.content).toEqual(
      text('abcdefghij'),
    )
  })

  test('shows a child whose parent is absent only when the parent has come, and loses neither', () => {
    const child = { messages: [assistant('a', { seq: 2, rev: 2, parentId: 'u' })] }
    const parent = { messages: [user('u', { seq: 1, rev: 1 })] }
    expect(idsOf(parent, mergePage(empty, child))).toEqual(['a', 'u'])
    expect(visible(mergePage(mergePage(empty, child), parent))).toMatchObject({
      messages: [{ id: 'a' }, { id: 'u' }],
    })
  })
})
