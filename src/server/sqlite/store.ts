import Sqlite, { type Database } from 'better-sqlite3'
import { type Env, platformEnv } from '../../lib/env.ts'
import { TidemarkError } from '../../lib/errors.ts'
import type { EventLog, HistoryStore } from '../ports.ts'
import { sqlStore } from '../sql/store.ts'
import { sqliteEngine } from './engine.ts'
import { migrate } from './migrations.ts'

export interface SqliteStoreOptions {
  /** Milliseconds between two looks for what other processes have written. @default 25 */
  poll?: number
  /** @default the platform's clock and randomness */
  env?: Partial<Env>
}

function open(path: string): Database {
  try {
    return new Sqlite(path)
  } catch (cause) {
    throw new TidemarkError('storage', `the database ${path} cannot be opened`, { cause })
  }
}

/**
 * A history store and event log in one SQLite file. Several processes may use the same file at once. What is accepted is on
 * disk when it is answered; a stream's deltas survive the process, not a loss of power.
 * @param file a path (made if absent), or a database of `better-sqlite3`, which stays yours to close
 * @throws `TidemarkError` with `storage` where the file cannot be opened, or was written by a newer version
 */
export function sqliteStore(
  file: string | Database,
  options: SqliteStoreOptions = {},
): HistoryStore & { readonly log: EventLog } {
  const { poll = 25 } = options
  const env = { ...platformEnv, ...options.env }
  const own = typeof file === 'string'
  const db = own ? open(file) : file
  try {
    // Opening, several processes may meet: here it is right to wait.
    db.pragma('busy_timeout = 10000')
    db.pragma('journal_mode = wal')
    migrate(db, env.now())
    const engine = sqliteEngine(db, { env, poll, onClose: () => own && db.close() })
    return sqlStore(engine)
  } catch (cause) {
    if (own) db.close()
    if (cause instanceof TidemarkError) throw cause
    throw new TidemarkError('storage', 'the database cannot be used', { cause })
  }
}
