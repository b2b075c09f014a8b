import type { Transaction } from 'dexie'
import type { Rows } from '../chat/rows.ts'

/** A version of the stored schema, and the way to it from the one before. */
export interface SchemaVersion {
  version: number
  /** Tables as Dexie spells them: primary key, then indexes. Null deletes a table; what is not named stays as it was. */
  tables: { readonly [table: string]: string | null }
  /** Brings the rows of the version before into the form of this one, inside the upgrade's transaction. */
  upgrade?: (transaction: Transaction) => PromiseLike<unknown>
}

const TABLES: { readonly [Table in keyof Rows]: string } = {
  sessions: 'session.id, [session.updatedAt+session.id]',
  messages: 'message.id, [message.sessionId+position], [message.sessionId+message.rev]',
  journal: '[messageId+index+offset]',
  outbox: 'id, [sessionId+position], nextAttemptAt',
  records: '[kind+key], [sessionId+kind]',
}

/**
 * Every version there ever was, ascending. A released row of this table is never edited: a change is a new row, with an
 * `upgrade` where rows have to follow. A browser may come from any of them, and goes through all that lie between.
 */
export const VERSIONS: readonly SchemaVersion[] = [{ version: 1, tables: TABLES }]

/** Indexes by the name under which IndexedDB knows them. */
export const INDEX = {
  sessionsByRecency: '[session.updatedAt+session.id]',
  messagesByPosition: '[message.sessionId+position]',
  outboxByPosition: '[sessionId+position]',
  recordsBySession: '[sessionId+kind]',
} as const

/** Every key that begins with `prefix`: arrays sort behind everything else that may follow. */
export const under = (...prefix: IDBValidKey[]): IDBKeyRange => IDBKeyRange.bound(prefix, [...prefix, []])
