import type { ChatStorage } from '../../src/chat/ports.ts'
import type { Env } from '../../src/lib/env.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import type { Operation, WatchedStorage } from '../chat/storages.ts'

/** What can befall an operation of a storage. */
export type Fault =
  /** It fails, and nothing of it is done: an abort, a dead handle, a refused open. */
  | 'refused'
  /** The disk is full. */
  | 'full'
  /** It is done, and then told as a failure: a hang that was given up a moment too early. */
  | 'belied'
  /** No answer comes: it is given up after five seconds, and nothing of it is done. */
  | 'hung'
  /** The database is deleted before it. */
  | 'emptied'

export interface FaultyStorage extends ChatStorage {
  /** How often it was asked for anything. */
  asked(): number
  /** From now on all goes well. */
  mend(): void
}

/** A storage whose operations, counted from 1, meet with faults. */
export function faultyStorage(
  inner: WatchedStorage,
  env: Env,
  faultOf: (n: number, operation: Operation) => Fault | undefined,
): FaultyStorage {
  let count = 0
  let mended = false
  const error = (name: string, code: 'storage' | 'quota' = 'storage') =>
    new TidemarkError(code, `${name}: operation ${count}`)
  const step = async <T>(operation: Operation, body: () => Promise<T>): Promise<T> => {
    count++
    const fault = mended ? undefined : faultOf(count, operation)
    if (fault === 'refused') throw error('AbortError')
    if (fault === 'full') throw error('QuotaExceededError', 'quota')
    if (fault === 'hung') {
      await env.sleep(5_000)
      throw error('TimeoutError')
    }
    if (fault === 'emptied') inner.empty()
    const done = await body()
    if (fault === 'belied') throw error('TimeoutError')
    return done
  }
  return {
    durable: true,
    asked: () => count,
    mend() {
      mended = true
    },
    start: (options) => step('start', () => inner.start(options)),
    sessions: (options) => step('sessions', () => inner.sessions(options)),
    window: (id, options) => step('window', () => inner.window(id, options)),
    messages: (ids) => step('messages', () => inner.messages(ids)),
    records: (kind, options) => step('records', () => inner.records(kind, options)),
    commit: (changes, options) => step('commit', () => inner.commit(changes, options)),
    close: () => inner.close(),
  }
}
