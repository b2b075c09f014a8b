import { isSettled, type Message, type Session } from '../message/schema.ts'
import type { EventId } from './events.ts'

/** Why later events cannot be applied: something before them is missing. */
export interface Missing {
  /** First and last missing event number, where known. */
  from?: number
  to?: number
  reason: 'hole' | 'trimmed' | 'diverged' | 'restarted' | 'offset' | 'malformed' | 'emptied'
}

/**
 * What a client knows of one session: the fold of its events and of the rows it was given. Immutable; a part that does
 * not change stays the same object.
 */
export interface SessionState {
  readonly sessionId: string
  readonly session: Session | undefined
  /** Last message of the selected branch, the client's own unsent messages included. */
  readonly headId: string | null
  /** Answers in flight. Apart from the rest, so that a delta copies a map of one or two entries. */
  readonly live: ReadonlyMap<string, Message>
  /** All other messages. */
  readonly rest: ReadonlyMap<string, Message>
  /** Deleted messages with the revision of their end, so that a late event does not bring them back. */
  readonly tombstones: ReadonlyMap<string, number>
  /** The last applied event. */
  readonly cursor: EventId | null
  /** The change cursor: every change up to this revision is in here. */
  readonly rev: number
  /** The place that the next message gets whose server gives none. */
  readonly nextSeq: number
  /** Runs in flight. */
  readonly runs: ReadonlySet<string>
  /** Set when events are missing; cleared by a snapshot, or by the events that filled the hole. */
  readonly missing: Missing | null
  /** The server counts offsets in other units than UTF-16: they are ignored where numbers prove the order. */
  readonly offsetsIgnored: boolean
  /** Rows of answers in flight were read that may know more than the events up to the cursor. */
  readonly ahead: boolean
  readonly deleted: boolean
}

const none: ReadonlyMap<string, never> = new Map<string, never>()

export const emptyState = (sessionId: string): SessionState => ({
  sessionId,
  session: undefined,
  headId: null,
  live: none,
  rest: none,
  tombstones: none,
  cursor: null,
  rev: 0,
  nextSeq: 1,
  runs: new Set(),
  missing: null,
  offsetsIgnored: false,
  ahead: false,
  deleted: false,
})

/** What nearly every event changes. */
export type Hot = Pick<SessionState, 'live' | 'cursor' | 'rev' | 'missing' | 'offsetsIgnored' | 'ahead'>

/**
 * The state with its hot part replaced. Written out, since this is done per delta, where copying the whole object by
 * spread costs V8 ten times as much.
 */
export const withHot = (state: SessionState, hot: Hot): SessionState => ({
  sessionId: state.sessionId,
  session: state.session,
  headId: state.headId,
  live: hot.live,
  rest: state.rest,
  tombstones: state.tombstones,
  cursor: hot.cursor,
  rev: hot.rev,
  nextSeq: state.nextSeq,
  runs: state.runs,
  missing: hot.missing,
  offsetsIgnored: hot.offsetsIgnored,
  ahead: hot.ahead,
  deleted: state.deleted,
})

/**
 * The answers in flight with one that grew. A map begun anew costs a third of one that is copied, and mostly there is only
 * one answer.
 */
export const withGrown = (live: SessionState['live'], message: Message): SessionState['live'] =>
  (live.size > 1 ? new Map(live) : new Map<string, Message>()).set(message.id, message)

/** Something that was added to a block: what a list can append, and what the journal stores. */
export interface Piece {
  messageId: string
  index: number
  /** Length of the block's text before, in UTF-16 units. */
  offset: number
  text: string
  /** Whether the block began with this piece. */
  opens: boolean
}

/** What a fold did, for those who render and store it. */
export interface Trace {
  pieces: Piece[]
  /** Messages that changed other than by pieces. */
  changed: Set<string>
  removed: Set<string>
}

export const newTrace = (): Trace => ({ pieces: [], changed: new Set(), removed: new Set() })

export const messageOf = (state: SessionState, id: string): Message | undefined =>
  state.live.get(id) ?? state.rest.get(id)

/** All messages, in no order. A list: a generator costs several times as much over a long history. */
export const messagesOf = ({ live, rest }: SessionState): Message[] => [...live.values(), ...rest.values()]

/** The id of a message by the one that the client gave it, where the other side gave another. */
export const idIn = (state: SessionState, id: string): string =>
  messageOf(state, id) ? id : (messagesOf(state).find(({ clientId }) => clientId === id)?.id ?? id)

const isLive = (message: Message) => message.role !== 'user' && !isSettled(message)

/** The state with these messages put in; those that are there already, as the same object, cost nothing. */
export function putMessages(state: SessionState, messages: readonly Message[], trace?: Trace): SessionState {
  const changed = messages.filter((message) => messageOf(state, message.id) !== message)
  if (changed.length === 0) return state
  let { nextSeq } = state
  const live = new Map(state.live)
  // Copied only where it changes: it holds the whole history.
  const touchesRest = changed.some((message) => !isLive(message) || state.rest.has(message.id))
  const rest = touchesRest ? new Map(state.rest) : undefined
  for (const message of changed) {
    trace?.changed.add(message.id)
    trace?.removed.delete(message.id)
    nextSeq = Math.max(nextSeq, (message.seq ?? 0) + 1)
    if (isLive(message)) {
      rest?.delete(message.id)
      live.set(message.id, message)
    } else {
      live.delete(message.id)
      rest?.set(message.id, message)
    }
  }
  return { ...state, live, rest: rest ?? state.rest, nextSeq }
}

/** The state without a message. */
export function removeMessage(state: SessionState, id: string, trace?: Trace): SessionState {
  const message = messageOf(state, id)
  if (!message) return state
  trace?.removed.add(id)
  trace?.changed.delete(id)
  const live = new Map(state.live)
  const rest = new Map(state.rest)
  live.delete(id)
  rest.delete(id)
  return { ...state, live, rest, headId: state.headId === id ? message.parentId : state.headId }
}
