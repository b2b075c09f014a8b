import { foldRow } from '../chat/journal.ts'
import type {
  Change,
  ChatStorage,
  Guard,
  JournalEntry,
  MessageWindow,
  OutboxRow,
  StoredMessage,
  StoredRecord,
  StoredSession,
} from '../chat/ports.ts'
import { closedError, storageError } from './failure.ts'
import { checkGuard, watched } from './guards.ts'

interface Tables {
  sessions: Map<string, StoredSession>
  messages: Map<string, StoredMessage>
  /** By message, then by place: an entry put twice replaces the first. */
  journal: Map<string, Map<string, JournalEntry>>
  outbox: Map<string, OutboxRow>
  records: Map<string, StoredRecord>
}

/** By code unit, as IndexedDB orders its keys. */
const compare = <T extends string | number>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)

const byRecency = (a: StoredSession, b: StoredSession): number =>
  compare(b.session.updatedAt, a.session.updatedAt) || compare(b.session.id, a.session.id)

const byPlace = (a: OutboxRow, b: OutboxRow): number =>
  compare(a.sessionId, b.sessionId) || compare(a.position, b.position) || compare(a.id, b.id)

const recordKey = (kind: string, key: string): string => JSON.stringify([kind, key])

function deleteWhere<T>(rows: Map<string, T>, condition: (row: T) => boolean): void {
  for (const [key, row] of rows) if (condition(row)) rows.delete(key)
}

const APPLY: {
  readonly [T in Change['type']]: (tables: Tables, change: Extract<Change, { type: T }>) => void
} = {
  session: ({ sessions }, { row }) => sessions.set(row.session.id, row),
  deleteSession: ({ sessions, messages, journal, records }, { id }) => {
    sessions.delete(id)
    for (const [key, { message }] of messages) {
      if (message.sessionId !== id) continue
      messages.delete(key)
      journal.delete(key)
    }
    deleteWhere(records, (record) => record.sessionId === id)
  },
  message: ({ messages, journal }, { row }) => {
    messages.set(row.message.id, row)
    journal.delete(row.message.id)
  },
  deleteMessage: ({ messages, journal }, { id }) => {
    messages.delete(id)
    journal.delete(id)
  },
  journal: ({ journal }, { entry }) => {
    const entries = journal.get(entry.messageId) ?? new Map<string, JournalEntry>()
    journal.set(entry.messageId, entries.set(`${entry.index} ${entry.offset}`, entry))
  },
  outbox: ({ outbox }, { row }) => outbox.set(row.id, row),
  deleteOutbox: ({ outbox }, { id }) => outbox.delete(id),
  record: ({ records }, { record }) => records.set(recordKey(record.kind, record.key), record),
  deleteRecord: ({ records }, { kind, key }) => records.delete(recordKey(kind, key)),
}

const apply = <T extends Change['type']>(tables: Tables, change: Extract<Change, { type: T }>): void =>
  (APPLY[change.type] as (tables: Tables, change: Extract<Change, { type: T }>) => void)(tables, change)

const folded = ({ journal }: Tables, row: StoredMessage): StoredMessage =>
  foldRow(row, [...(journal.get(row.message.id)?.values() ?? [])])

/** The newest `limit` of rows in ascending order. Rows that share a position stay together. */
function newest(rows: readonly StoredMessage[], limit: number): StoredMessage[] {
  let from = Math.max(0, rows.length - limit)
  while (from > 0 && from < rows.length && rows[from]?.position === rows[from - 1]?.position) from--
  return rows.slice(from)
}

const recent = ({ sessions }: Tables): StoredSession[] => [...sessions.values()].sort(byRecency)

function sessionsAfter(
  tables: Tables,
  after: { updatedAt: number; id: string } | undefined,
): StoredSession[] {
  if (!after) return recent(tables)
  const isOlder = ({ session: { updatedAt, id } }: StoredSession) =>
    updatedAt < after.updatedAt || (updatedAt === after.updatedAt && id < after.id)
  return recent(tables).filter(isOlder)
}

function windowOf(tables: Tables, sessionId: string, before: number, limit: number): MessageWindow {
  const stored = [...tables.messages.values()]
    .filter(({ message, position }) => message.sessionId === sessionId && position < before)
    .sort((a, b) => compare(a.position, b.position) || compare(a.message.id, b.message.id))
  const rows = newest(stored, limit)
  return {
    session: tables.sessions.get(sessionId),
    rows: rows.map((row) => folded(tables, row)),
    hasOlder: rows.length < stored.length,
    outbox: [...tables.outbox.values()].filter((row) => row.sessionId === sessionId).sort(byPlace),
  }
}

const messagesOf = (tables: Tables, ids: readonly string[]): StoredMessage[] =>
  [...new Set(ids)].flatMap((id) => {
    const row = tables.messages.get(id)
    return row ? [folded(tables, row)] : []
  })

const recordsOf = ({ records }: Tables, kind: string, sessionId: string | undefined): StoredRecord[] =>
  [...records.values()]
    .filter((record) => record.kind === kind && (sessionId === undefined || record.sessionId === sessionId))
    .sort((a, b) => compare(a.key, b.key))

function write(tables: Tables, changes: readonly Change[], guards: readonly Guard[]): void {
  const copies = structuredClone(changes)
  for (const guard of guards) {
    const { table, id } = watched(guard)
    checkGuard(guard, tables[table].get(typeof id === 'string' ? id : recordKey(...id)))
  }
  for (const change of copies) apply(tables, change)
}

/**
 * A storage that lives as long as the page: for tests, servers that render pages, and browsers that refuse a better one.
 * What is handed in and out is copied, so that nobody can change what is stored through an object they hold.
 */
export function memoryStorage(): ChatStorage {
  const tables: Tables = {
    sessions: new Map(),
    messages: new Map(),
    journal: new Map(),
    outbox: new Map(),
    records: new Map(),
  }
  let closed = false

  /** Runs as one step, copies the answer, and answers failures as promises do. */
  async function step<T>(body: () => T): Promise<T> {
    if (closed) throw closedError()
    try {
      return structuredClone(body())
    } catch (thrown) {
      throw storageError(thrown)
    }
  }

  return {
    durable: false,
    start: ({ sessions }) =>
      step(() => ({
        sessions: recent(tables).slice(0, sessions),
        outbox: [...tables.outbox.values()].sort(byPlace),
      })),
    sessions: ({ after, limit }) => step(() => sessionsAfter(tables, after).slice(0, limit)),
    window: (sessionId, { before = Number.POSITIVE_INFINITY, limit }) =>
      step(() => windowOf(tables, sessionId, before, limit)),
    messages: (ids) => step(() => messagesOf(tables, ids)),
    records: (kind, { sessionId } = {}) => step(() => recordsOf(tables, kind, sessionId)),
    commit: (changes, { guards = [] } = {}) => step(() => write(tables, changes, guards)),
    close: async () => {
      closed = true
    },
  }
}
