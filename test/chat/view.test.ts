import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tidemarkOf, type View, viewOf } from '../../src/chat/view.ts'
import { isSettled, type Message } from '../../src/message/schema.ts'
import { reduce } from '../../src/protocol/reduce.ts'
import { emptyState, messagesOf, putMessages, type SessionState } from '../../src/protocol/state.ts'
import { foldSteps } from '../protocol/fold.ts'
import { histories, numbered } from '../protocol/history.ts'
import { assistant, delta, started, user } from '../protocol/rows.ts'
import { SESSION } from '../protocol/server-model.ts'

const none: ReadonlyMap<string, Message> = new Map()
const state = (headId: string | null, ...messages: Message[]): SessionState => ({
  ...putMessages(emptyState(SESSION), messages),
  headId,
})
const ids = ({ messages }: View) => messages.map(({ id }) => id)
const a = user('a', { seq: 1 })
const b = assistant('b', { seq: 2, parentId: 'a', status: 'completed' })
const c = user('c', { parentId: 'b', status: 'pending' })

describe('order: the view', () => {
  const tables: [name: string, state: SessionState, shown: string[], hasOlder: boolean][] = [
    ['of nothing is empty', emptyState(SESSION), [], false],
    ['is the branch of the head, oldest first', state('b', b, a), ['a', 'b'], false],
    [
      'leaves other branches out',
      state('b', a, b, assistant('x', { seq: 3, parentId: 'a', status: 'completed' })),
      ['a', 'b'],
      false,
    ],
    ['ends with what was not accepted yet', state('b', a, b, c), ['a', 'b', 'c'], false],
    ['has it once, where it is the head', state('c', a, b, c), ['a', 'b', 'c'], false],
    [
      'has it in local order',
      state('b', a, b, user('z', { parentId: 'b' }), user('y', { parentId: 'b' })),
      ['a', 'b', 'z', 'y'],
      false,
    ],
    ['also where the head is elsewhere', state('a', a, b, c), ['a', 'c'], false],
    ['says that something older is not loaded', state('b', b), ['b'], true],
    ['of a head that is not loaded is what waits', state('nobody', a, b, c), ['c'], true],
    [
      'ends where parents go round',
      state('p', user('p', { seq: 1, parentId: 'q' }), user('q', { seq: 2, parentId: 'p' })),
      ['q', 'p'],
      true,
    ],
  ]
  test.each(tables)('%s', (_, given, shown, hasOlder) => {
    const view = viewOf(given, none)
    expect([ids(view), view.hasOlder]).toEqual([shown, hasOlder])
  })

  test('shows a frozen message as it was, in its place', () => {
    const live = assistant('b', { seq: 2, parentId: 'a', status: 'streaming' })
    const given = reduce(state('b', a, live), { event: delta('b', 'more') })
    expect(viewOf(given, new Map([['b', live]])).messages[1]).toBe(live)
  })

  test('stays the same object while nothing that it shows changes', () => {
    const given = state('b', a, b)
    const view = viewOf(given, none)
    const moved: SessionState[] = [
      { ...given, cursor: { n: 3, tag: 'x' } },
      { ...given, runs: new Set(['r']) },
      putMessages(given, [assistant('x', { seq: 9, parentId: 'a', status: 'completed' })]),
      putMessages(given, [assistant('y', { seq: 9, parentId: 'a', status: 'streaming' })]),
    ]
    for (const other of moved) expect(viewOf(other, none, { state: given, view })).toBe(view)
  })

  test('with the last view at hand is what it is without, after every event', () => {
    fc.assert(
      fc.property(histories(), ({ events }) => {
        let last: { state: SessionState; view: View } | undefined
        for (const now of foldSteps(numbered(events))) {
          const view = viewOf(now, none, last)
          expect(view).toEqual(viewOf(now, none))
          last = { state: now, view }
        }
      }),
      { numRuns: 50 },
    )
  })

  test('of a long history is not walked again while one answer grows', () => {
    let rows: Message[] = []
    for (let n = 1; n <= 2_000; n++)
      rows = [...rows, user(`m${n}`, { seq: n, parentId: n === 1 ? null : `m${n - 1}` })]
    const long = state('m2000', ...rows)
    const begun = reduce(long, { event: started('live') })
    let last = { state: begun, view: viewOf(begun, none) }
    const counted = new Proxy(begun.rest, {
      get: (target, key) => {
        if (key !== 'size') throw new Error(`looked at the history by ${String(key)}`)
        return target.size
      },
    })
    last = { ...last, state: { ...last.state, rest: counted } }
    for (let n = 0; n < 10; n++) {
      const grown = assistant('live', {
        seq: 2001,
        parentId: 'm2000',
        status: 'streaming',
        content: [{ type: 'text', text: 'x'.repeat(n) }],
      })
      const next = { ...last.state, live: new Map([['live', grown]]) }
      last = { state: next, view: viewOf(next, none, last) }
    }
    expect(last.view.messages.length).toBe(2_001)
  })
})

describe('the tidemark', () => {
  const settled = (id: string, seq: number) => user(id, { seq })
  const open = (id: string, seq: number) => assistant(id, { seq, status: 'streaming' })
  const cursor = { n: 1, tag: 't' }
  const tables: [name: string, state: SessionState, floor: string | null, mark: string | null][] = [
    ['of nothing is what it was', emptyState(SESSION), null, null],
    ['of nothing loaded stays', emptyState(SESSION), 'old', 'old'],
    ['is the newest settled message', state(null, settled('a', 1), settled('b', 2)), null, 'b'],
    ['stays below one that is open', state(null, settled('a', 1), open('x', 2), settled('b', 3)), null, 'a'],
    ['does not count what has no place', state(null, settled('a', 1), c), null, 'a'],
    [
      'stays below an accepted question that is not settled',
      state(null, settled('a', 1), user('q', { seq: 2, status: 'pending' }), settled('b', 3)),
      null,
      'a',
    ],
    ['goes on from where it was', state(null, settled('a', 1), settled('b', 2)), 'a', 'b'],
    [
      'goes back where something below it is open again',
      state(null, settled('a', 1), open('x', 2), settled('b', 3)),
      'b',
      'a',
    ],
    ['is lost where nothing before it is settled', state(null, open('x', 1), settled('b', 2)), 'b', null],
    [
      'stays below a message that came by itself, before all that came before it is known',
      { ...state(null, user('a', { seq: 1, rev: 1 }), user('b', { seq: 3, rev: 3 })), rev: 1, cursor },
      null,
      'a',
    ],
    [
      'stays below a message that was only accepted, where the server numbers what it says',
      { ...state(null, user('a', { seq: 1, rev: 1 }), user('b', { seq: 2 })), rev: 1, cursor },
      null,
      'a',
    ],
    ['is never an open message', state(null, open('x', 1)), null, null],
  ]
  test.each(tables)('%s', (_, given, floor, mark) => {
    expect(tidemarkOf(given, floor)).toBe(mark)
  })

  test('has nothing open at or below it, and nothing settled above it that it could be, after every event', () => {
    fc.assert(
      fc.property(histories(), ({ events }) => {
        let mark: string | null = null
        for (const now of foldSteps(numbered(events))) {
          mark = tidemarkOf(now, mark)
          const all = [...messagesOf(now)]
          const place = all.find(({ id }) => id === mark)?.seq ?? 0
          const open = all.filter((message) => !isSettled(message)).map(({ seq }) => seq ?? 0)
          expect(Math.min(...open)).toBeGreaterThan(place)
          const better = all.filter(
            (message) =>
              isSettled(message) && (message.seq ?? 0) > place && (message.seq ?? 0) < Math.min(...open),
          )
          if (mark === null || all.some(({ id }) => id === mark)) expect(better).toEqual([])
        }
      }),
      { numRuns: 50 },
    )
  })
})
