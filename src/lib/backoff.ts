export interface BackoffOptions {
  /** Milliseconds, upper bound of the first delay. @default 500 */
  base?: number
  /** Milliseconds, upper bound of every delay. @default 30_000 */
  cap?: number
}

/**
 * Exponential back-off with full jitter: a delay in milliseconds, anywhere between 0 and `base · 2^attempt`, at most `cap`.
 * Full jitter spreads clients that lost the same server.
 * @param attempt 0 for the first retry
 * @param random a number in [0, 1)
 * @param retryAfter milliseconds the other side asked for: a floor, also above the cap
 */
export function backoffDelay(
  attempt: number,
  random: number,
  retryAfter = 0,
  options: BackoffOptions = {},
): number {
  const { base = 500, cap = 30_000 } = options
  return Math.max(retryAfter, Math.round(random * Math.min(cap, base * 2 ** attempt)))
}
