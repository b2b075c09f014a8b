import { expect, test } from 'vitest'
import { createEstimator } from '../../src/context/estimate.ts'
import { assistantMessage, userMessage } from '../support/messages.ts'

const messages = [
  userMessage('u1', 'How long is the way to the moon? '.repeat(40)),
  assistantMessage('a1', 'Long.'),
]

test.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY])(
  'a server that counted %s tokens has not counted: nothing is learnt, and the next estimate is as before',
  (actual) => {
    const estimator = createEstimator({ model: 'gpt-4o' })
    const honest = estimator.calibrate({ messages, actual: 400 })
    const before = estimator.messages(messages)
    expect(estimator.calibrate({ messages, actual })).toBe(honest)
    expect(estimator.messages(messages)).toBe(before)
    expect(before).toBe(400)
  },
)

test.each(['gpt-4o', 'nobody-knows-this'])('one report beyond belief is got over: %s', (model) => {
  const surprises: unknown[] = []
  const estimator = createEstimator({ model, onSurprise: (surprise) => surprises.push(surprise) })
  const alone = () => estimator.cost(estimator.measure({ messages }))
  const honest = alone()
  estimator.calibrate({ messages, actual: 1e12 })
  expect(surprises).toHaveLength(1)
  expect(alone()).toBeLessThan(honest * 4)
  for (let report = 0; report < 12; report++) estimator.calibrate({ messages, actual: honest })
  expect(estimator.messages(messages)).toBe(honest)
  // Whose tokenizer is known is not believed to be another by one report.
  if (model === 'gpt-4o') expect(Math.abs(alone() / honest - 1)).toBeLessThan(0.25)
})
