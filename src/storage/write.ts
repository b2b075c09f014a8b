import type { Change, Guard } from '../chat/ports.ts'
import { answer, type Table } from './database.ts'
import { checkGuard, watched } from './guards.ts'
import { INDEX, under } from './schema.ts'

/** What the writing of a batch knows besides the batch. */
interface Batch {
  tx: IDBTransaction
  alive: () => void
  /** Messages with a journal, where it was worth asking; else any may have one. */
  journaled: Set<unknown> | undefined
}

interface Write<C extends Change> {
  tables: readonly Table[]
  /** Issues its requests in order; a promise where it has to read first. */
  apply(batch: Batch, change: C): void | Promise<void>
}

function dropJournal({ tx, journaled }: Batch, messageId: IDBValidKey): void {
  if (!journaled || journaled.has(messageId)) tx.objectStore('journal').delete(under(messageId))
}

/** So many requests are sent at once before one is waited for. */
const STRIDE = 500

async function deleteSession(batch: Batch, id: string): Promise<void> {
  const { tx, alive } = batch
  const messages = tx.objectStore('messages')
  const records = tx.objectStore('records')
  const [messageIds, recordKeys] = await Promise.all([
    answer(messages.index(INDEX.messagesByPosition).getAllKeys(under(id))),
    answer(records.index(INDEX.recordsBySession).getAllKeys(under(id))),
  ])
  tx.objectStore('sessions').delete(id)
  for (const key of recordKeys) records.delete(key)
  for (const [i, messageId] of messageIds.entries()) {
    dropJournal(batch, messageId)
    const deleted = messages.delete(messageId)
    if (i % STRIDE !== STRIDE - 1) continue
    await answer(deleted)
    alive()
  }
}

const WRITES: { readonly [T in Change['type']]: Write<Extract<Change, { type: T }>> } = {
  session: { tables: ['sessions'], apply: ({ tx }, { row }) => void tx.objectStore('sessions').put(row) },
  deleteSession: {
    tables: ['sessions', 'messages', 'journal', 'records'],
    apply: (batch, { id }) => deleteSession(batch, id),
  },
  message: {
    tables: ['messages', 'journal'],
    apply(batch, { row }) {
      dropJournal(batch, row.message.id)
      batch.tx.objectStore('messages').put(row)
    },
  },
  deleteMessage: {
    tables: ['messages', 'journal'],
    apply(batch, { id }) {
      dropJournal(batch, id)
      batch.tx.objectStore('messages').delete(id)
    },
  },
  journal: {
    tables: ['journal'],
    apply({ tx, journaled }, { entry }) {
      journaled?.add(entry.messageId)
      tx.objectStore('journal').put(entry)
    },
  },
  outbox: { tables: ['outbox'], apply: ({ tx }, { row }) => void tx.objectStore('outbox').put(row) },
  deleteOutbox: {
    tables: ['outbox'],
    apply: ({ tx }, { id }) => void tx.objectStore('outbox').delete(id),
  },
  record: { tables: ['records'], apply: ({ tx }, { record }) => void tx.objectStore('records').put(record) },
  deleteRecord: {
    tables: ['records'],
    apply: ({ tx }, { kind, key }) => void tx.objectStore('records').delete([kind, key]),
  },
}

const apply = <T extends Change['type']>(
  batch: Batch,
  change: Extract<Change, { type: T }>,
): void | Promise<void> => (WRITES[change.type] as Write<Extract<Change, { type: T }>>).apply(batch, change)

/** The tables a batch touches. */
export const tablesOf = (changes: readonly Change[], guards: readonly Guard[]): Table[] => [
  ...new Set([
    ...changes.flatMap((change) => WRITES[change.type].tables),
    ...guards.map((guard) => watched(guard).table),
  ]),
]

/** Below this many messages, deleting journals that may not be there costs less than asking which are. */
const MANY = 8

async function journaledIn(
  tx: IDBTransaction,
  changes: readonly Change[],
): Promise<Set<unknown> | undefined> {
  const drops = changes.filter(({ type }) => type === 'message' || type === 'deleteMessage').length
  if (drops < MANY && !changes.some(({ type }) => type === 'deleteSession')) return undefined
  const keys = await answer(tx.objectStore('journal').getAllKeys())
  return new Set(keys.map((key) => Array.isArray(key) && key[0]))
}

/**
 * Checks the guards, then writes the changes in their order. Throws `conflict` for the first guard that fails. The
 * transaction is left to commit by itself: `tx.commit()` would save a trip, but could no longer be taken back after a hang.
 */
export async function writeBatch(
  tx: IDBTransaction,
  alive: () => void,
  changes: readonly Change[],
  guards: readonly Guard[],
): Promise<void> {
  const [journaled, ...found] = await Promise.all([
    journaledIn(tx, changes),
    ...guards.map((guard) => {
      const { table, id } = watched(guard)
      return answer<unknown>(tx.objectStore(table).get(id))
    }),
  ])
  for (const [i, guard] of guards.entries()) checkGuard(guard, found[i])
  for (const change of changes) {
    const reading = apply({ tx, alive, journaled }, change)
    if (reading) await reading
  }
}
