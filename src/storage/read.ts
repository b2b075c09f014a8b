import { foldRow } from '../chat/journal.ts'
import type { MessageWindow, OutboxRow, StoredMessage, StoredRecord, StoredSession } from '../chat/ports.ts'
import { ROWS, type Rows } from '../chat/rows.ts'
import { isSettled } from '../message/schema.ts'
import { answer, type Table } from './database.ts'
import { valueAt } from './guards.ts'
import { INDEX, under } from './schema.ts'

/** A stored row that its schema refuses. */
export interface Unreadable {
  table: Table
  /** Its primary key: one value, or several. */
  key: unknown[]
  row: unknown
  /** Where it is not as it should be. */
  path: string
}

/** A transaction to read in, and where what cannot be read is put. */
export interface Reading {
  tx: IDBTransaction
  unreadable: Unreadable[]
}

/** Rows as the schema reads them; what it refuses is left out and noted. Rows may be of another version, or damaged. */
function parse<T extends Table>({ tx, unreadable }: Reading, table: T, rows: readonly unknown[]): Rows[T][] {
  const read: Rows[T][] = []
  for (const row of rows) {
    if (row === undefined) continue
    const result = ROWS[table].safeParse(row)
    if (result.success) read.push(result.data)
    else {
      const key = [tx.objectStore(table).keyPath].flat().map((path) => valueAt(row, path ?? ''))
      unreadable.push({ table, key, row, path: result.error.issues[0]?.path.join('.') ?? '' })
    }
  }
  return read
}

/** The first key below the `limit` highest ones of a range; undefined where there are no more than those. */
function keyBelow(
  index: IDBIndex,
  range: IDBKeyRange | null,
  limit: number,
): Promise<IDBValidKey | undefined> {
  let skip = limit
  return new Promise((resolve, reject) => {
    const request = index.openKeyCursor(range, 'prevunique')
    request.onerror = () => reject(request.error)
    request.onsuccess = () => {
      const cursor = request.result
      if (!cursor || skip === 0) return resolve(cursor?.key)
      cursor.advance(skip)
      skip = 0
    }
  })
}

/** What browsers since 2025 have: rows from the top, with their keys, in one answer. */
interface WithRecords {
  getAllRecords(options: {
    query: IDBKeyRange
    count: number
    direction: 'prev'
  }): IDBRequest<{ key: IDBValidKey; value: unknown }[]>
}

const hasRecords = (index: IDBIndex): index is IDBIndex & WithRecords => 'getAllRecords' in index

interface Top {
  /** Ascending. */
  rows: unknown[]
  /** The highest key below them, where there is one. */
  border: IDBValidKey | undefined
}

/** The `limit` highest rows of a range; rows with the same key stay together. A cursor over them would cost a trip for each. */
async function top(index: IDBIndex, range: IDBKeyRange, limit: number): Promise<Top> {
  if (hasRecords(index)) {
    const records = await answer(index.getAllRecords({ query: range, count: limit + 1, direction: 'prev' }))
    const border = records[limit]?.key
    const rows = records.slice(0, limit).map(({ value }) => value)
    const lowest = records[limit - 1]?.key
    const torn = border !== undefined && lowest !== undefined && indexedDB.cmp(border, lowest) === 0
    if (!torn) return { rows: rows.reverse(), border }
  }
  const border = await keyBelow(index, range, limit)
  const above = IDBKeyRange.bound(border ?? range.lower, range.upper, border !== undefined, range.upperOpen)
  return { rows: limit > 0 ? await answer<unknown[]>(index.getAll(above)) : [], border }
}

/** IndexedDB counts in 32 bits. */
const MOST = 2 ** 32 - 2

/** The newest readable `limit` rows of an index, ascending, and whether there are older ones. */
async function newest<T extends Table>(
  reading: Reading,
  table: T,
  name: string,
  { lower, upper, limit }: { lower: IDBValidKey; upper: IDBValidKey; limit: number },
): Promise<{ rows: Rows[T][]; hasOlder: boolean }> {
  const index = reading.tx.objectStore(table).index(name)
  let read: Rows[T][] = []
  for (let range = IDBKeyRange.bound(lower, upper, false, true); ; ) {
    const { rows, border } = await top(index, range, Math.min(limit - read.length, MOST))
    read = [...parse(reading, table, rows), ...read]
    // Rows that could not be read do not count: what is below them is asked for instead.
    if (border === undefined || read.length >= limit) return { rows: read, hasOlder: border !== undefined }
    range = IDBKeyRange.bound(lower, border)
  }
}

/** Messages that may still grow, with the pieces that came since they were written. */
async function withJournals(reading: Reading, rows: readonly StoredMessage[]): Promise<StoredMessage[]> {
  const journal = reading.tx.objectStore('journal')
  return Promise.all(
    rows.map(async (row) => {
      if (isSettled(row.message)) return row
      return foldRow(
        row,
        parse(reading, 'journal', await answer<unknown[]>(journal.getAll(under(row.message.id)))),
      )
    }),
  )
}

export async function readSessions(
  reading: Reading,
  { after, limit }: { after?: { updatedAt: number; id: string }; limit: number },
): Promise<StoredSession[]> {
  const upper: IDBValidKey = after ? [after.updatedAt, after.id] : [[]]
  const { rows } = await newest(reading, 'sessions', INDEX.sessionsByRecency, { lower: [], upper, limit })
  return rows.reverse()
}

/** Outbox rows in their order: of one session, or of all, session by session. */
export async function readOutbox(reading: Reading, sessionId?: string): Promise<OutboxRow[]> {
  const index = reading.tx.objectStore('outbox').index(INDEX.outboxByPosition)
  const range = sessionId === undefined ? null : under(sessionId)
  return parse(reading, 'outbox', await answer<unknown[]>(index.getAll(range)))
}

export async function readWindow(
  reading: Reading,
  sessionId: string,
  { before, limit }: { before?: number; limit: number },
): Promise<MessageWindow> {
  const bounds = { lower: [sessionId], upper: [sessionId, before ?? []], limit }
  const [session, { rows, hasOlder }, outbox] = await Promise.all([
    answer<unknown>(reading.tx.objectStore('sessions').get(sessionId)),
    newest(reading, 'messages', INDEX.messagesByPosition, bounds),
    readOutbox(reading, sessionId),
  ])
  return {
    session: parse(reading, 'sessions', [session])[0],
    rows: await withJournals(reading, rows),
    hasOlder,
    outbox,
  }
}

export async function readMessages(reading: Reading, ids: readonly string[]): Promise<StoredMessage[]> {
  const messages = reading.tx.objectStore('messages')
  const found = await Promise.all([...new Set(ids)].map((id) => answer<unknown>(messages.get(id))))
  return withJournals(reading, parse(reading, 'messages', found))
}

export async function readRecords(
  reading: Reading,
  kind: string,
  sessionId?: string,
): Promise<StoredRecord[]> {
  const records = reading.tx.objectStore('records')
  const request =
    sessionId === undefined
      ? records.getAll(under(kind))
      : records.index(INDEX.recordsBySession).getAll([sessionId, kind])
  return parse(reading, 'records', await answer<unknown[]>(request))
}
