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

/** What a change does to the first of its tables, and which journal goes with it. */
interface Write<C extends Change> {
  tables: readonly [Table, ...Table[]]
  put?(change: C): unknown
  delete?(change: C): IDBValidKey
  /** The message that has a journal from now on. */
  opens?(change: C): string
  /** The message whose journal is dropped. */
  settles?(change: C): string
  /** What takes reading first. */
  run?(batch: Batch, change: C): Promise<void>
}

const WRITES: { readonly [T in Change['type']]: Write<Extract<Change, { type: T }>> } = {
  session: { tables: ['sessions'], put: ({ row }) => row },
  deleteSession: {
    tables: ['sessions', 'messages', 'journal', 'records'],
    delete: ({ id }) => id,
    run: (batch, { id }) => deleteContents(batch, id),
  },
  message: { tables: ['messages', 'journal'], put: ({ row }) => row, settles: ({ row }) => row.message.id },
  deleteMessage: { tables: ['messages', 'journal'], delete: ({ id }) => id, settles: ({ id }) => id },
  journal: { tables: ['journal'], put: ({ entry }) => entry, opens: ({ entry }) => entry.messageId },
  outbox: { tables: ['outbox'], put: ({ row }) => row },
  deleteOutbox: { tables: ['outbox'], delete: ({ id }) => id },
  record: { tables: ['records'], put: ({ record }) => record },
  deleteRecord: { tables: ['records'], delete: ({ kind, key }) => [kind, key] },
}

const writeOf = <T extends Change['type']>(change: Extract<Change, { type: T }>) =>
  WRITES[change.type] as Write<Extract<Change, { type: T }>>

function dropJournal({ tx, journaled }: Batch, messageId: IDBValidKey): void {
  if (!journaled || journaled.has(messageId)) tx.objectStore('journal').delete(under(messageId))
}

/** So many requests are sent at once before one is waited for. */
const STRIDE = 500

/** The messages and records of a session, and the journals of the former. */
async function deleteContents(batch: Batch, sessionId: string): Promise<void> {
  const { tx, alive } = batch
  const messages = tx.objectStore('messages')
  const records = tx.objectStore('records')
  const [messageIds, recordKeys] = await Promise.all([
    answer(messages.index(INDEX.messagesByPosition).getAllKeys(under(sessionId))),
    answer(records.index(INDEX.recordsBySession).getAllKeys(under(sessionId))),
  ])
  for (const key of recordKeys) records.delete(key)
  for (const [i, messageId] of messageIds.entries()) {
    dropJournal(batch, messageId)
    const deleted = messages.delete(messageId)
    if (i % STRIDE !== STRIDE - 1) continue
    await answer(deleted)
    alive()
  }
}

async function apply<T extends Change['type']>(
  batch: Batch,
  change: Extract<Change, { type: T }>,
): Promise<void> {
  const write = writeOf(change)
  const store = batch.tx.objectStore(write.tables[0])
  if (write.opens) batch.journaled?.add(write.opens(change))
  if (write.settles) dropJournal(batch, write.settles(change))
  if (write.put) store.put(write.put(change))
  if (write.delete) store.delete(write.delete(change))
  await write.run?.(batch, change)
}

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
  const settling = changes.filter(({ type }) => WRITES[type].settles).length
  if (settling < MANY && !changes.some(({ type }) => type === 'deleteSession')) return undefined
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
  for (const change of changes) await apply({ tx, alive, journaled }, change)
}
