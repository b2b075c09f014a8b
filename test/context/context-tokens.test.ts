import { expect, test } from 'vitest'
import { assembleContext } from '../../src/context/assemble.ts'
import { createEstimator } from '../../src/context/estimate.ts'
import { keptEstimates } from '../../src/context/kept-estimates.ts'
import { mediaTokens } from '../../src/context/media.ts'
import { overheadsOf } from '../../src/context/overheads.ts'
import { assistantMessage, userMessage } from '../support/messages.ts'

const model = 'claude-sonnet-4-5'
const estimator = createEstimator({ model, ...overheadsOf(model), media: mediaTokens })
const picture = { type: 'image' as const, mimeType: 'image/png', url: 'https://example.com/tide.png' }
const messages = [
  userMessage('q', 'What does this picture show?', { content: [picture] }),
  assistantMessage('a', 'The sea at low tide, and a boat that lies on its side in the mud.'),
  userMessage('r', 'When does it float again?'),
]
const tools = [{ name: 'tides', description: 'Times of high and low water.', parameters: { type: 'object' } }]
const system = 'You know the sea.'

test('a context costs what its request costs: instructions, tools, pictures, and what goes with them', () => {
  const context = assembleContext({ messages, system, tools, estimate: estimator })
  const whole = estimator.messages(context.messages, { system, tools })
  // Each part is rounded by itself.
  expect(Math.abs(context.tokens - whole)).toBeLessThanOrEqual(messages.length)
  expect(context.sections.tools).toBeGreaterThan(overheadsOf(model).toolOverhead)
  expect(context.tokens).toBeGreaterThan(
    mediaTokens(picture, 'claude') + overheadsOf(model).toolOverhead + estimator.text(system),
  )
})

test('kept estimates give the same, and what stands beside the messages is measured once', () => {
  let times = 0
  const measure: typeof estimator.measure = (request) => {
    times++
    return estimator.measure(request)
  }
  const estimate = keptEstimates({ ...estimator, measure })
  const { tokens } = assembleContext({ messages, system, tools, estimate })
  const measured = times
  expect(tokens).toBe(assembleContext({ messages, system, tools, estimate: estimator }).tokens)
  expect(assembleContext({ messages, system, tools, estimate }).tokens).toBe(tokens)
  expect(times).toBe(measured)
})

test('an estimator of text alone counts text alone', () => {
  const estimate = { text: (text: string) => text.length, message: () => 1 }
  const { sections } = assembleContext({ messages, system, tools, estimate })
  expect(sections.system).toBe(system.length)
  expect(sections.tools).toBe(JSON.stringify(tools).length)
})
