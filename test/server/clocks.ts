import { platformEnv } from '../../src/lib/env.ts'

/** A clock that is set by hand; of its waits only the shortest end by themselves. */
export function frozen() {
  const clock = { now: 1_000 }
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      if (ms < 20) platformEnv.sleep(ms, signal).then(resolve, reject)
      if (signal?.aborted) reject(signal.reason)
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
  return { clock, env: { now: () => clock.now, sleep } }
}

/** A clock that only moves when told, with everything that waits for it. */
export function virtual(now = 1_000) {
  const clock = { now }
  const waiting = new Set<{ at: number; wake(): void }>()
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const wake = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const sleeper = { at: clock.now + ms, wake }
      const onAbort = () => {
        waiting.delete(sleeper)
        reject(signal?.reason)
      }
      if (signal?.aborted) return reject(signal.reason)
      signal?.addEventListener('abort', onAbort, { once: true })
      waiting.add(sleeper)
    })
  /** Lets time pass, and each waiter do what it waited for in its turn. */
  async function pass(ms: number): Promise<void> {
    const end = clock.now + ms
    for (;;) {
      const [next] = [...waiting].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (!next) break
      clock.now = Math.max(clock.now, next.at)
      waiting.delete(next)
      next.wake()
      await new Promise((resolve) => setImmediate(resolve))
    }
    clock.now = end
  }
  return { env: { now: () => clock.now, sleep }, pass }
}
