import type { Session } from '../message/schema.ts'
import { pathTo } from '../message/tree.ts'
import { messageOf, messagesOf, type SessionState } from '../protocol/state.ts'
import { asWanted, isChoice } from './others.ts'
import type { OutboxRow } from './ports.ts'
import type { Accepted } from './runtime-port.ts'

/** What somebody chose here outranks what the other side says of the session, until it is known to have heard of it. */
export interface Held {
  /** The session as the other side has told of it: before the first choice, or meanwhile. */
  told: Session | undefined
  /** Choices that were accepted, and not told of yet. */
  accepted: readonly OutboxRow[]
  /** The event and the revision with which the last of them will have been told. */
  until: { n: number; rev: number }
}

type Rows = ReadonlyMap<string, OutboxRow>

export const nothingHeld = (): Held => ({ told: undefined, accepted: [], until: { n: 0, rev: 0 } })

const choicesIn = ({ accepted }: Held, outbox: Rows): OutboxRow[] => [
  ...accepted,
  ...[...outbox.values()].filter(isChoice),
]

const isTold = ({ until }: Held, { cursor, rev }: SessionState): boolean =>
  (cursor?.n ?? 0) >= until.n && rev >= until.rev

/** What an update made of a session, as those see it whose choice is still on its way. */
export function hold(held: Held, outbox: Rows, before: SessionState, next: SessionState): SessionState {
  if (outbox.size + held.accepted.length === 0) return next
  let state = next
  const rows = choicesIn(held, outbox)
  // The numbers of another history prove nothing.
  const isElsewhere = (next.cursor?.n ?? 0) < (before.cursor?.n ?? 0)
  // What is changed here leaves the revision as it is.
  if (rows.length > 0 && next.session && (isElsewhere || next.session.rev !== before.session?.rev)) {
    held.told = next.session
    state = asWanted(next, before.headId, rows)
  }
  if (held.accepted.length > 0 && (isElsewhere || isTold(held, next))) {
    held.accepted = []
    return letGo(held, outbox, state)
  }
  return state
}

/** The state once no choice is on its way any more: the other side's word stands. */
export function letGo(held: Held, outbox: Rows, state: SessionState): SessionState {
  const { told } = held
  if (!told || choicesIn(held, outbox).length > 0) return state
  Object.assign(held, nothingHeld())
  if (state.deleted) return state
  const end = told.headId
  const isThere = messageOf(state, end ?? '')
  // What has grown from there is news.
  const { rev = Number.POSITIVE_INFINITY } = messageOf(state, state.headId ?? '') ?? {}
  const isGrown =
    rev > (told.rev ?? 0) && pathTo(messagesOf(state), state.headId).some(({ id }) => id === end)
  return { ...state, session: told, headId: isThere && !isGrown ? end : state.headId }
}

/** Notes what the other side's word was, before these rows say something else. */
export function noteAsked(held: Held, { session, headId }: SessionState, rows: readonly OutboxRow[]): void {
  if (!held.told && session?.rev !== undefined && rows.some(isChoice)) held.told = { ...session, headId }
}

/** Notes that a row was accepted: with which event or revision that will be told, where the other side says so. */
export function noteAccepted(held: Held, row: OutboxRow, state: SessionState, accepted: Accepted): void {
  if (!isChoice(row)) return
  const { n = 0, rev = 0 } = accepted.told ?? {}
  // Nobody says whether what was told meanwhile knew of it.
  if (n + rev === 0) held.told = undefined
  held.until = { n: Math.max(held.until.n, n), rev: Math.max(held.until.rev, rev) }
  if (!isTold(held, state)) held.accepted = [...held.accepted, row]
}

/** The state as it is stored: whoever reads it finds what was chosen in the outbox. */
export const asStored = (held: Held, outbox: Rows, state: SessionState): SessionState =>
  held.told && [...outbox.values()].some(isChoice)
    ? { ...state, session: held.told, headId: held.told.headId ?? state.headId }
    : state
