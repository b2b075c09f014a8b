import { describe, expect, test } from 'vitest'
import { devSamples, FAMILIES, type Sample } from '../../scripts/tokens/corpus.ts'
import type { Calibration } from '../../src/context/calibration.ts'
import { createEstimator, type EstimatorOptions, type Surprise } from '../../src/context/estimate.ts'
import { FAMILIES as names } from '../../src/context/families.ts'
import type { Message } from '../../src/message/schema.ts'
import { assistantMessage, userMessage } from '../support/messages.ts'

const samples = devSamples().filter(({ text }) => text.length < 12_000)
const kinds = [...new Set(samples.map(({ category }) => category))]

/** What the invented provider adds: nobody told the estimator. */
const OVERHEAD = 6
const REQUEST = 11

/** Park and Miller's numbers: the same conversations every time. */
function pseudoRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/**
 * Errors of the estimate of each whole request of a conversation in so many kinds of text, before it is counted: a question and an
 * answer more each time.
 */
function conversation(seed: number, family: number, options: EstimatorOptions, width: number): number[] {
  const random = pseudoRandom(seed)
  const any = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] ?? raise()
  const spoken = Array.from({ length: width }, () => any(kinds))
  const pick = (isLong: boolean): Sample => {
    const category = any(spoken)
    return any(samples.filter((sample) => sample.category === category && sample.long === isLong))
  }
  const estimator = createEstimator(options)
  const messages: Message[] = []
  let actual = REQUEST
  const add = (message: (id: string, text: string) => Message, { text, counts }: Sample): void => {
    messages.push(message(`m${messages.length}`, text))
    actual += (counts[family] ?? 0) + OVERHEAD
  }
  const errors: number[] = []
  add(userMessage, pick(false))
  for (let turn = 0; turn <= 10; turn++) {
    errors.push(Math.abs(estimator.messages(messages) / actual - 1))
    estimator.calibrate({ messages: [...messages], actual })
    add(assistantMessage, pick(true))
    add(userMessage, pick(false))
  }
  return errors
}

const raise = (): never => {
  throw new Error('no sample')
}

function meanErrors(
  families: readonly number[],
  width: number,
  options: (family: number) => EstimatorOptions,
): number[] {
  const sums = new Array<number>(11).fill(0)
  const seeds = Array.from({ length: Math.ceil(48 / families.length) }, (_, at) => 11 + 7 * at)
  for (const family of families)
    for (const seed of seeds)
      for (const [at, error] of conversation(seed * 1_000 + family, family, options(family), width).entries())
        sums[at] = (sums[at] ?? 0) + error / families.length / seeds.length
  return sums
}

describe('what a provider counted is used exactly, and teaches the rest', () => {
  test('the next whole request comes out within 1.3 % after 3 reports, and 0.5 % after 10', () => {
    const errors = meanErrors([...names.keys()], 3, (family) => ({ family: names[family] ?? 'o200k' }))
    expect(errors[3], String(errors)).toBeLessThan(0.013)
    expect(errors[10], String(errors)).toBeLessThan(0.005)
  })

  test('of a tokenizer that nobody knows, within 2 % and 0.6 % where the text stays of one kind', () => {
    const errors = meanErrors([FAMILIES], 1, () => ({ model: 'somebody/else-7b' }))
    expect(errors[3], String(errors)).toBeLessThan(0.02)
    expect(errors[10], String(errors)).toBeLessThan(0.006)
  })

  test('one count of a short question does not mislead about tokenizers that nobody knows', () => {
    const others = [...names.keys(), FAMILIES].slice(1)
    const errors = meanErrors(others, 2, () => ({ model: 'somebody/else-7b' }))
    expect(errors[1], String(errors)).toBeLessThan(0.12)
  })

  test('a short question teaches less than its size, since more of it is chance', () => {
    const learnt = (times: number): number => {
      const estimator = createEstimator({ model: 'somebody/else-7b' })
      const asked = userMessage('u', 'When is high tide? '.repeat(times))
      estimator.calibrate({ messages: [asked], actual: 2 * estimator.messages([asked]) })
      return estimator.text('The sea. '.repeat(1_000))
    }
    const unlearnt = createEstimator({ model: 'somebody/else-7b' }).text('The sea. '.repeat(1_000))
    expect(learnt(1) / unlearnt).toBeLessThan(1.5)
    expect(learnt(100) / unlearnt).toBeGreaterThan(1.8)
  })
})

describe('a calibration', () => {
  const question = userMessage('u', 'When is the next high tide? '.repeat(40))
  const twice = (calibration?: Calibration) =>
    createEstimator({ model: 'grok-4', ...(calibration && { calibration }) })

  test('is plain data, and another estimator goes on from it', () => {
    const first = twice()
    const before = first.text('The sea. '.repeat(100))
    const actual = 2 * first.messages([question])
    const kept = first.calibrate({ messages: [question], actual })
    const next = twice(JSON.parse(JSON.stringify(kept)))
    expect(next.text('The sea. '.repeat(100))).toBe(first.text('The sea. '.repeat(100)))
    expect(next.text('The sea. '.repeat(100))).toBeGreaterThan(1.3 * before)
    expect(next.messages([question])).toBe(actual)
  })

  test('is cautious with a family that is known', () => {
    const learnt = (model: string): number => {
      const estimator = createEstimator({ model })
      const before = estimator.text('The sea. '.repeat(100))
      estimator.calibrate({ messages: [question], actual: Math.round(1.3 * estimator.messages([question])) })
      return estimator.text('The sea. '.repeat(100)) / before
    }
    expect(learnt('gpt-5')).toBeLessThan(learnt('grok-4'))
  })

  test('of another session is no count of this one', () => {
    const estimator = createEstimator({ model: 'gpt-5' })
    const before = estimator.messages([question])
    const other = { ...question, sessionId: 'other' }
    estimator.calibrate({ messages: [other, other, other], actual: 3 * before })
    expect(Math.abs(estimator.messages([question]) / before - 1)).toBeLessThan(0.1)
  })

  test('takes what was measured, in place of the messages', () => {
    const one = createEstimator({ model: 'gpt-5' })
    const two = createEstimator({ model: 'gpt-5' })
    const counts = one.measure({ messages: [question], system: 'Be brief.' })
    const session = question.sessionId
    expect(one.calibrate({ counts, actual: 500, session })).toEqual(
      two.calibrate({ messages: [question], system: 'Be brief.', actual: 500 }),
    )
  })
})

test('a count far outside of the bounds is told of once, with the class of text that did it', () => {
  const told: Surprise[] = []
  const estimator = createEstimator({ model: 'gpt-5', onSurprise: (surprise) => told.push(surprise) })
  const question = userMessage('u', '潮の満ち引きは毎日二回あります。'.repeat(50))
  const estimated = estimator.messages([question])
  estimator.calibrate({ messages: [question], actual: estimated + 1 })
  expect(told).toEqual([])
  for (const id of ['a', 'b']) {
    const more = userMessage(id, '潮の満ち引きは毎日二回あります。'.repeat(50))
    estimator.calibrate({ messages: [question, more], actual: 5 * estimated })
  }
  expect(told).toEqual([expect.objectContaining({ actual: 5 * estimated, suspect: 'ideographs' })])
})
