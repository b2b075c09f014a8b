import { afterEach, expect } from 'vitest'
import type { Env } from '../../src/lib/env.ts'

/** Lets everything run that waits for nothing but its turn. */
export async function idle(turns = 12): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}

interface Sleeper {
  due: number
  wake(): void
}

export interface World {
  env: Env
  /** Sleeps that were begun and have not ended. */
  sleeping(): number
  /** Lets `ms` pass, one sleeper after the other, each with all that follows from it. */
  pass(ms: number): Promise<void>
  /**
   * Waits until something holds, letting time pass where nothing else happens: as far as the next sleeper that is due within
   * `patience`, so that no silence is waited for by accident.
   */
  until(holds: () => boolean, patience?: number): Promise<void>
}

/** A clock that stands still until it is told otherwise, ids that count, and chance that is always the same. */
export function createWorld({ random = 0.5, from = 1_000_000, name = 'id' } = {}): World {
  let now = from
  let ids = 0
  const sleepers = new Set<Sleeper>()
  const next = () => [...sleepers].sort((a, b) => a.due - b.due)[0]
  const sleep: Env['sleep'] = (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const end = () => {
        sleepers.delete(sleeper)
        signal?.removeEventListener('abort', onAbort)
      }
      const onAbort = () => {
        end()
        reject(signal?.reason)
      }
      const sleeper: Sleeper = {
        due: now + ms,
        wake() {
          end()
          resolve()
        },
      }
      sleepers.add(sleeper)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  const wakeNext = async (last: number): Promise<boolean> => {
    const sleeper = next()
    if (!sleeper || sleeper.due > last) return false
    now = Math.max(now, sleeper.due)
    sleeper.wake()
    await idle()
    return true
  }
  return {
    env: { now: () => now, random: () => random, createId: () => `${name}-${++ids}`, sleep },
    sleeping: () => sleepers.size,
    async pass(ms) {
      const last = now + ms
      await idle()
      while (await wakeNext(last));
      now = last
    },
    async until(holds, patience = 31_000) {
      for (let turn = 0; turn < 2_000; turn++) {
        if (holds()) return
        await idle(3)
        if (holds()) return
        await wakeNext(now + patience)
      }
      throw new Error(`never: ${holds}`)
    },
  }
}

/** Fails a test in which a promise was rejected and nobody looked. Call once in a file. */
export function noStrayRejections(): void {
  const stray: unknown[] = []
  const onRejection = (reason: unknown) => stray.push(reason)
  process.on('unhandledRejection', onRejection)
  afterEach(async () => {
    await idle(3)
    expect(stray.splice(0)).toEqual([])
  })
}
