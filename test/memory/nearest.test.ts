import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cosine, keepBest, normalised } from '../../src/memory/nearest.ts'

const number = fc.double({ min: -1, max: 1, noNaN: true })
const vectorOf = (dims: number) => fc.array(number, { minLength: dims, maxLength: dims })

test('the cosine is that of the definition, for vectors of any length', () => {
  const pair = fc.integer({ min: 1, max: 19 }).chain((dims) => fc.tuple(vectorOf(dims), vectorOf(dims)))
  fc.assert(
    fc.property(pair, ([one, other]) => {
      const length = (vector: number[]) => Math.hypot(...vector)
      fc.pre(length(one) > 1e-3 && length(other) > 1e-3)
      const sum = one.reduce((total, value, at) => total + value * (other[at] ?? 0), 0)
      const values = new Float32Array(2 * one.length)
      values.set(normalised(one), one.length)
      const query = Float64Array.from(normalised(other))
      const found = cosine({ dims: one.length, values }, 1, query)
      expect(found).toBeCloseTo(sum / length(one) / length(other), 5)
    }),
  )
})

test('what has no direction is near to nothing', () => {
  expect([...normalised([0, 0])]).toEqual([0, 0])
  expect([...normalised([Number.NaN, 1])]).toEqual([0, 0])
  expect([...normalised([Number.POSITIVE_INFINITY, 1])]).toEqual([0, 0])
})

test('the best so many are those of sorting them all, the earlier one first', () => {
  const scores = fc.array(fc.integer({ min: 0, max: 9 }))
  fc.assert(
    fc.property(
      scores,
      fc.integer({ min: 0, max: 6 }),
      fc.integer({ min: -1, max: 9 }),
      (all, count, least) => {
        const best = keepBest<number>(count, least)
        for (const [at, score] of all.entries()) best.offer(score, at)
        const sorted = all.map((score, item) => ({ score, item })).filter(({ score }) => score > least)
        sorted.sort((a, b) => b.score - a.score || a.item - b.item)
        expect(best.items).toEqual(sorted.slice(0, count))
      },
    ),
  )
})
