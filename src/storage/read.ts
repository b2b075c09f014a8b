import { foldRow } from '../chat/journal.ts'
import type { MessageWindow, OutboxRow, StoredMessage, StoredRecord, StoredSession } from '../chat/ports.ts'
import { ROWS, type Rows } from '../chat/rows.ts'
import { isSettled } from '../message/schema.ts'
import { answer, type Table } from './database.ts'
import { INDEX, under } from './schema.ts'

/** A stored row that its schema refuses. */
export interface Unreadable {
  table: Table
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
function parse<T extends Table>({ unreadable }: Reading, table: T, rows: readonly unknown[]): Rows[T][] {
  const read: Rows[T][] = []
  for (const row of rows) {
    if (row === undefined) continue
    const result = ROWS[table].safeParse(row)
    if (result.success) read.push(result.data)
    else unreadable.push({ table, row, path: result.error.issues[0]?.path.join('.') ?? '' })
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

/** IndexedDB counts in 32 bits. */
const MOST = 2 ** 32 - 1

interface Newest<Row> {
  /** Ascending. */
  rows: Row[]
  hasOlder: boolean
}

/**
 * The newest readable `limit` rows of an index below `upper`. One look for the border and one request for all that lies
 * above it: a cursor would cost a trip for each. Rows with the same key stay together.
 */
async function newest<T extends Table>(
  reading: Reading,
  table: T,
  name: string,
  { lower, upper, limit }: { lower: IDBValidKey; upper: IDBValidKey; limit: number },
): Promise<Newest<Rows[T]>> {
  const index = reading.tx.objectStore(table).index(name)
  let rows: Rows[T][] = []
  let open = upper
  for (;;) {
    const wanted = Math.min(limit - rows.length, MOST)
    const border = await keyBelow(index, IDBKeyRange.bound(lower, open, false, open === upper), wanted)
    if (wanted > 0) {
      const above = IDBKeyRange.bound(border ?? lower, open, border !== undefined, open === upper)
      rows = [...parse(reading, table, await answer<unknown[]>(index.getAll(above))), ...rows]
    }
    // Rows that could not be read do not count: what is below them is asked for instead.
    if (border === undefined || rows.length >= limit) return { rows, hasOlder: border !== undefined }
    open = border
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
