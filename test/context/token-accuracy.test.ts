import { describe, expect, test } from 'vitest'
import { devSamples, FAMILIES } from '../../scripts/tokens/corpus.ts'
import { judge } from '../../scripts/tokens/judge.ts'
import { createEstimator, type EstimatorOptions } from '../../src/context/estimate.ts'
import { FAMILIES as names } from '../../src/context/families.ts'
import { createLargeEstimator } from '../../src/context/large-estimate.ts'

const samples = devSamples()

/** Bars of the token issue, as parts of the exact count: on text of sources that acceptance does not use. */
const cases = [
  { tables: 'small', create: createEstimator, long: 0.05, short: 0.09 },
  { tables: 'large', create: createLargeEstimator, long: 0.035, short: 0.078 },
]

describe.each(cases)('with $tables tables', ({ create, long, short }) => {
  const estimators = names.map((family) => create({ family }))
  const tokens = (text: string, family: number): number => estimators[family]?.text(text) ?? 0

  test.each([
    ['long', true, long],
    ['short', false, short],
  ] as const)('%s texts of 48 kinds come out right, on average and in each kind', (_, isLong, most) => {
    const { mean, farthest } = judge(
      samples.filter((sample) => sample.long === isLong),
      tokens,
    )
    expect(mean).toBeLessThanOrEqual(most)
    if (isLong) expect(Math.abs(farthest.by), JSON.stringify(farthest)).toBeLessThanOrEqual(0.15)
  })

  test('bounds hold nine of ten counts, of short texts and of long ones', () => {
    for (const isLong of [true, false]) {
      let held = 0
      let all = 0
      for (const { text, counts } of samples.filter((sample) => sample.long === isLong)) {
        for (let family = 0; family < FAMILIES; family++) {
          const { low, high } = estimators[family]?.bounds(tokens(text, family)) ?? { low: 0, high: 0 }
          const count = counts[family] ?? 0
          all++
          if (low <= count && count <= high) held++
        }
      }
      expect(held / all).toBeGreaterThanOrEqual(0.9)
    }
  })

  test('bounds of a tokenizer that nobody knows hold as often', () => {
    const options: EstimatorOptions = { model: 'somebody/else-7b' }
    const unknown = create(options)
    const held = samples.filter(({ text, counts }) => {
      const { low, high } = unknown.bounds(unknown.text(text))
      const count = counts[FAMILIES] ?? 0
      return low <= count && count <= high
    })
    expect(held.length / samples.length).toBeGreaterThanOrEqual(0.9)
  })
})
