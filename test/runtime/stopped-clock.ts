import type { Env } from '../../src/lib/env.ts'

export interface Clock extends Pick<Env, 'now' | 'sleep'> {
  /** Timers that wait, by their length. */
  readonly waiting: readonly number[]
  /** Resolves when a timer of that length waits. */
  waitsFor(ms: number): Promise<void>
  /** Ends the timers of that length. */
  ring(ms: number): void
}

/** Time that passes only when told to. */
export function stoppedClock(now = 1_000_000): Clock {
  const timers = new Set<{ ms: number; end: () => void }>()
  let heard: (() => void)[] = []
  return {
    now: () => now,
    get waiting() {
      return [...timers].map(({ ms }) => ms)
    },
    async waitsFor(ms) {
      while (![...timers].some((timer) => timer.ms === ms))
        await new Promise<void>((resolve) => heard.push(resolve))
    },
    ring(ms) {
      for (const timer of [...timers]) if (timer.ms === ms) timer.end()
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const timer = {
          ms,
          end() {
            timers.delete(timer)
            resolve()
          },
        }
        timers.add(timer)
        signal?.addEventListener('abort', () => {
          timers.delete(timer)
          reject(signal.reason)
        })
        for (const tell of heard) tell()
        heard = []
      }),
  }
}
