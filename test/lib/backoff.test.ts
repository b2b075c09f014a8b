import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { backoffDelay } from '../../src/lib/backoff.ts'

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('a back-off', () => {
  test.each([
    [0, 500],
    [1, 1_000],
    [2, 2_000],
    [5, 16_000],
    [6, 30_000],
    [60, 30_000],
    [5_000, 30_000],
  ])('of attempt %i is at most %i ms', (attempt, most) => {
    expect(backoffDelay(attempt, 0)).toBe(0)
    expect(backoffDelay(attempt, 0.5)).toBe(most / 2)
    expect(backoffDelay(attempt, 1 - 1e-9)).toBe(most)
  })

  test('takes another base and another cap', () => {
    expect(backoffDelay(3, 1 - 1e-9, 0, { base: 10, cap: 50 })).toBe(50)
    expect(backoffDelay(1, 1 - 1e-9, 0, { base: 10 })).toBe(20)
  })

  test('is never shorter than the other side asked for, nor negative, nor no number', () => {
    fc.assert(
      fc.property(fc.nat(2_000), chance, fc.nat(100_000), (attempt, random, retryAfter) => {
        const delay = backoffDelay(attempt, random, retryAfter)
        expect(delay).toBeGreaterThanOrEqual(retryAfter)
        expect(delay).toBeLessThanOrEqual(Math.max(retryAfter, 30_000))
      }),
    )
  })

  test('uses all of its range: clients that lost the same server do not come back together', () => {
    const delays = Array.from({ length: 100 }, (_, n) => backoffDelay(4, n / 100))
    expect(new Set(delays).size).toBe(100)
  })
})
