import type { Env } from '../../lib/env.ts'
import { TidemarkError } from '../../lib/errors.ts'

/** A bucket of requests: `max` at once, refilled evenly over `per` milliseconds. */
export interface Rate {
  max: number
  per: number
}

/** Admits requests by account. Kept in this instance alone. */
export interface RateLimit {
  /** Throws `rate-limit` with the milliseconds to wait. */
  admit(account: string): void
}

/** Accounts remembered at once; beyond it, those with a full bucket are forgotten. */
const MAX_ACCOUNTS = 10_000

export function createRateLimit({ max, per }: Rate, env: Pick<Env, 'now'>): RateLimit {
  const buckets = new Map<string, { left: number; at: number }>()
  const refilled = ({ left, at }: { left: number; at: number }, now: number) =>
    // A clock that was set back gives nothing, and takes nothing.
    Math.min(max, left + (Math.max(0, now - at) * max) / per)
  const forget = (now: number) => {
    for (const [account, bucket] of buckets) if (refilled(bucket, now) >= max) buckets.delete(account)
  }
  return {
    admit(account) {
      const now = env.now()
      const left = refilled(buckets.get(account) ?? { left: max, at: now }, now)
      if (left < 1) {
        const retryAfter = Math.ceil(((1 - left) * per) / max)
        throw new TidemarkError('rate-limit', `more than ${max} requests in ${per / 1000} s`, {
          status: 429,
          retryAfter,
        })
      }
      if (buckets.size >= MAX_ACCOUNTS) forget(now)
      buckets.set(account, { left: left - 1, at: now })
    },
  }
}

/** Counts what is open by account. */
export interface Slots {
  /** Throws `rate-limit` where `max` are taken; the returned function gives the slot back, once. */
  take(account: string): () => void
}

export function createSlots(max: number, what: string): Slots {
  const taken = new Map<string, number>()
  return {
    take(account) {
      const count = taken.get(account) ?? 0
      if (count >= max) {
        throw new TidemarkError('rate-limit', `${max} ${what} are open already`, {
          status: 429,
          retryAfter: 1000,
        })
      }
      taken.set(account, count + 1)
      let open = true
      return () => {
        if (!open) return
        open = false
        const left = (taken.get(account) ?? 1) - 1
        if (left > 0) taken.set(account, left)
        else taken.delete(account)
      }
    },
  }
}
