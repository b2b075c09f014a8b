import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import type { Envelope } from '../../src/protocol/events.ts'
import { reduceAll } from '../../src/protocol/reduce.ts'
import { messageOf, newTrace } from '../../src/protocol/state.ts'
import { empty, expectSame, fold, foldOneByOne, foldSteps } from './fold.ts'
import { histories, numbered, unnumbered } from './history.ts'
import { delta, numberedFrom, plain, started } from './rows.ts'

const nat = fc.nat(10_000)
// Mostly deltas: what comes in bursts.
const streams = histories(['send', 'answer', 'delta', 'complete', 'interrupt', 'remove'], 60)

const withoutOffsets = (envelopes: readonly Envelope[]): Envelope[] =>
  envelopes.map(({ event, ...rest }) => {
    if (event.type !== 'message.delta') return { ...rest, event }
    const { offset: _, ...bare } = event
    return { ...rest, event: bare }
  })

const tellings: [string, (history: { events: Parameters<typeof numbered>[0] }) => Envelope[]][] = [
  ['numbered', ({ events }) => numbered(events)],
  ['without numbers', ({ events }) => unnumbered(events)],
  ['numbered, without offsets', ({ events }) => withoutOffsets(numbered(events))],
  ['without either', ({ events }) => withoutOffsets(unnumbered(events))],
]

describe.each(tellings)('a burst of events %s', (_, tell) => {
  test('folds at once to what it folds to one by one', () => {
    fc.assert(
      fc.property(streams, (history) => {
        expectSame(fold(tell(history)), foldOneByOne(tell(history)))
      }),
      { numRuns: 40 },
    )
  })

  test('does so from any state, whatever of it is known, and whatever of it is lost', () => {
    fc.assert(
      fc.property(streams, nat, nat, nat, (history, known, from, lost) => {
        const envelopes = tell(history)
        const state = fold(envelopes.slice(0, known % (envelopes.length + 1)))
        const burst = envelopes.slice(from % envelopes.length).toSpliced(lost % envelopes.length, 1)
        expectSame(reduceAll(state, burst), foldOneByOne(burst, state))
      }),
    )
  })

  test('tells those who render and store it the same', () => {
    fc.assert(
      fc.property(streams, (history) => {
        const trace = newTrace()
        const state = reduceAll(empty, tell(history), 0, trace)
        const single = newTrace()
        let other = empty
        for (const envelope of tell(history)) other = reduceAll(other, [envelope], 0, single)
        expectSame(other, state)
        expectSame([trace.changed, trace.removed], [single.changed, single.removed])
        expectSame(joined(trace.pieces), joined(single.pieces))
      }),
      { numRuns: 40 },
    )
  })
})

/** Adjoining pieces of a block as one. */
function joined(pieces: ReturnType<typeof newTrace>['pieces']): object[] {
  const all: { messageId: string; index: number; offset: number; text: string; opens: boolean }[] = []
  for (const piece of pieces) {
    const last = all.at(-1)
    if (last && !piece.opens && last.messageId === piece.messageId && last.index === piece.index)
      last.text += piece.text
    else all.push({ ...piece })
  }
  return all
}

describe('a burst', () => {
  const letters = [...'abcdef'].map((letter) => delta('a', letter))

  test('that overlaps what is known adds only what is not, without offsets, too', () => {
    const all = numberedFrom(0, started('a'), ...letters)
    const state = reduceAll(fold(all.slice(0, 4)), all.slice(1))
    expect(textOf(messageOf(state, 'a') ?? { content: [] })).toBe('abcdef')
    expect(state.missing).toBeNull()
  })

  test('behind a hole names the hole', () => {
    const all = numberedFrom(0, started('a'), ...letters)
    expect(reduceAll(fold(all.slice(0, 2)), all.slice(3)).missing).toEqual({ from: 3, to: 3, reason: 'hole' })
  })

  test('that lost one in its middle stops there, also where no offset tells', () => {
    const all = numberedFrom(0, started('a'), ...letters)
    const state = reduceAll(empty, all.toSpliced(4, 1))
    expect(textOf(messageOf(state, 'a') ?? { content: [] })).toBe('abc')
    expect(state).toMatchObject({ cursor: { n: 4 }, missing: { from: 5, to: 5, reason: 'hole' } })
  })

  test('of numbered and unnumbered events lends no number to those that have none', () => {
    const [first, second, third] = letters.map((event, n) => ({ event, id: { n: n + 1, tag: 't' } }))
    if (!first || !second || !third) return
    const mixed = [first, { event: second.event }, third]
    expect(reduceAll(empty, mixed)).toEqual(foldOneByOne(mixed))
    expect(reduceAll(empty, mixed).cursor?.n).toBe(1)
  })

  test('whose offsets go back while its numbers go on adds all of it: the number outranks the offset', () => {
    const all = numberedFrom(0, started('a'), delta('a', 'abc', 0), delta('a', 'ab', 0), delta('a', 'x', 2))
    const state = reduceAll(fold(all.slice(0, 2)), all.slice(2))
    expect(textOf(messageOf(state, 'a') ?? { content: [] })).toBe('abcabx')
    expect(state).toEqual(foldOneByOne(all))
  })

  test('of another history is told apart at its first event', () => {
    const all = numberedFrom(0, started('a'), ...letters)
    const other = all.map(({ event, id }) => ({ event, ...(id && { id: { ...id, tag: 'x' } }) }))
    const state = fold(all.slice(0, 4))
    expect(reduceAll(state, other.slice(3))).toEqual({ ...state, missing: { reason: 'diverged' } })
  })

  test('of many deltas is folded in as few', () => {
    const many = Array.from({ length: 1000 }, (_, n) => delta('a', 'x', n))
    const trace = newTrace()
    reduceAll(empty, plain(started('a'), ...many), 0, trace)
    expect(trace.pieces).toHaveLength(1)
    expect(foldSteps(plain(started('a'), ...many)).at(-1)).toEqual(fold(plain(started('a'), ...many)))
  })
})
