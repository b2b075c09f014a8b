import { rowName, type StoredRecord } from '../chat/ports.ts'
import type { Transact } from './database.ts'
import { valueAt } from './guards.ts'
import type { Unreadable } from './read.ts'

/** Where rows name their session. */
const SESSION = ['sessionId', 'message.sessionId', 'session.id']

function copyOf({ table, key, row, path }: Unreadable): StoredRecord {
  const sessionId = SESSION.map((place) => valueAt(row, place)).find((id) => typeof id === 'string')
  return {
    kind: 'quarantine',
    key: rowName(table, key),
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
