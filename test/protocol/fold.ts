import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { Envelope, MessagePage } from '../../src/protocol/events.ts'
import { reduce, reduceAll } from '../../src/protocol/reduce.ts'
import { emptyState, messagesOf, type SessionState } from '../../src/protocol/state.ts'
import { SESSION } from './server-model.ts'

export const empty: SessionState = emptyState(SESSION)

export const fold = (envelopes: readonly Envelope[], from: SessionState = empty): SessionState =>
  reduceAll(from, envelopes)

/** The same, one event at a time. */
export const foldOneByOne = (envelopes: readonly Envelope[], from: SessionState = empty): SessionState =>
  foldSteps(envelopes, from).at(-1) ?? from

/** Every state on the way, the first one included: `states[n]` is the fold of the first `n` events. */
export function foldSteps(envelopes: readonly Envelope[], from: SessionState = empty): SessionState[] {
  const states = [from]
  let state = from
  for (const envelope of envelopes) {
    state = reduce(state, envelope)
    states.push(state)
  }
  return states
}

const byId = <T extends { id: string }>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))

/** What somebody who looks at a session sees of it. */
export const visible = (state: SessionState): object => ({
  messages: byId([...messagesOf(state)]),
  headId: state.headId,
  session: state.session,
  deleted: state.deleted,
})

/** The same of a server's answer. */
export const shown = ({ messages, session }: MessagePage): object => ({
  messages: byId(messages),
  headId: session?.headId,
  session,
  deleted: false,
})

/** What two states have in common that came to the same knowledge by different ways: a snapshot knows no runs. */
export const knowledge = (state: SessionState): object => ({
  ...visible(state),
  tombstones: new Map([...state.tombstones].toSorted()),
  cursor: state.cursor,
  rev: state.rev,
  missing: state.missing,
  offsetsIgnored: state.offsetsIgnored,
})

/** `toEqual`, but quick where there is nothing to say: properties compare thousands of states. */
export function expectSame(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected)
}

const refuse = () => {
  throw new TypeError('a frozen collection was written to')
}

/** Freezes all the way down; maps and sets, too, which `Object.freeze` leaves writable. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (value instanceof Map || value instanceof Set) {
    for (const name of ['set', 'add', 'delete', 'clear'])
      Object.defineProperty(value, name, { value: refuse, enumerable: false })
    for (const item of value.values()) deepFreeze(item)
  } else for (const item of Object.values(value)) deepFreeze(item)
  return Object.freeze(value)
}
