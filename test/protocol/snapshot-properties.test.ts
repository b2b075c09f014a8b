import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/message/schema.ts'
import { type MessagePage, parseEventId } from '../../src/protocol/events.ts'
import { mergePage } from '../../src/protocol/page.ts'
import { newTrace, type SessionState } from '../../src/protocol/state.ts'
import { deepFreeze, empty, expectSame, fold, knowledge, visible } from './fold.ts'
import { type History, histories, type Moment, numbered, tagOf } from './history.ts'

const nat = fc.nat(10_000)

const momentOf = ({ moments }: History, pick: number): Moment => moments[pick % moments.length] as Moment

/** A snapshot taken over as its caller does: rows merged, cursors set, never back. */
function take(state: SessionState, page: MessagePage, eventId = page.eventId): SessionState {
  const given = eventId ? (parseEventId(eventId) ?? null) : null
  const { cursor } = state
  return {
    ...mergePage(state, page),
    cursor: (given?.n ?? 0) > (cursor?.n ?? 0) ? given : cursor,
    rev: Math.max(state.rev, page.rev ?? 0),
    missing: null,
  }
}

/** The rows of a page cut into several, in any order; each says what the whole says besides. */
const cuts = fc.tuple(nat, nat, fc.boolean())
function cut(
  { messages, ...page }: MessagePage,
  [first, step, reverse]: [number, number, boolean],
): MessagePage[] {
  const rows = messages.map((message, index) => ({ message, key: (first + index * (step * 2 + 1)) % 7 }))
  const keys = [...new Set(rows.map(({ key }) => key))]
  const pages = keys.map((key) => ({
    ...page,
    messages: rows.filter((row) => row.key === key).map(({ message }): Message => message),
  }))
  return reverse ? pages.toReversed() : pages
}

describe('a snapshot', () => {
  test('of any moment, with the events after any number up to it, gives what all events give', () => {
    fc.assert(
      fc.property(histories(), nat, nat, nat, (history, known, asked, cursor) => {
        const envelopes = numbered(history.events)
        const { n, page } = momentOf(history, asked)
        // Read with the rows or before them, never after: the rows may reflect more than the number says.
        const from = cursor % (n + 1)
        const before = fold(envelopes.slice(0, known % (envelopes.length + 1)))
        const state = take(before, page, from === 0 ? null : `${from}.${tagOf(from)}`)
        expectSame(knowledge(fold(envelopes.slice(from), state)), knowledge(fold(envelopes)))
      }),
      { numRuns: 150 },
    )
  })

  test('fills any hole', () => {
    fc.assert(
      fc.property(histories(), nat, nat, (history, lost, asked) => {
        const envelopes = numbered(history.events)
        const { n, page } = momentOf(history, asked)
        const torn = fold(envelopes.toSpliced(lost % envelopes.length, 1))
        expectSame(knowledge(fold(envelopes.slice(n), take(torn, page))), knowledge(fold(envelopes)))
      }),
    )
  })

  test('of what is known already changes nothing at all', () => {
    fc.assert(
      fc.property(histories(), nat, nat, (history, known, asked) => {
        const end = known % (history.events.length + 1)
        const state = fold(numbered(history.events).slice(0, end))
        const older = history.moments.filter(({ n }) => n <= end)
        const moment = older[asked % older.length]
        const trace = newTrace()
        if (moment) expect(mergePage(state, moment.page, trace)).toBe(state)
        expectSame(trace, newTrace())
      }),
    )
  })

  test('taken twice is taken once', () => {
    fc.assert(
      fc.property(histories(), nat, nat, (history, known, asked) => {
        const state = fold(numbered(history.events).slice(0, known % (history.events.length + 1)))
        const { page } = momentOf(history, asked)
        const once = mergePage(state, page)
        expect(mergePage(once, page)).toBe(once)
      }),
    )
  })

  test('comes in pages, whose order does not matter', () => {
    fc.assert(
      fc.property(histories(), nat, nat, cuts, (history, known, asked, how) => {
        const state = fold(numbered(history.events).slice(0, known % (history.events.length + 1)))
        const { page } = momentOf(history, asked)
        const merged = cut(page, how).reduce((folded, part) => mergePage(folded, part), state)
        const empties = page.messages.length === 0 ? mergePage(state, page) : merged
        expectSame(visible(empties), visible(mergePage(state, page)))
      }),
    )
  })

  test('merges with another of another moment to the newer one, whichever came first', () => {
    fc.assert(
      fc.property(histories(), nat, nat, (history, one, other) => {
        const a = momentOf(history, one).page
        const b = momentOf(history, other).page
        const ab = knowledge(mergePage(mergePage(empty, a), b))
        expectSame(knowledge(mergePage(mergePage(empty, b), a)), ab)
        const newer = (a.rev ?? 0) > (b.rev ?? 0) ? a : b
        if (a.rev !== b.rev) expect(ab).toEqual(knowledge(mergePage(empty, newer)))
      }),
    )
  })

  test('never changes what it was given', () => {
    fc.assert(
      fc.property(histories(), nat, nat, (history, known, asked) => {
        const state = fold(numbered(history.events).slice(0, known % (history.events.length + 1)))
        const { page } = momentOf(history, asked)
        const free = mergePage(state, page)
        expectSame(mergePage(deepFreeze(state), deepFreeze(structuredClone(page))), free)
      }),
    )
  })
})
