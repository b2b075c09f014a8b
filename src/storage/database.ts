import type { Rows } from '../chat/rows.ts'
import type { Env } from '../lib/env.ts'
import { TidemarkError } from '../lib/errors.ts'
import type { Connection } from './connection.ts'
import { storageError } from './failure.ts'

export type Table = keyof Rows

export interface TransactOptions {
  tables: readonly Table[]
  mode: IDBTransactionMode
  /** @default 'relaxed' */
  durability?: 'strict' | 'relaxed'
}

/** What is done in a transaction: requests only, nothing else may be awaited. `alive` tells long work from a hang. */
export type Body<T> = (tx: IDBTransaction, alive: () => void) => T | Promise<T>

/** Runs `body` in one transaction. Resolves when it is complete: all of it is stored, else nothing. */
export type Transact = <T>(options: TransactOptions, body: Body<T>) => Promise<T>

/** The answer to a request. */
export const answer = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

/** The end of a transaction. Nothing else tells of an abort: in Chromium a request that finds no space never settles. */
const finished = (tx: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    tx.oncomplete = () => resolve()
    tx.onabort = () => reject(tx.error ?? new DOMException('The transaction was aborted', 'AbortError'))
  })

function abort(tx: IDBTransaction): void {
  try {
    tx.abort()
  } catch {
    // It is over already.
  }
}

/** Resolves once `timeout` milliseconds passed without a sign of life. */
async function silence(env: Env, timeout: number, signal: AbortSignal, beats: () => number): Promise<void> {
  for (let grace = true; ; ) {
    const seen = beats()
    const asked = env.now()
    await env.sleep(timeout, signal)
    // A machine that slept wakes up with its timers first: the database gets its time again, once.
    const slept = grace && env.now() - asked > 2 * timeout
    if (slept) grace = false
    else if (beats() === seen) return
  }
}

/** A dead handle shows only in its use. Nothing has been written then, so a new one may be tried. */
async function begin(connection: Connection, options: TransactOptions): Promise<IDBTransaction> {
  const { tables, mode, durability = 'relaxed' } = options
  const start = (db: IDBDatabase) => db.transaction(tables, mode, { durability })
  const db = await connection.open()
  try {
    return start(db)
  } catch (thrown) {
    if (!(thrown instanceof DOMException) || thrown.name !== 'InvalidStateError') throw thrown
    connection.drop()
    return start(await connection.open())
  }
}

/**
 * Transactions on a connection. They are the browser's own and not Dexie's: only so can each have a durability of its own,
 * and a small write costs half.
 */
export function createTransact(
  connection: Connection,
  { env, timeout }: { env: Env; timeout: number },
): Transact {
  return async (options, body) => {
    const clock = new AbortController()
    let beats = 0
    let hung: TidemarkError | undefined
    let running: IDBTransaction | undefined
    const work = async () => {
      const tx = await begin(connection, options)
      running = tx
      // Whoever asked has been told that it failed: nothing may be written behind their back.
      if (hung) throw hung
      const value = (async () => body(tx, () => beats++))()
      const end = finished(tx)
      // What was read is known with the last answer; what was written only when the transaction is complete.
      const done = options.mode === 'readonly' ? Promise.race([value, end]) : Promise.all([value, end])
      await done
      return value
    }
    const watch = async () => {
      await silence(env, timeout, clock.signal, () => beats)
      hung = new TidemarkError('storage', `TimeoutError: IndexedDB did not answer within ${timeout} ms`)
      throw hung
    }
    try {
      return await Promise.race([work(), watch()])
    } catch (thrown) {
      if (running) abort(running)
      if (running && hung) connection.drop()
      // What aborted the transaction says more than what failed because of that.
      throw storageError(running?.error ?? thrown)
    } finally {
      clock.abort()
    }
  }
}
