import type { Locks } from './platform.ts'

/** A browser has six connections to a server that speaks HTTP/1.1, for all that its tabs want of it. */
export const SEATS = 4

/** A session's claim to one of the few connections that last. */
export interface Seat {
  /** Whether it has one now. Where none is free it waits in line. */
  take(): Promise<boolean>
  has(): boolean
  /** Gives it up, or the place in line. Returns whether there was either. */
  give(): boolean
}

/** Asks for a lock and keeps it until the signal ends, where `wants` says so. Resolves once it is had, or is not. */
function ask(
  locks: Locks,
  name: string,
  options: { ifAvailable: true } | { signal: AbortSignal },
  signal: AbortSignal,
  wants: () => boolean,
): Promise<void> {
  return new Promise((resolve) => {
    const held = (lock?: unknown) =>
      new Promise<void>((release) => {
        if (lock !== null && !signal.aborted && wants()) signal.addEventListener('abort', () => release())
        else release()
        resolve()
      })
    const request = async () => locks.request(name, options, held)
    request().catch(() => {
      // Where locks are refused, nobody is kept away by them.
      if (!signal.aborted) wants()
      resolve()
    })
  })
}

/**
 * Seats are locks, so that a tab that is gone has none. Without locks everybody has one.
 * @param onFree called once there is one after all
 */
export function createSeat(locks: Locks | undefined, name: string, onFree: () => void): Seat {
  let own: AbortController | undefined
  let asked: Promise<unknown> | undefined
  let has = false
  const find = async (signal: AbortSignal) => {
    const names = Array.from({ length: SEATS }, (_, at) => `tidemark:${name}#${at}`)
    let [late, had] = [false, !locks]
    const wants = () => {
      if (had) return false
      had = has = true
      if (late) onFree()
      return true
    }
    if (!locks) has = true
    else {
      for (const name of names)
        if (!had && !signal.aborted) await ask(locks, name, { ifAvailable: true }, signal, wants)
      late = true
      // The first that is free; the others are let go as they come.
      if (!had) for (const name of names) void ask(locks, name, { signal }, signal, wants)
    }
  }
  return {
    async take() {
      if (!own) {
        own = new AbortController()
        asked = find(own.signal)
      }
      await asked
      return has
    },
    has: () => has,
    give() {
      const had = !!own
      own?.abort()
      own = undefined
      has = false
      return had
    },
  }
}
