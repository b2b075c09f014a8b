import type { Database } from 'better-sqlite3'
import type { Env } from '../../lib/env.ts'

/** Wakes those who wait for a session's events, whichever process committed them. */
export interface Waker {
  wake(sessionId: string): void
  wait(sessionId: string, after: number, signal: AbortSignal): Promise<void>
  close(): void
}

interface Waiter {
  sessionId: string
  /** The last event it knows. */
  after: number
  wake(): void
}

type Waiters = Map<string, Set<Waiter>>

/** Adds a waiter; the returned function removes it. */
function enlist(waiters: Waiters, waiter: Waiter): () => void {
  const { sessionId } = waiter
  const own = waiters.get(sessionId) ?? new Set()
  waiters.set(sessionId, own.add(waiter))
  return () => {
    own.delete(waiter)
    if (own.size === 0 && waiters.get(sessionId) === own) waiters.delete(sessionId)
  }
}

/** Those who wait now; waking one changes the set. */
const listed = (waiters: Waiters): Waiter[] => [...waiters.values()].flatMap((own) => [...own])

/**
 * Looks for what other connections have committed: SQLite counts their changes, which costs a few microseconds to ask.
 * Only while somebody waits.
 */
function createWatch(db: Database, waiters: Waiters, isDue: (waiter: Waiter) => boolean) {
  const version = db.prepare<[], number>('pragma data_version').pluck()
  let seen = version.get()
  let watching = false
  return async (env: Pick<Env, 'sleep'>, poll: number, signal: AbortSignal): Promise<void> => {
    if (watching) return
    watching = true
    while (waiters.size > 0) {
      await env.sleep(poll, signal).catch(() => undefined)
      if (signal.aborted) break
      const now = version.get()
      if (now === seen) continue
      seen = now
      for (const waiter of listed(waiters)) if (isDue(waiter)) waiter.wake()
    }
    watching = false
  }
}

/**
 * Within the process a commit wakes at once; other processes' commits are noticed by looking.
 * @param poll milliseconds between two looks
 */
export function createWaker(db: Database, env: Pick<Env, 'sleep'>, poll: number): Waker {
  const waiters: Waiters = new Map()
  const closed = new AbortController()
  const lastEvent = db.prepare<[string], number>('select events from sessions where id = ?').pluck()
  /** A session that is gone has something to tell, too. */
  const isDue = ({ sessionId, after }: Waiter) => (lastEvent.get(sessionId) ?? after + 1) > after
  const watch = createWatch(db, waiters, isDue)
  return {
    wake(sessionId) {
      for (const waiter of [...(waiters.get(sessionId) ?? [])]) waiter.wake()
    },
    wait: (sessionId, after, signal) =>
      new Promise((resolve) => {
        if (signal.aborted || closed.signal.aborted) return resolve()
        const wake = () => {
          leave()
          signal.removeEventListener('abort', wake)
          resolve()
        }
        const waiter: Waiter = { sessionId, after, wake }
        const leave = enlist(waiters, waiter)
        signal.addEventListener('abort', wake, { once: true })
        // What was committed between the caller's look and now woke nobody.
        if (isDue(waiter)) return wake()
        void watch(env, poll, closed.signal)
      }),
    close() {
      closed.abort()
      for (const waiter of listed(waiters)) waiter.wake()
    },
  }
}
