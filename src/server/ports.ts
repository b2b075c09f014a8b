import type { SessionRecords } from '../context/session-records.ts'
import type { Message, Session } from '../message/schema.ts'
import type { ChatEvent, EventId, RunOutcome } from '../protocol/events.ts'

/** One session, as seen by its owner. */
export interface Scope {
  /** Who `authorize` says the caller is. */
  account: string
  sessionId: string
}

/** A session with its counters. They stand in its row, under its lock, so that numbers rise without holes. */
export interface SessionRow {
  account: string
  session: Session
  /** The last place given to a message. */
  seq: number
  /** The last revision given. */
  rev: number
  /** The number of the last event; 0 before the first. */
  events: number
  /** The tag of the last event. */
  tag: string | null
  /** Events up to this number are no longer kept. */
  trimmed: number
  /** Events up to this number are known to be in an event log of their own. */
  published: number
  /** The last epoch given to a run. */
  epoch: number
  /** A tombstone: nothing but the id is left. */
  deleted: boolean
}

export interface MessageRow {
  /** Whole: what was streamed so far is in it. `seq` and `rev` are set. */
  message: Message
  /** The run that wrote it; for a user message, the latest one that answers it. */
  runId: string | null
  /** The number of the last event that is in the message. Deltas behind it are added when it is read. */
  folded: number
}

/** `waiting`: for somebody's word about a call, or for a result from elsewhere; nothing else runs meanwhile. */
export type RunState = 'queued' | 'running' | 'waiting' | 'finished'

export interface RunRow {
  id: string
  sessionId: string
  /** `steer`: a send that the run in flight makes way for. `tombstone`: cancelled before it was known; a later send under this id starts nothing. */
  kind: 'send' | 'steer' | 'regenerate' | 'continue' | 'tombstone'
  state: RunState
  /** Order among the session's runs. */
  place: number
  /** The user message to answer, or the answer to go on from; null for a tombstone. */
  answers: string | null
  /** Ids of the messages it wrote, in order. */
  messages: readonly string[]
  /** Which lease may write; compared in the transaction of each write. */
  epoch: number
  /**
   * Milliseconds since the epoch. A running run whose lease has lapsed has no producer any more; a waiting one has waited
   * long enough, or has something to do.
   */
  leaseUntil: number
  outcome: RunOutcome | null
  /** The number of its `run.finished`. */
  ended: number | null
}

/** What an idempotency key stands for: a message or a command that was accepted. */
export interface KeyRow {
  key: string
  sessionId: string
  /** Of the accepted body. */
  hash: string
  messageId: string | null
  runId: string | null
  /** The event that made it known. */
  event: EventId
}

export interface EventRow {
  id: EventId
  event: ChatEvent
}

/** Where a message stands in the tree. */
export interface Place {
  id: string
  parentId: string | null
  seq: number
}

/** What a decision has to see besides the session, its running run and its queue. */
export interface Needs {
  /** Messages by id, with the runs they belong to. */
  messages?: readonly string[]
  /** Runs by id. */
  runs?: readonly string[]
  /** An idempotency key. */
  key?: string
  /** Every message that is not settled. */
  unsettled?: boolean
  /** What the runs that have not ended answer, and what follows the newest message of the one in flight. */
  queue?: boolean
  /** The branch that ends in this message. */
  path?: string
  /** The places of this message and of all that follow it. */
  below?: string
}

/** What a decision sees: one consistent state of one session. */
export interface View {
  /** Undefined where the account has no such session; a deleted one is there as a tombstone. */
  session: SessionRow | undefined
  /** The id is another account's. */
  foreign: boolean
  /** The run that is running, or waits. */
  active: RunRow | undefined
  /** Runs that wait, in order. */
  queue: readonly RunRow[]
  /** What was asked for by id, and because it is unsettled or queued; only messages of this session. */
  messages: ReadonlyMap<string, MessageRow>
  runs: ReadonlyMap<string, RunRow>
  /** Ids asked for that the account uses in another session, or has deleted. */
  taken: ReadonlySet<string>
  key: KeyRow | undefined
  /** Oldest first. */
  path: readonly Message[]
  below: readonly Place[]
}

/** One change of a decision, applied in the order given. */
export type Change =
  /** `recent`: it comes first in the list of sessions. */
  | { type: 'session'; row: SessionRow; recent: boolean }
  | { type: 'message'; row: MessageRow }
  /** Leaves a tombstone. */
  | { type: 'deleteMessage'; id: string; rev: number }
  | { type: 'run'; row: RunRow }
  | { type: 'key'; row: KeyRow }
  | { type: 'event'; row: EventRow }
  /** Forgets events up to this number. */
  | { type: 'trim'; upTo: number }
  /** Forgets the session's messages, runs, keys and events. */
  | { type: 'empty' }

export interface Decision<T> {
  changes: readonly Change[]
  answer: T
}

export type PageQuery =
  | { type: 'newest'; limit: number }
  /** What follows a message, by `seq`. */
  | { type: 'after'; id: string; limit: number }
  /** What comes before a message, by `seq`. */
  | { type: 'before'; id: string; limit: number }
  /** What changed after a revision, by `rev`. */
  | { type: 'changed'; since: number; limit: number }

/** A page, read in one snapshot with the session's counters. */
export interface Page {
  session: SessionRow
  messages: readonly Message[]
  hasMore: boolean
  /** The cursor could not be proven: these are the newest messages instead. */
  limited: boolean
  /** Up to this revision nothing is missing, once this page and those before it are applied. */
  rev: number
  deleted: readonly { id: string; rev: number }[]
}

export interface TransactOptions {
  /** Whether a loss of power may take it back: deltas, not what a client was promised. @default false */
  relaxed?: boolean
}

/**
 * Where a server keeps its truth: sessions, messages, runs, keys and the events that tell of them, all of one session's
 * change in one transaction. Failures are thrown as `TidemarkError` with the code `storage` or `quota`.
 */
export interface HistoryStore {
  /** The store's own event log, in which all that is committed stands at once; there is nothing to publish to it. */
  readonly log?: EventLog
  /**
   * Locks the session's row, shows `decide` what it needs, and commits what it decides, whole or not at all.
   * `decide` is pure: it may be asked again where the transaction has to be repeated. What it throws takes everything back
   * and is thrown on.
   */
  transact<T>(
    scope: Scope,
    needs: Needs,
    decide: (view: View) => Decision<T>,
    options?: TransactOptions,
  ): Promise<T>
  /** The same view without a lock, in one snapshot. */
  read(scope: Scope, needs: Needs): Promise<View>
  /** Undefined where the account has no such session; a tombstone answers an empty page. */
  page(scope: Scope, query: PageQuery): Promise<Page | undefined>
  /** Sessions of an account, the most recent first. Undefined for an unknown `after`. */
  sessions(
    account: string,
    query: { after?: string; limit: number },
  ): Promise<{ sessions: readonly Session[]; hasMore: boolean } | undefined>
  /** Sessions with something to take over: a running or waiting run whose lease lapsed before `now`, or a queue and no running run. */
  stale(now: number, limit: number): Promise<readonly Scope[]>
  /** Sessions with events that are not known to be in the event log. */
  unpublished(limit: number): Promise<readonly { sessionId: string; published: number }[]>
  /** Committed events after a number, in order, as far as they are kept. */
  events(sessionId: string, after: number, limit: number): Promise<readonly EventRow[]>
  /** Says that events up to this number are in the event log. */
  markPublished(sessionId: string, upTo: number): Promise<void>
  /** What is derived from a session, such as the records of its calls. It goes with the session. Absent where none is kept. */
  records?(scope: Scope): SessionRecords
  /** Idempotent. */
  close(): Promise<void>
}

export interface LogPage {
  /** In order. The first may have another number than the asked one plus one: what lies between is gone, or not yet here. */
  entries: readonly EventRow[]
  /** The number of the last event in the log; 0 in an empty one. */
  tail: number
}

/**
 * The events of all sessions in order: a replayable projection of what the history store committed. Any server can read
 * it from any cursor. Notifications only wake; what there is, is found by reading.
 */
export interface EventLog {
  /** Adds events, in order. Those that are there already are left out. */
  append(sessionId: string, entries: readonly EventRow[]): Promise<void>
  read(sessionId: string, after: number, limit: number): Promise<LogPage>
  /** Resolves when there may be an event after this number, at the latest when aborted. Never rejects. */
  wait(sessionId: string, after: number, signal: AbortSignal): Promise<void>
}
