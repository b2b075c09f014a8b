import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChatEvent } from '../../src/protocol/events.ts'
import { reduce } from '../../src/protocol/reduce.ts'
import { messageOf, type SessionState } from '../../src/protocol/state.ts'
import { deepFreeze, empty, expectSame, fold, foldSteps, shown, visible } from './fold.ts'
import { histories, numbered, unnumbered, withoutResume } from './history.ts'
import { grown } from './server-model.ts'

const nat = fc.nat(10_000)
const told = histories(withoutResume)
const isRun = ({ type }: ChatEvent) => type === 'run.started' || type === 'run.finished'

/** Whether everything that has streamed here is the beginning of what has streamed there, block by block. */
function isBeginning(state: SessionState, whole: SessionState): boolean {
  return [...state.live.values()].every((message) => {
    const other = messageOf(whole, message.id)
    if (message.role !== 'assistant' || other?.role !== 'assistant') return true
    return message.content.every((block, index) => {
      const after = other.content[index]
      return after !== undefined && (grown(after) ?? '').startsWith(grown(block) ?? '')
    })
  })
}

describe('a history without numbers', () => {
  test('folds to what the server knows, and claims no cursor', () => {
    fc.assert(
      fc.property(told, ({ events, moments }) => {
        const states = foldSteps(unnumbered(events))
        for (const { n, page } of moments) {
          const state = states[n] ?? empty
          expectSame(visible(state), shown(page))
          expect(state).toMatchObject({ cursor: null, rev: 0, missing: null })
        }
      }),
    )
  })

  test('folds to the same state when told twice, or every event twice', () => {
    fc.assert(
      fc.property(told, ({ events }) => {
        const envelopes = unnumbered(events)
        const once = fold(envelopes)
        expectSame(fold(envelopes, once), once)
        expectSame(fold(envelopes.flatMap((envelope) => [envelope, envelope])), once)
      }),
    )
  })

  test('can be cut anywhere and fed again from anywhere before', () => {
    fc.assert(
      fc.property(told, nat, nat, ({ events }, cut, back) => {
        const envelopes = unnumbered(events)
        const end = cut % (envelopes.length + 1)
        const start = back % (end + 1)
        expectSame(fold(envelopes.slice(start), fold(envelopes.slice(0, end))), fold(envelopes))
      }),
    )
  })

  test('returns the very same object for every event it knows', () => {
    fc.assert(
      fc.property(told, ({ events }) => {
        const state = fold(unnumbered(events))
        // That a run has ended is known by its number alone: it leaves nothing behind.
        for (const envelope of unnumbered(events.filter((event) => !isRun(event))))
          expect(reduce(state, envelope)).toBe(state)
      }),
    )
  })

  test('never changes what it was given', () => {
    fc.assert(
      fc.property(told, ({ events }) => {
        let state = deepFreeze(empty)
        for (const envelope of deepFreeze(unnumbered(events))) state = deepFreeze(reduce(state, envelope))
        expectSame(state, fold(unnumbered(events)))
      }),
    )
  })

  test('that lost a delta still shows only beginnings, and misses it at the next one of its block', () => {
    const streams = histories(['send', 'answer', 'delta', 'complete'], 40)
    fc.assert(
      fc.property(streams, nat, ({ events }, at) => {
        const losable = events.flatMap((event, index) =>
          event.type === 'message.delta' && event.delta !== '' ? [{ event, index }] : [],
        )
        const lost = losable[at % losable.length]
        if (!lost) return
        const { id, index } = lost.event
        const after = events.slice(lost.index + 1)
        const wholes = foldSteps(unnumbered(after), fold(unnumbered(events.slice(0, lost.index + 1))))
        const states = foldSteps(unnumbered(after), fold(unnumbered(events.slice(0, lost.index))))
        for (const [n, state] of states.entries()) expect(isBeginning(state, wholes[n] ?? state)).toBe(true)
        const next = after.find((event) => 'id' in event && event.id === id)
        if (next?.type === 'message.delta' && next.index === index)
          expectSame(states.at(-1)?.missing, { reason: 'offset' })
      }),
    )
  })

  test('beside the same history numbered, whichever is ahead, folds to the same', () => {
    // The feed has numbers, the answer on the request that asked for it has none.
    fc.assert(
      fc.property(told, fc.infiniteStream(fc.boolean()), ({ events }, turns) => {
        const feeds = [numbered(events), unnumbered(events)]
        let state = empty
        for (const turn of turns) {
          const envelope = feeds[turn ? 0 : 1]?.shift()
          if (!envelope) break
          state = reduce(state, envelope)
        }
        state = fold(feeds.flat(), state)
        expectSame(visible(state), visible(fold(unnumbered(events))))
        expect(state).toMatchObject({ cursor: { n: events.length }, missing: null, offsetsIgnored: false })
      }),
    )
  })
})
