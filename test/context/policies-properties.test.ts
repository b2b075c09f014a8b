import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AssembledContext, assembleContext } from '../../src/context/assemble.ts'
import { clipBlocks } from '../../src/context/clip.ts'
import { compactResults, squeezeNewest } from '../../src/context/compact.ts'
import type { Policy } from '../../src/context/draft.ts'
import { createEstimator } from '../../src/context/estimate.ts'
import { keptEstimates } from '../../src/context/kept-estimates.ts'
import { recommendedMix } from '../../src/context/mix.ts'
import { finishedTasks, goalNote, nearQuestion, pins, recalled } from '../../src/context/notes.ts'
import { dropOldest, dropOldestTurns, slidingWindow, tokenBudget } from '../../src/context/policies.ts'
import { createRedaction } from '../../src/context/redact.ts'
import { roughly } from '../../src/context/rough.ts'
import { finder } from '../../src/context/secrets.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import type { Message } from '../../src/message/schema.ts'
import { TARGETS } from '../adapters/pairs/targets.ts'
import { assistantMessage, deepFreeze, userMessage } from '../support/messages.ts'
import { problemsOf } from './checker.ts'
import { history } from './history.ts'

const message = fc.integer({ min: 0, max: 14 }).map((at) => `m${at}`)

/** Each policy, with options of all kinds. */
const POLICIES: Readonly<Record<string, fc.Arbitrary<Policy>>> = {
  slidingWindow: fc.integer({ min: 0, max: 4 }).map(slidingWindow),
  tokenBudget: fc.integer({ min: 0, max: 200 }).map(tokenBudget),
  dropOldest: fc.constant(null).map(dropOldest),
  dropOldestTurns: fc.constant(null).map(dropOldestTurns),
  compactResults: fc
    .record({ turns: fc.integer({ min: 0, max: 3 }), errors: fc.integer({ min: 0, max: 3 }) })
    .map(compactResults),
  squeezeNewest: fc.constant({}).map(squeezeNewest),
  clipBlocks: fc
    .record({ results: fc.integer({ min: 1, max: 60 }), others: fc.integer({ min: 1, max: 60 }) })
    .map(clipBlocks),
  pins: fc
    .record({ ids: fc.array(message), facts: fc.array(fc.constantFrom('fact', '')) })
    .map(({ ids, facts }) => pins({ isPinned: ({ id }) => ids.includes(id), facts })),
  goalNote: fc.array(message).map((ids) => goalNote({ isGoal: ({ id }) => ids.includes(id) })),
  finishedTasks: fc
    .array(fc.record({ from: message, to: message, line: fc.constant('done') }), { maxLength: 3 })
    .map(finishedTasks),
  recalled: fc
    .array(
      fc.record({
        text: fc.constantFrom('sea', 'tide', ''),
        provenance: fc.record({ kind: fc.constantFrom('fact', 'message'), id: message }),
      }),
      { maxLength: 4 },
    )
    .map(recalled),
  nearQuestion: fc.constantFrom(['memory'] as const, ['pins', 'goal'] as const).map(nearQuestion),
  redact: fc.constant(null).map(() => createRedaction({ finders: [finder('x', /x{3,}|hort/g)] }).policy),
  mix: fc.constant(null).map(() => ({
    name: 'mix',
    apply: (draft, space) => {
      const { first, last } = recommendedMix({ turns: 1, errors: 1, toolResult: 30 })
      return [...first, ...last].reduce((made, policy) => policy.apply(made, space), draft)
    },
  })),
}
const estimate = roughly
const anyPolicies = fc.array(fc.oneof(...Object.values(POLICIES)), { maxLength: 5 })
const windows = fc.option(fc.integer({ min: 60, max: 600 }), { nil: undefined })

function assembled(
  messages: readonly Message[],
  policies: readonly Policy[],
  window: number | undefined,
): AssembledContext | undefined {
  try {
    return assembleContext({
      messages,
      policies,
      estimate,
      ...(window !== undefined && { window, reserve: 0 }),
    })
  } catch (error) {
    if (error instanceof TidemarkError && error.code === 'context-overflow') return undefined
    throw error
  }
}

describe.each(Object.keys(POLICIES))('after %s', (name) => {
  test('a context of any history is whole, in order, explained and within its window, and the history is as it was', () => {
    fc.assert(
      fc.property(
        history,
        POLICIES[name] ?? fc.constant(slidingWindow(1)),
        windows,
        (messages, policy, window) => {
          const before = structuredClone(messages)
          deepFreeze(messages)
          const context = assembled(messages, [policy], window)
          expect(messages).toEqual(before)
          if (!context) return
          expect(problemsOf(messages, context)).toEqual([])
          if (window !== undefined) expect(context.tokens).toBeLessThanOrEqual(window)
        },
      ),
      { numRuns: 150 },
    )
  })
})

test('policies in any number and order leave a context whole, counted and told of', () => {
  fc.assert(
    fc.property(history, anyPolicies, windows, (messages, policies, window) => {
      deepFreeze(messages)
      const context = assembled(messages, policies, window)
      if (!context) return
      expect(problemsOf(messages, context)).toEqual([])
      const parts = Object.values(context.sections).reduce((sum, tokens) => sum + tokens, 0)
      expect(parts).toBe(context.tokens)
      const { text, message } = estimate
      const recounted = context.messages.reduce((sum, one) => sum + message(one), text(context.system ?? ''))
      expect(recounted).toBeLessThanOrEqual(context.tokens + context.notes.length + 1)
    }),
    { numRuns: 600 },
  )
})

test('with the estimates kept, nothing is estimated twice, however often a context is assembled', () => {
  fc.assert(
    fc.property(history, anyPolicies, (messages, policies) => {
      const counted = new Map<Message, number>()
      const { text, message: count } = estimate
      const kept = keptEstimates({
        text,
        message(one) {
          counted.set(one, (counted.get(one) ?? 0) + 1)
          return count(one)
        },
      })
      const first = assembleContext({ messages, policies, estimate: kept })
      const made = counted.size
      expect(assembleContext({ messages, policies, estimate: kept }).tokens).toBe(first.tokens)
      expect([...counted.values()].every((times) => times === 1)).toBe(true)
      // Only copies of what was damaged are made anew.
      const copies = [...counted.keys()].filter((one) => !messages.includes(one)).length
      expect(counted.size - made).toBeLessThanOrEqual(copies)
    }),
    { numRuns: 200 },
  )
})

test('estimates are known again by id and revision, where a message was read anew', () => {
  let count = 0
  const known = keptEstimates({ text: () => 1, message: () => ++count })
  const [one, two] = [7, 8].map((rev) => ({ ...deepFreeze({ rev, sessionId: 's', id: 'm' }) }))
  const read = (row: unknown) => known.message(structuredClone(row) as Message)
  expect([read(one), read(one), read(two), read(two), read(one)]).toEqual([1, 1, 2, 2, 3])
  expect([read({ sessionId: 's', id: 'm' }), read({ sessionId: 's', id: 'm' })]).toEqual([4, 5])
})

test('nothing is counted twice by an estimator that learns, and what it learnt holds for what was counted', () => {
  const estimator = createEstimator()
  const counted: unknown[] = []
  const kept = keptEstimates({
    ...estimator,
    counts(of) {
      counted.push(of)
      return estimator.counts(of)
    },
  })
  const question = userMessage('u1', 'How long is the way to the moon? '.repeat(20))
  const messages = [question, assistantMessage('a1', 'Long.'), userMessage('u2', 'And to the sun?')]
  const policies = [clipBlocks({ others: 40 })]
  const before = assembleContext({ messages, policies, estimate: kept })
  expect(before.policies).toEqual(['clip'])
  const once = counted.length
  for (let report = 0; report < 5; report++) estimator.calibrate({ messages, actual: 400 })
  const after = assembleContext({ messages, policies, estimate: kept })
  expect(counted).toHaveLength(once)
  expect(after.tokens).toBeGreaterThan(before.tokens)
  const bare = estimator.cost(estimator.measure({ messages: [] }))
  expect(after.tokens).toBe(after.messages.reduce((sum, one) => sum + estimator.message(one), bare))
})

test.each(Object.entries(TARGETS))(
  '%s is sent nothing that it refuses, whatever the history and the policies',
  async (_, target) => {
    await fc.assert(
      fc.asyncProperty(history, anyPolicies, windows, async (messages, policies, window) => {
        const context = assembled(messages, policies, window)
        if (!context || context.messages.length === 0) return
        const { defects } = await target.send(context.messages)
        expect(defects).toEqual([])
      }),
      { numRuns: 60 },
    )
  },
)
