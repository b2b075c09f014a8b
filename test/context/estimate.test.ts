import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createEstimator, type EstimatorOptions } from '../../src/context/estimate.ts'
import { FAMILIES, familyOf } from '../../src/context/families.ts'
import { createLargeEstimator } from '../../src/context/large-estimate.ts'
import { assistantMessage, userMessage } from '../support/messages.ts'

const estimator = createEstimator()
/** Everything that is hard: marks that combine, halves of pairs, letters that join into syllables, and plain text. */
const piece = fc.string({
  unit: fc.oneof(
    fc.constantFrom('a', 'B', ' ', '\n', '7', '.', '(', 'é', 'п', '潮', 'か', '한', '🌊', '\u{1d165}'),
    fc.constantFrom(
      'e\u0301',
      '\u0301',
      '\u0323',
      '\u1100',
      '\u1161',
      '\u11a8',
      '\u3099',
      '\ud800',
      '\udc00',
      '\u0e38',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }),
  ),
  maxLength: 60,
})

describe('a text', () => {
  test('of nothing costs nothing, of anything at least 1', () => {
    expect(estimator.text('')).toBe(0)
    fc.assert(
      fc.property(piece, (text) => {
        expect(estimator.text(text)).toBeGreaterThanOrEqual(text ? 1 : 0)
      }),
    )
  })

  test('costs the same however it is written in Unicode', () => {
    fc.assert(
      fc.property(piece, (text) => {
        expect(estimator.text(text.normalize('NFD'))).toBe(estimator.text(text))
      }),
    )
    expect(estimator.text('cafe\u0301')).toBe(estimator.text('café'))
  })

  test('never costs less for being longer', () => {
    fc.assert(
      fc.property(piece, piece, (before, after) => {
        // A mark may join two letters into one, whose text is another.
        const text = before.normalize('NFC')
        const longer = (before + after).normalize('NFC')
        fc.pre(longer.startsWith(text))
        expect(estimator.text(longer)).toBeGreaterThanOrEqual(estimator.text(text))
      }),
    )
  })

  test('appended in pieces costs what the whole costs, at every piece, and the state is plain data', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        let state = estimator.append(undefined, '')
        let text = ''
        for (const one of pieces) {
          text += one
          state = estimator.append(structuredClone(state), one)
          expect(state.tokens).toBe(estimator.text(text))
        }
      }),
    )
  })

  test('appended costs the length of what is appended, not of what is there', () => {
    let state = estimator.append(undefined, 'A long beginning. '.repeat(10_000))
    for (let at = 0; at < 10_000; at++) state = estimator.append(state, 'word ')
    expect(state.tail.length).toBeLessThan(2)
    expect(state.tokens).toBe(estimator.text('A long beginning. '.repeat(10_000) + 'word '.repeat(10_000)))
  })

  test('of two million tokens is counted without losing any', () => {
    const line = '潮の満ち引きは毎日二回あります。'
    const one = estimator.text(line.repeat(1_000))
    const many = estimator.text(line.repeat(250_000))
    expect(many).toBeGreaterThan(2_000_000)
    expect(Math.abs(many / one / 250 - 1)).toBeLessThan(0.001)
  })
})

describe('a family', () => {
  test.each([
    ['gpt-4o-mini', 'o200k'],
    ['openai/gpt-5.1', 'o200k'],
    ['o3-mini', 'o200k'],
    ['gpt-4.1', 'o200k'],
    ['gpt-4-turbo', 'cl100k'],
    ['gpt-3.5-turbo-0125', 'cl100k'],
    ['anthropic.claude-sonnet-4-5', 'claude'],
    ['meta-llama/Llama-3.3-70B-Instruct', 'llama3'],
    ['deepseek-r1-distill-llama-70b', 'llama3'],
    ['deepseek-r1-distill-qwen-32b', 'qwen3'],
    ['deepseek-chat', 'deepseek'],
    ['QwQ-32B', 'qwen3'],
    ['models/gemini-2.5-pro', 'gemini'],
    ['gemma3:4b', 'gemini'],
    ['mistralai/mixtral-8x7b', 'mistral'],
    ['codestral-latest', 'mistral'],
    ['llama-2-7b', undefined],
    ['grok-4', undefined],
  ])('of %s is %s', (model, family) => expect(familyOf(model)).toBe(family))

  test('makes a difference', () => {
    const text = 'Η παλίρροια είναι η άνοδος και η πτώση της θάλασσας.'
    const counts = FAMILIES.map((family) => createEstimator({ family }).text(text))
    expect(new Set(counts).size).toBeGreaterThan(4)
    expect(createEstimator({ model: 'claude-opus-4' }).text(text)).toBe(
      createEstimator({ family: 'claude' }).text(text),
    )
  })

  test('that is not known has wide bounds', () => {
    const width = (options: EstimatorOptions): number => {
      const { low, high } = createEstimator(options).bounds(1_000)
      return high - low
    }
    expect(width({ model: 'grok-4' })).toBeGreaterThan(2 * width({ model: 'gpt-5' }))
  })
})

describe('bounds', () => {
  test('are wider, for its size, around a short text', () => {
    const short = estimator.bounds(10)
    const long = estimator.bounds(10_000)
    expect((short.high - short.low) / 10).toBeGreaterThan((long.high - long.low) / 10_000)
    expect(estimator.bounds(0).low).toBe(0)
  })

  test('do not doubt what was counted', () => {
    expect(estimator.bounds(10_000, 9_990)).toEqual(expect.objectContaining({ high: expect.any(Number) }))
    expect(estimator.bounds(10_000, 9_990).high).toBeLessThan(10_010)
  })
})

describe('a message', () => {
  test('costs its blocks, and something beside', () => {
    const bare = estimator.message(userMessage('u', ''))
    const text = 'The tide comes in twice a day.'
    expect(estimator.message(userMessage('u', text))).toBe(bare + estimator.text(text))
    const image = { type: 'image' as const, mimeType: 'image/png', url: 'x' }
    expect(estimator.message(userMessage('u', '', { content: [image] }))).toBe(bare + 1_000)
    expect(createEstimator({ media: () => 258 }).message(userMessage('u', '', { content: [image] }))).toBe(
      bare + 258,
    )
    expect(createEstimator({ messageOverhead: 9 }).message(userMessage('u', ''))).toBe(9)
  })

  test('of the same model costs what its usage says, less the reasoning', () => {
    const usage = { input: 9, output: 500, cacheRead: 0, cacheWrite: 0, total: 509, reasoning: 420 }
    const answer = assistantMessage('a', 'High at noon.', { model: 'gpt-5', usage })
    const bare = createEstimator({ model: 'gpt-5' }).message(userMessage('u', ''))
    expect(createEstimator({ model: 'gpt-5' }).message(answer)).toBe(bare + 80)
    expect(createEstimator({ model: 'gpt-4o' }).message(answer)).toBeLessThan(bare + 80)
  })
})

test('a real tokenizer takes the place of the tables', () => {
  const words = createEstimator({
    count: (text) => text.split(/\s+/).filter(Boolean).length,
    messageOverhead: 2,
  })
  expect(words.text('The tide comes in.')).toBe(4)
  expect(words.message(userMessage('u', 'The tide comes in.'))).toBe(6)
  const half = words.append(undefined, 'The ti')
  expect(words.append(half, 'de comes in.').tokens).toBe(4)
})

test('the large tables are others', () => {
  const text = 'Gezeiten sind die periodischen Wasserbewegungen der Ozeane.'.repeat(20)
  expect(createLargeEstimator().text(text)).not.toBe(0)
})
