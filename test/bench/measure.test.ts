import { describe, expect, test } from 'vitest'
import { type Case, isHeld, measure, quantile, shuffled } from '../../bench/measure.ts'

/** Contestants that say their times instead of taking them. */
function scripted(times: Record<string, readonly number[]>): { given: Case; order: string[] } {
  const order: string[] = []
  const contestants = Object.entries(times).map(([name, own]) => {
    let at = 0
    return {
      name,
      units: 1_000,
      run() {
        order.push(name)
        return own[at++ % own.length] ?? Number.NaN
      },
    }
  })
  return { given: { name: 'scripted', unit: 'piece', contestants, claims: [] }, order }
}

describe('what is measured side by side', () => {
  test('is compared by medians, with the quartiles of the rounds, in nanoseconds per piece', async () => {
    const { given } = scripted({ ours: [2, 4, 90], floor: [1, 2, 3] })
    const claims = [{ of: 'ours', to: 'floor', most: 1.9 }]
    const { times, ratios } = await measure({ ...given, claims }, { rounds: 3, warmUp: 0 })
    expect(times[0]).toMatchObject({ name: 'ours', rounds: 3, median: 4_000, low: 3_000, high: 47_000 })
    expect(ratios).toEqual([{ of: 'ours', to: 'floor', most: 1.9, median: 2, low: 2, high: 16 }])
  })

  test('takes turns: everybody once a round, in another order each time', async () => {
    const { given, order } = scripted({ a: [1], b: [1], c: [1] })
    let seed = 7
    const random = () => {
      seed = (seed * 16_807) % 2_147_483_647
      return seed / 2_147_483_647
    }
    await measure(given, { rounds: 8, warmUp: 2, random })
    const rounds = Array.from({ length: 10 }, (_, at) => order.slice(at * 3, at * 3 + 3).join(''))
    for (const round of rounds) expect([...round].sort().join('')).toBe('abc')
    expect(new Set(rounds).size).toBeGreaterThan(2)
  })

  test('does not count the rounds before', async () => {
    const { given } = scripted({ a: [1_000, 1_000, 5] })
    const { times } = await measure(given, { rounds: 1, warmUp: 2 })
    expect(times[0]?.median).toBe(5_000)
  })

  test('lets who is slow sit out most rounds, and pairs only rounds that both were in', async () => {
    const { given } = scripted({ slow: [30, 50], fast: [1, 2, 3, 4, 5, 6] })
    const [slow, fast] = given.contestants
    if (!slow || !fast) throw new Error('two were made')
    const claims = [{ of: 'slow', to: 'fast' }]
    const contestants = [{ ...slow, every: 3 }, fast]
    const { times, ratios } = await measure({ ...given, contestants, claims }, { rounds: 6, warmUp: 0 })
    expect(times[0]).toMatchObject({ rounds: 2, median: 40_000 })
    expect(ratios[0]).toMatchObject({ median: 40 / 3.5, low: 40 / 3.5, high: 25.625 })
  })

  test('says who does not take part', async () => {
    const { given } = scripted({ a: [1] })
    await expect(measure({ ...given, claims: [{ of: 'a', to: 'b' }] })).rejects.toThrow('does not take part')
  })
})

test('a value between two is taken for what lies between them', () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5)
  expect(quantile([1], 0.75)).toBe(1)
})

test('an order by chance loses nobody', () => {
  expect(shuffled([1, 2, 3], () => 0.999)).toEqual([3, 2, 1])
  expect(shuffled([1, 2, 3], () => 0)).toEqual([1, 2, 3])
})

test.each([
  [{ most: 1.3, median: 1.3 }, true],
  [{ most: 1.3, median: 1.31 }, false],
  [{ least: 10, median: 10 }, true],
  [{ least: 10, median: 9.99 }, false],
  [{ median: 5 }, undefined],
])('%o is held: %s', ({ median, ...bound }, held) => {
  expect(isHeld({ ...bound, median, low: 0, high: 99 })).toBe(held)
})
