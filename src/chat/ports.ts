import type { ErrorData } from '../lib/error-data.ts'
import type { AssistantBlock, Message, Session } from '../message/schema.ts'
import type { Command, CreateSession, PatchSession, SendMessage } from '../protocol/commands.ts'

/** A session with what sync knows of it. Counters live here, so that nothing is ever counted by a scan. */
export interface StoredSession {
  session: Session
  /** Event cursor: `<n>.<tag>` of the last applied event, or null. */
  eventId: string | null
  /** Change cursor: every change up to this revision is stored. */
  rev: number
  /** Message cursor: everything up to this message is settled and known to be complete. */
  tidemark: string | null
  /** The next local position: unacknowledged messages and outbox rows take it and add one. */
  nextLocal: number
  /** Whether everything older is stored, too. */
  complete: boolean
  /** Rises with every batch: whoever writes what is not built on the last one finds it out by this. */
  epoch: number
  /**
   * Rises when a tab takes the session over from another, or finds that the other side has another history: whoever knows a
   * lower one takes the rows as they are stored, and what it has written of them counts no more. @default 0
   */
  term?: number | undefined
  /** All that is left of a deleted session, so that nobody writes it again. It stands last in the list. */
  deleted?: boolean | undefined
}

/** One message in its place. */
export interface StoredMessage {
  message: Message
  /** Order within the session: `seq`, or `LOCAL_POSITION + n` for what has none yet. */
  position: number
}

/** Unacknowledged messages stand after all others, also where a server counts in microseconds. */
export const LOCAL_POSITION = 2 ** 52

/** A piece of a streaming answer, kept apart so that the growing message is not written again per delta. */
export interface JournalEntry {
  sessionId: string
  messageId: string
  /** The block's place in the message. */
  index: number
  /** Length of the block's text before this piece, in UTF-16 units. Overlaps are dropped at the fold. */
  offset: number
  text: string
  /** The block before its first piece; without it, text. */
  block?: AssistantBlock | undefined
}

/** What waits to be sent: the body of the request that will say it. */
export type OutboxRequest =
  | { type: 'createSession'; body: CreateSession }
  | { type: 'patchSession'; body: PatchSession }
  | { type: 'deleteSession' }
  | { type: 'send'; body: SendMessage }
  | { type: 'command'; body: Command }
  /** Goes on with an answer that was cut off. */
  | { type: 'resume'; body: { messageId: string; runId: string } }

export interface OutboxRow {
  /** The idempotency key: the message's or the command's id. */
  id: string
  sessionId: string
  /** Whose it is; sent only while the caller is still this one. */
  account: string
  /** Order within the session. */
  position: number
  request: OutboxRequest
  /** `refused`: the other side said no; followers wait until it is discarded or retried. */
  state: 'waiting' | 'refused'
  attempts: number
  /** Milliseconds since the epoch. */
  nextAttemptAt: number
  /** The tab that is sending it, or null. */
  claim: string | null
  error?: ErrorData | undefined
}

/** Derived and auxiliary records of later layers: summaries, call records, calibration, tool runs, quarantine. */
export interface StoredRecord {
  kind: string
  key: string
  sessionId: string | null
  value: unknown
}

/** One change of a batch. */
export type Change =
  | { type: 'session'; row: StoredSession }
  /** With everything that belongs to it, except its outbox rows. */
  | { type: 'deleteSession'; id: string }
  /** Puts the message whole, and drops its journal. */
  | { type: 'message'; row: StoredMessage }
  | { type: 'deleteMessage'; id: string }
  | { type: 'journal'; entry: JournalEntry }
  | { type: 'outbox'; row: OutboxRow }
  | { type: 'deleteOutbox'; id: string }
  | { type: 'record'; record: StoredRecord }
  | { type: 'deleteRecord'; kind: string; key: string }

/** A condition checked inside the transaction. One that fails rejects the whole batch with `conflict`. */
export type Guard =
  /** The stored message has this `rev`; null: it has none, or is absent. */
  | { type: 'rev'; messageId: string; rev: number | null }
  /** The outbox row exists and is claimed so. */
  | { type: 'claim'; outboxId: string; claim: string | null }
  /** The stored record's value has this `rev`; null: it has none, or there is no such record. */
  | { type: 'record'; kind: string; key: string; rev: number | null }
  /** No such outbox row, message or session. */
  | { type: 'absent'; table: 'outbox' | 'messages' | 'sessions'; id: string }
  /** The session has a row, and it is of this epoch. */
  | { type: 'epoch'; sessionId: string; epoch: number }

export interface CommitOptions {
  guards?: readonly Guard[]
  /** `strict`: on disk when the promise resolves, where the browser can say so. @default 'relaxed' */
  durability?: 'strict' | 'relaxed'
}

/** The name of a row among those that cannot be read: table and key. */
export const rowName = (table: string, key: readonly unknown[]): string => JSON.stringify([table, ...key])

export interface MessageWindow {
  session: StoredSession | undefined
  /** Ascending by position, journal folded in. */
  rows: readonly StoredMessage[]
  /** Whether rows below the window are stored. */
  hasOlder: boolean
  outbox: readonly OutboxRow[]
  /** Names (`rowName`) of the rows of this window that could not be read. They are not deleted. */
  unreadable?: readonly string[]
}

/**
 * Where a chat keeps what it knows. A batch is applied whole or not at all. Failures are thrown as `TidemarkError`:
 * `conflict` for a guard, `quota`, else `storage`.
 */
export interface ChatStorage {
  /** Whether what is committed outlives the page. */
  readonly durable: boolean
  /** Names the database to other tabs that share it; absent where none can. */
  readonly name?: string
  /** What start-up needs: the newest sessions, and every outbox row in order. */
  start(options: { sessions: number }): Promise<{
    sessions: readonly StoredSession[]
    outbox: readonly OutboxRow[]
    unreadable?: readonly string[]
  }>
  /** Sessions by recency (`updatedAt`, then id, descending), after the given one. */
  sessions(options: {
    after?: { updatedAt: number; id: string }
    limit: number
  }): Promise<readonly StoredSession[]>
  /** The newest `limit` messages of a session below `before` (exclusive), with its session row and outbox rows, read in one transaction. */
  window(sessionId: string, options: { before?: number; limit: number }): Promise<MessageWindow>
  /** Messages by id, journal folded in; absent ones are left out. */
  messages(ids: readonly string[]): Promise<readonly StoredMessage[]>
  records(kind: string, options?: { sessionId?: string }): Promise<readonly StoredRecord[]>
  commit(changes: readonly Change[], options?: CommitOptions): Promise<void>
  /** Idempotent. */
  close(): Promise<void>
}
