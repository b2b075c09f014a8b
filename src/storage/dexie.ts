import { type ChatStorage, rowName } from '../chat/ports.ts'
import { type Env, platformEnv } from '../lib/env.ts'
import { createConnection } from './connection.ts'
import { createTransact, type Table, type Transact } from './database.ts'
import { createQuarantine } from './quarantine.ts'
import { type Reading, readMessages, readOutbox, readRecords, readSessions, readWindow } from './read.ts'
import { type SchemaVersion, VERSIONS } from './schema.ts'
import { tablesOf, writeBatch } from './write.ts'

export interface DexieStorageOptions {
  /** The clock behind `timeout`. @default the platform's */
  env?: Partial<Env>
  /** Milliseconds without an answer after which a call fails with `storage`. @default 5_000 */
  timeout?: number
}

const WINDOW: readonly Table[] = ['sessions', 'messages', 'journal', 'outbox']

/** What was found, and the names of what could not be read of it. */
async function whole<T extends object>({ unreadable }: Reading, found: Promise<T>) {
  const read = await found
  return unreadable.length > 0
    ? { ...read, unreadable: unreadable.map(({ table, key }) => rowName(table, key)) }
    : read
}

async function readStart(reading: Reading, limit: number) {
  const [sessions, outbox] = await Promise.all([readSessions(reading, { limit }), readOutbox(reading)])
  return { sessions, outbox }
}

/** The port over transactions. Apart from `dexieStorage`, so that another table of versions can be put under it. */
export function storageOver(
  name: string,
  versions: readonly SchemaVersion[],
  options: DexieStorageOptions = {},
): ChatStorage {
  const { env = {}, timeout = 5_000 } = options
  const connection = createConnection(name, versions)
  const transact: Transact = createTransact(connection, { env: { ...platformEnv, ...env }, timeout })
  const quarantine = createQuarantine(transact)

  async function read<T>(tables: readonly Table[], body: (reading: Reading) => Promise<T>): Promise<T> {
    const unreadable: Reading['unreadable'] = []
    const found = await transact({ tables, mode: 'readonly' }, (tx) => body({ tx, unreadable }))
    await quarantine(unreadable)
    return found
  }

  return {
    durable: true,
    name,
    start: ({ sessions }) =>
      read(['sessions', 'outbox'], (reading) => whole(reading, readStart(reading, sessions))),
    sessions: (query) => read(['sessions'], (reading) => readSessions(reading, query)),
    window: (sessionId, query) =>
      read(WINDOW, (reading) => whole(reading, readWindow(reading, sessionId, query))),
    messages: (ids) => read(['messages', 'journal'], (reading) => readMessages(reading, ids)),
    records: (kind, { sessionId } = {}) =>
      read(['records'], (reading) => readRecords(reading, kind, sessionId)),
    async commit(changes, { guards = [], durability = 'relaxed' } = {}) {
      const tables = tablesOf(changes, guards)
      if (tables.length === 0) return
      await transact({ tables, mode: 'readwrite', durability }, (tx, alive) =>
        writeBatch(tx, alive, changes, guards),
      )
    },
    close: async () => connection.close(),
  }
}

/**
 * A storage in the browser's IndexedDB, in the database `name`, by Dexie 4. Give each account a name of its own. Nothing is
 * opened before the first call. A database written by a newer version of this library is neither read nor written: every
 * call fails with `storage`, and so does one that the browser leaves without an answer for `timeout` milliseconds. A row
 * that cannot be read is left out and copied to the records of kind `quarantine`; nothing is ever deleted by itself.
 */
export const dexieStorage = (name: string, options: DexieStorageOptions = {}): ChatStorage =>
  storageOver(name, VERSIONS, options)
