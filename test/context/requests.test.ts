import { expect, test } from 'vitest'
import { createLargeEstimator } from '../../src/context/large-estimate.ts'
import { overheadsOf } from '../../src/context/overheads.ts'
import { type RecordedRequest, recordedRequests } from './recorded-requests.ts'

const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN

const estimatorFor = ({ model, provider, api, thinks }: RecordedRequest) =>
  createLargeEstimator({ model, ...overheadsOf(model, `${provider}/${api}`, thinks) })

test('recorded requests are counted as their providers did, most of them, before anything was learnt', () => {
  const errors = [...recordedRequests()].map((request) => {
    const { messages, system, tools, actual } = request
    return Math.abs(estimatorFor(request).messages(messages, { system, tools }) / actual - 1)
  })
  expect(errors.length).toBeGreaterThan(150)
  // They are short: a token is a tenth of the usual one. The mean is far from the median by what hosts add unseen.
  expect(median(errors)).toBeLessThan(0.045)
  expect(errors.reduce((sum, error) => sum + error, 0) / errors.length).toBeLessThan(0.06)
})

test('the same model costs what its host makes of it', () => {
  const asked = 'deepseek-v4-flash'
  expect(overheadsOf(asked, 'deepseek/openai-responses').requestOverhead).toBeGreaterThan(
    50 + overheadsOf(asked, 'deepseek').requestOverhead,
  )
  expect(overheadsOf('gemini-2.5-pro', 'google').toolFactor).toBeGreaterThan(
    overheadsOf('gemini-2.5-pro', 'google-vertex').toolFactor,
  )
})

test('a model that is told to think costs what it is told, where that is known', () => {
  const [plain, thinking] = [false, true].map((thinks) => overheadsOf('claude-sonnet-4-6', '', thinks))
  expect(thinking).toEqual({ ...plain, requestOverhead: (plain?.requestOverhead ?? 0) + 30 })
  expect(overheadsOf('gpt-5', '', true)).toEqual(overheadsOf('gpt-5'))
})

test('a recorded request that has been counted once is counted right', () => {
  for (const request of recordedRequests()) {
    const { messages, system, tools, actual } = request
    const estimator = estimatorFor(request)
    estimator.calibrate({ messages, system, tools, actual })
    expect(estimator.messages(messages, { system, tools })).toBe(actual)
  }
})
