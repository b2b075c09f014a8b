import { nanoid } from 'nanoid'

/**
 * Time, chance and ids: the only way in which they enter the library. Pass your own to make a run repeatable.
 */
export interface Env {
  /** Milliseconds since the epoch; for display and waiting, never for order. */
  now(): number
  /** A number in [0, 1). */
  random(): number
  /** An id that matches `[A-Za-z0-9_-]{1,64}`. */
  createId(): string
  /** Resolves after `ms` milliseconds (at most 24 days); rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Timers count in 32 bits; a longer wait would end at once. */
const LONGEST = 2 ** 31 - 1

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      },
      Math.min(ms, LONGEST),
    )
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** The platform's clock and randomness. */
export const platformEnv: Env = {
  now: () => Date.now(),
  random: () => Math.random(),
  createId: () => nanoid(),
  sleep,
}
