import { expect, test } from 'vitest'
import { createLargeEstimator } from '../../src/context/large-estimate.ts'
import { overheadsOf } from '../../src/context/overheads.ts'
import { recordedRequests } from './recorded-requests.ts'

const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN

test('recorded requests are counted as their providers did, most of them, before anything was learnt', () => {
  const errors = [...recordedRequests()].map(({ model, messages, system, tools, actual }) => {
    const estimator = createLargeEstimator({ model, ...overheadsOf(model) })
    return Math.abs(estimator.messages(messages, { system, tools }) / actual - 1)
  })
  expect(errors.length).toBeGreaterThan(150)
  // They are short: a token is a tenth of the usual one. The mean is far from the median by what hosts add unseen: prompts for
  // tools and for thinking that are theirs, not the model's.
  expect(median(errors)).toBeLessThan(0.07)
  expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThan(0.145)
})

test('a recorded request that has been counted once is counted right', () => {
  for (const { model, messages, system, tools, actual } of recordedRequests()) {
    const estimator = createLargeEstimator({ model, ...overheadsOf(model) })
    estimator.calibrate({ messages, system, tools, actual })
    expect(estimator.messages(messages, { system, tools })).toBe(actual)
  }
})
