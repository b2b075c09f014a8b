import type { Database, Statement } from 'better-sqlite3'
import { Kysely, type SqliteDatabase, SqliteDialect, sql } from 'kysely'
import type { Env } from '../../lib/env.ts'
import { TidemarkError } from '../../lib/errors.ts'
import type { Engine } from '../sql/store.ts'
import type { Db, Tables } from '../sql/tables.ts'
import { createWaker } from './wake.ts'

/** Milliseconds for which a transaction waits for its turn among other connections. */
const PATIENCE = 10_000
/** Statements kept prepared; their number is small by nature. */
const MAX_STATEMENTS = 500

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''

const isBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error))

/** A failure of the engine in our words. What a decision threw is nothing of that. */
function failure(error: unknown): unknown {
  const code = codeOf(error)
  if (!code.startsWith('SQLITE_')) return error
  if (code.startsWith('SQLITE_FULL')) return new TidemarkError('quota', 'the disk is full', { cause: error })
  return new TidemarkError('storage', 'the database failed', { cause: error })
}

/** Kysely prepares each query anew; the same few come again and again. */
function cached(db: Database): SqliteDatabase {
  const statements = new Map<string, Statement<unknown[]>>()
  return {
    close: () => undefined,
    prepare(text) {
      const known = statements.get(text)
      if (known) return known
      if (statements.size >= MAX_STATEMENTS) statements.clear()
      const statement = db.prepare<unknown[]>(text)
      statements.set(text, statement)
      return statement
    },
  }
}

/** One transaction on one connection: whole, or as if it had never been. */
async function transaction<T>(
  raw: Database,
  db: Db,
  begin: 'begin' | 'begin immediate',
  work: (db: Db) => Promise<T>,
): Promise<T> {
  await sql.raw(begin).execute(db)
  try {
    const result = await work(db)
    await sql.raw('commit').execute(db)
    return result
  } catch (error) {
    // After some failures SQLite has rolled back by itself.
    if (raw.inTransaction) await sql.raw('rollback').execute(db)
    throw error
  }
}

export interface SqliteEngineOptions {
  env: Env
  poll: number
  /** Called at the end, when nothing uses the database any more. */
  onClose(): void
}

/**
 * SQLite through one connection. Nothing waits for a lock inside SQLite, which would stop this process's every other
 * request, and for ever where the lock's holder is in the same process: who finds it busy sleeps and tries again.
 */
export function sqliteEngine(db: Database, { env, poll, onClose }: SqliteEngineOptions): Engine {
  const kysely = new Kysely<Tables>({ dialect: new SqliteDialect({ database: cached(db) }) })
  const waker = createWaker(db, env, poll)
  let closed: Promise<void> | undefined
  db.pragma('busy_timeout = 0')

  /** Waits its turn on the connection, then among other connections. */
  async function patiently<T>(attempt: (db: Db) => Promise<T>): Promise<T> {
    const started = env.now()
    for (let tries = 0; ; tries++) {
      if (closed) throw new TidemarkError('storage', 'the store is closed')
      try {
        return await kysely.connection().execute(attempt)
      } catch (error) {
        if (!isBusy(error) || env.now() - started > PATIENCE) throw failure(error)
        await env.sleep(1 + env.random() * Math.min(20, 2 ** tries))
      }
    }
  }
  async function end(): Promise<void> {
    // The connection's turn comes when nobody else has it any more.
    await kysely.connection().execute(async () => undefined)
    waker.close()
    await kysely.destroy()
    onClose()
  }

  return {
    write: (work, { relaxed }) =>
      patiently(async (connection) => {
        // Full: on disk when the commit returns. Normal: safe from a crash of the process, not of the machine.
        await sql.raw(`pragma synchronous = ${relaxed ? 'normal' : 'full'}`).execute(connection)
        return transaction(db, connection, 'begin immediate', work)
      }),
    read: (work) => patiently((connection) => transaction(db, connection, 'begin', work)),
    wake: waker.wake,
    wait: waker.wait,
    close() {
      closed ??= end()
      return closed
    },
  }
}
