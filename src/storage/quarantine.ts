import type { StoredRecord } from '../chat/ports.ts'
import type { Table, Transact } from './database.ts'
import { valueAt } from './guards.ts'
import type { Unreadable } from './read.ts'

/** Where a row names its key and its session. */
const PLACES: { readonly [T in Table]: { key: readonly string[]; session: string } } = {
  sessions: { key: ['session.id'], session: 'session.id' },
  messages: { key: ['message.id'], session: 'message.sessionId' },
  journal: { key: ['messageId', 'index', 'offset'], session: 'sessionId' },
  outbox: { key: ['id'], session: 'sessionId' },
  records: { key: ['kind', 'key'], session: 'sessionId' },
}

function copyOf({ table, row, path }: Unreadable): StoredRecord {
  const { key, session } = PLACES[table]
  const at = (place: string) => valueAt(row, place.split('.'))
  const sessionId = at(session)
  return {
    kind: 'quarantine',
    key: JSON.stringify([table, ...key.map(at)]),
    sessionId: typeof sessionId === 'string' ? sessionId : null,
    value: { table, row, path },
  }
}

/** Copies rows that cannot be read to the records of kind `quarantine`, each once; the rows stay where they are. */
export function createQuarantine(transact: Transact): (rows: readonly Unreadable[]) => Promise<void> {
  const known = new Set<string>()
  return async (rows) => {
    const copies = rows.map(copyOf).filter(({ key }) => !known.has(key))
    if (copies.length === 0) return
    try {
      await transact({ tables: ['records'], mode: 'readwrite' }, (tx) => {
        for (const copy of copies) tx.objectStore('records').put(copy)
      })
      for (const { key } of copies) known.add(key)
    } catch {
      // The rows that can be read are worth more than the copies of those that cannot; the next read tries again.
    }
  }
}
