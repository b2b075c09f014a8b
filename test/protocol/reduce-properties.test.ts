import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isSettled } from '../../src/message/schema.ts'
import { reduce } from '../../src/protocol/reduce.ts'
import { type Missing, messageOf } from '../../src/protocol/state.ts'
import { deepFreeze, empty, expectSame, fold, foldSteps, shown, visible } from './fold.ts'
import { histories, numbered } from './history.ts'
import { grown } from './server-model.ts'

const nat = fc.nat(10_000)

describe('a numbered history', () => {
  test('folds to what the server knows, after every event it may be asked at', () => {
    fc.assert(
      fc.property(histories(), ({ events, moments }) => {
        const states = foldSteps(numbered(events))
        for (const { n, page, runs } of moments) {
          const state = states[n] ?? empty
          expectSame(visible(state), shown(page))
          expectSame([...state.runs], runs)
          expectSame(
            [...state.tombstones].toSorted(),
            page.deleted?.map(({ id, rev }) => [id, rev]).toSorted(),
          )
          expect(state.rev).toBe(page.rev)
          expect(state.missing).toBeNull()
        }
      }),
    )
  })

  test('folds to the same state when told twice, or every event twice', () => {
    fc.assert(
      fc.property(histories(), ({ events }) => {
        const envelopes = numbered(events)
        const once = fold(envelopes)
        expect(fold(envelopes, once)).toBe(once)
        expectSame(fold(envelopes.flatMap((envelope) => [envelope, envelope])), once)
      }),
    )
  })

  test('can be cut anywhere and fed again from anywhere before', () => {
    fc.assert(
      fc.property(histories(), nat, nat, ({ events }, cut, back) => {
        const envelopes = numbered(events)
        const end = cut % (envelopes.length + 1)
        const start = back % (end + 1)
        expectSame(fold(envelopes.slice(start), fold(envelopes.slice(0, end))), fold(envelopes))
      }),
    )
  })

  test('returns the very same object for every event it knows', () => {
    fc.assert(
      fc.property(histories(), ({ events }) => {
        const envelopes = numbered(events)
        const state = fold(envelopes)
        for (const envelope of envelopes) expect(reduce(state, envelope)).toBe(state)
      }),
    )
  })

  test('in any order, with losses and repetitions, shows nothing but what a prefix of it says', () => {
    // Where the next event comes from, seen from the last applied one: 0 is the one after it.
    const jumps = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: -4, max: 3 }))
    const orders = fc.array(jumps, { maxLength: 90, size: 'max' })
    fc.assert(
      fc.property(histories(), orders, ({ events }, order) => {
        const envelopes = numbered(events)
        const prefixes = foldSteps(envelopes)
        let state = empty
        for (const jump of order) {
          const envelope = envelopes[Math.max(0, (state.cursor?.n ?? 0) + jump)]
          if (envelope) state = reduce(state, envelope)
          expectSame(visible(state), visible(prefixes[state.cursor?.n ?? 0] ?? empty))
        }
        expectSame(fold(envelopes, state), fold(envelopes))
      }),
    )
  })

  test('that lost one event stops before it and says which is missing', () => {
    fc.assert(
      fc.property(histories(), nat, ({ events }, at) => {
        const envelopes = numbered(events)
        const lost = at % envelopes.length
        const state = fold(envelopes.toSpliced(lost, 1))
        const missing: Missing | null =
          lost === envelopes.length - 1 ? null : { from: lost + 1, to: lost + 1, reason: 'hole' }
        expectSame(state, { ...fold(envelopes.slice(0, lost)), missing })
        expectSame(fold(envelopes.slice(lost), state), fold(envelopes))
      }),
    )
  })

  test('settles each message once: only a higher revision moves what has ended', () => {
    fc.assert(
      fc.property(histories(), ({ events }) => {
        const states = foldSteps(numbered(events))
        for (const [n, state] of states.entries()) {
          for (const before of (states[n - 1] ?? empty).rest.values()) {
            const now = messageOf(state, before.id)
            if (!now || now.status === before.status) continue
            expect(now.rev ?? 0).toBeGreaterThan(before.rev ?? 0)
          }
        }
      }),
    )
  })

  test('shows a growing prefix of the text that each answer ends with', () => {
    fc.assert(
      fc.property(histories(), ({ events }) => {
        const states = foldSteps(numbered(events))
        for (const [n, state] of states.entries()) {
          for (const now of state.live.values()) {
            const later = messageOf(states[n + 1] ?? state, now.id)
            if (now.role !== 'assistant' || later?.role !== 'assistant') continue
            for (const [index, block] of now.content.entries()) {
              const after = later.content[index]
              const text = grown(block)
              expect(after?.type).toBe(block.type)
              if (text !== undefined && after) expect(grown(after)?.startsWith(text)).toBe(true)
            }
          }
        }
      }),
    )
  })

  test('never changes what it was given, neither states nor events', () => {
    fc.assert(
      fc.property(histories(), ({ events }) => {
        let state = deepFreeze(empty)
        for (const envelope of deepFreeze(numbered(events))) state = deepFreeze(reduce(state, envelope))
        expectSame(state, fold(numbered(events)))
      }),
    )
  })

  test('keeps what is in flight apart from what is not', () => {
    fc.assert(
      fc.property(histories(), ({ events }) => {
        for (const { live, rest } of foldSteps(numbered(events))) {
          for (const message of live.values()) {
            expect(isSettled(message)).toBe(false)
            expect(rest.has(message.id)).toBe(false)
          }
          for (const message of rest.values())
            expect(isSettled(message) || message.role === 'user').toBe(true)
        }
      }),
    )
  })
})
