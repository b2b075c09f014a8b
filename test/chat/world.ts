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
  /** What a promise ends with, letting time pass until it does. */
  ended<T>(promise: Promise<T>): Promise<T>
}

interface Clock {
  now: number
  sleepers: Set<Sleeper>
}

const sleepOn =
  (clock: Clock): Env['sleep'] =>
  (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const end = () => {
        clock.sleepers.delete(sleeper)
        signal?.removeEventListener('abort', onAbort)
      }
      const onAbort = () => {
        end()
        reject(signal?.reason)
      }
      const wake = () => {
        end()
        resolve()
      }
      const sleeper: Sleeper = { due: clock.now + ms, wake }
      clock.sleepers.add(sleeper)
      signal?.addEventListener('abort', onAbort, { once: true })
    })

/** Wakes the next sleeper that is due by then, and lets everything run that follows from it. */
async function wakeNext(clock: Clock, last: number): Promise<boolean> {
  const [sleeper] = [...clock.sleepers].sort((a, b) => a.due - b.due)
  if (!sleeper || sleeper.due > last) return false
  clock.now = Math.max(clock.now, sleeper.due)
  sleeper.wake()
  await idle()
  return true
}

/** A clock that stands still until it is told otherwise, ids that count, and chance that is always the same. */
export function createWorld({ random = 0.5, from = 1_000_000, name = 'id' } = {}): World {
  const clock: Clock = { now: from, sleepers: new Set() }
  let ids = 0
  const until: World['until'] = async (holds, patience = 31_000) => {
    for (let turn = 0; turn < 2_000; turn++) {
      if (holds()) return
      await idle(3)
      if (holds()) return
      await wakeNext(clock, clock.now + patience)
    }
    throw new Error(`never: ${holds}`)
  }
  return {
    env: {
      now: () => clock.now,
      random: () => random,
      createId: () => `${name}-${++ids}`,
      sleep: sleepOn(clock),
    },
    sleeping: () => clock.sleepers.size,
    async pass(ms) {
      const last = clock.now + ms
      await idle()
      while (await wakeNext(clock, last));
      clock.now = last
    },
    until,
    async ended(promise) {
      let over = false
      const note = () => {
        over = true
      }
      promise.then(note, note)
      await until(() => over)
      return promise
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
