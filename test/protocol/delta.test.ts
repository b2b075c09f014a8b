import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import type { ChatEvent } from '../../src/protocol/events.ts'
import { reduce } from '../../src/protocol/reduce.ts'
import { messageOf, type SessionState } from '../../src/protocol/state.ts'
import { fold } from './fold.ts'
import { pieces } from './history.ts'
import { assistant, created, delta, numberedFrom, plain, started, text } from './rows.ts'

const streamed = (value: string) =>
  fold(plain(created(assistant('a', { status: 'streaming', content: text(value) }))))
const shownIn = (state: SessionState) => textOf(messageOf(state, 'a') ?? { content: [] })

describe('an offset', () => {
  const offsets: [string, ChatEvent, string | 'gap' | 'same'][] = [
    ['that is the present length appends', delta('a', 'def', 3), 'abcdef'],
    ['that is absent appends', delta('a', 'def'), 'abcdef'],
    ['of what is there already is a repetition', delta('a', 'bc', 1), 'same'],
    ['of all that is there is a repetition', delta('a', 'abc', 0), 'same'],
    ['whose overlap is there adds only the new tail', delta('a', 'bcde', 1), 'abcde'],
    ['whose overlap is another text is a gap', delta('a', 'xcde', 1), 'gap'],
    ['of another text within is a gap', delta('a', 'x', 1), 'gap'],
    ['above the present length is a gap', delta('a', 'd', 4), 'gap'],
    ['above the present length is a gap also of nothing', delta('a', '', 4), 'gap'],
    ['with nothing to add changes nothing', delta('a', '', 3), 'same'],
    ['in a block that comes after the next is a gap', delta('a', 'x', 0, 2), 'gap'],
    ['above 0 in a new block is a gap', delta('a', 'x', 1, 1), 'gap'],
  ]
  test.each(offsets)('%s', (_, event, expected) => {
    const before = streamed('abc')
    const state = reduce(before, { event })
    if (expected === 'same') expect(state).toBe(before)
    else {
      expect(shownIn(state)).toBe(expected === 'gap' ? 'abc' : expected)
      expect(state.missing).toEqual(expected === 'gap' ? { reason: 'offset' } : null)
    }
  })

  test('counts UTF-16 units', () => {
    expect(shownIn(reduce(streamed('a😀'), { event: delta('a', '!', 3) }))).toBe('a😀!')
    expect(reduce(streamed('a😀'), { event: delta('a', '!', 2) }).missing).toEqual({ reason: 'offset' })
  })
})

const countings: [string, (before: string) => number][] = [
  ['code points', (before) => [...before].length],
  ['bytes', (before) => new TextEncoder().encode(before).length],
  ['nothing, and sends 0', () => 0],
  ['events', (before) => before.length + 1],
]

describe.each(countings)('a server that counts %s', (_, count) => {
  // Each piece begins with a character of its own, so that no overlap is equal by chance.
  const answers = fc
    .array(fc.string({ unit: 'binary', maxLength: 4 }), { minLength: 2, maxLength: 12 })
    .map((parts) => parts.map((part, n) => `${String.fromCodePoint(0x4e00 + n)}😀${part}`))
  const eventsOf = (parts: string[]) =>
    parts.map((part, n) => delta('a', part, count(parts.slice(0, n).join(''))))

  test('is believed where numbers prove the order, and its offsets are ignored from then on', () => {
    fc.assert(
      fc.property(answers, (parts) => {
        const state = fold(numberedFrom(0, started('a'), ...eventsOf(parts)))
        expect(shownIn(state)).toBe(parts.join(''))
        expect(state).toMatchObject({ offsetsIgnored: true, missing: null, cursor: { n: parts.length + 1 } })
      }),
    )
  })

  test('is not believed where a number does not prove it, even then', () => {
    const state = fold(
      numberedFrom(0, started('a'), delta('a', '😀😀', count('')), delta('a', '!', count('😀😀'))),
    )
    const { missing, cursor } = reduce(state, { event: delta('a', '?', 99) })
    expect({ missing, cursor }).toEqual({ missing: { reason: 'offset' }, cursor: state.cursor })
  })

  test('is not believed without numbers', () => {
    fc.assert(
      fc.property(answers, (parts) => {
        const state = fold(plain(started('a'), ...eventsOf(parts)))
        expect(parts.join('').startsWith(shownIn(state))).toBe(true)
        expect(shownIn(state)).not.toBe(parts.join(''))
        expect(state.missing).toEqual({ reason: 'offset' })
      }),
    )
  })
})

describe('deltas', () => {
  test('join to the text, wherever it was cut, halves of a surrogate pair included', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat(50)), (whole, cuts) => {
        const ends = [...cuts.map((cut) => cut % (whole.length + 1)), whole.length].toSorted((a, b) => a - b)
        const events = ends.map((end, n) => delta('a', whole.slice(ends[n - 1] ?? 0, end), ends[n - 1] ?? 0))
        expect(shownIn(fold(plain(started('a'), ...events)))).toBe(whole)
      }),
    )
  })

  test('that overlap in any way, but leave nothing out, join to the text', () => {
    fc.assert(
      fc.property(fc.array(pieces), fc.array(fc.tuple(fc.nat(60), fc.nat(20))), (parts, windows) => {
        const whole = parts.join('')
        let state = fold(plain(started('a')))
        for (const [back, ahead] of windows) {
          const length = shownIn(state).length
          const from = Math.max(0, length - back)
          state = reduce(state, { event: delta('a', whole.slice(from, length + ahead), from) })
          expect(whole.startsWith(shownIn(state))).toBe(true)
          expect(shownIn(state).length).toBe(Math.min(whole.length, length + ahead))
          expect(state.missing).toBeNull()
        }
      }),
    )
  })

  test('begin an answer that nobody began', () => {
    const state = fold(plain(delta('a', 'Hi')))
    expect(messageOf(state, 'a')).toMatchObject({
      status: 'streaming',
      content: [{ type: 'text', text: 'Hi' }],
    })
  })

  test.each(['completed', 'failed', 'interrupted'] as const)(
    'that come late to a %s answer are ignored',
    (status) => {
      const state = fold(plain(created(assistant('a', { status, content: text('abc'), rev: 5 }))))
      expect(reduce(state, { event: delta('a', 'd', 3) })).toBe(state)
      const [numbered] = numberedFrom(0, delta('a', 'd', 3))
      if (numbered) expect(messageOf(reduce(state, numbered), 'a')).toBe(messageOf(state, 'a'))
    },
  )

  test('of a message that is no answer are ignored', () => {
    const state = fold(plain(created({ ...assistant('a'), role: 'user', content: [], status: 'pending' })))
    expect(reduce(state, { event: delta('a', 'x') })).toBe(state)
  })

  test('whose number proves that a block is missing do not move the cursor', () => {
    const state = fold(numberedFrom(0, started('a'), delta('a', 'x', 0, 1), delta('a', 'y', 1, 1)))
    expect(state).toMatchObject({ missing: { reason: 'offset' }, cursor: { n: 1 } })
    expect(shownIn(state)).toBe('')
  })

  test('are not passed over while something else is missing, either', () => {
    const torn = fold([...numberedFrom(0, started('a')), ...numberedFrom(5, started('b'))])
    expect(torn.missing).toMatchObject({ reason: 'hole' })
    expect(fold(numberedFrom(1, delta('a', 'x', 0, 3)), torn)).toBe(torn)
  })
})

describe('a block', () => {
  test('is described by its first delta, and text without a description', () => {
    const thinking = { type: 'thinking', text: '' } as const
    const call = { type: 'toolCall', id: 'c', name: 'look', rawArguments: '' } as const
    const image = { type: 'image', mimeType: 'image/png', data: 'AA' } as const
    const opens = (
      index: number,
      block: ChatEvent & { type: 'message.delta' } extends { block?: infer B } ? B : never,
    ) => ({ type: 'message.delta', id: 'a', index, delta: '', offset: 0, ...(block && { block }) }) as const
    const events = [
      opens(0, thinking),
      delta('a', 'hm', 0, 0),
      opens(1, undefined),
      delta('a', 'Yes', 0, 1),
      opens(2, call),
      delta('a', '{"q":1}', 0, 2),
      opens(3, image),
    ]
    const once = fold(plain(started('a'), ...events))
    expect(messageOf(once, 'a')?.content).toEqual([
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'Yes' },
      { ...call, rawArguments: '{"q":1}' },
      image,
    ])
    for (const event of events) expect(reduce(once, { event })).toBe(once)
  })
})
