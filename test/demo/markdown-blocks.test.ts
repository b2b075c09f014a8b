import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EMPTY, type GrowingMarkdown, growMarkdown, wholeMarkdown } from '../../demo/page/markdown/blocks.ts'

const PIECES = [
  '# A heading\n',
  'A paragraph with **bold**, `code` and [a link](https://example.com).\n',
  'another line\n',
  '\n',
  '- an item\n',
  '- [ ] a task\n',
  '  - a nested item\n',
  '  and its second line\n',
  '1. first\n',
  '2. second\n',
  '   ```sh\n   ls\n   ```\n',
  '```ts\nconst a = 1\n\nconst b = 2\n```\n',
  '| a | b |\n| --- | ---: |\n| 1 | 2 |\n',
  '> a quotation\n',
  '---\n',
  '    indented code\n',
  '<b>html</b>\n',
  'Überschrift 🌊 潮\n',
]

const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((pieces) => pieces.join(''))

/** Every state of a text that comes in pieces of these lengths. */
function grow(source: string, lengths: readonly number[]): GrowingMarkdown[] {
  const states: GrowingMarkdown[] = []
  let state = EMPTY
  let end = 0
  for (let turn = 0; end < source.length; turn += 1) {
    end = Math.min(source.length, end + (lengths[turn % lengths.length] ?? 1))
    state = growMarkdown(state, source.slice(0, end))
    states.push(state)
  }
  return states
}

const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })
const raws = (blocks: GrowingMarkdown['settled']) => blocks.map((block) => block.raw)

describe('a growing text', () => {
  test('never changes a block that it called settled', () => {
    fc.assert(
      fc.property(text, cuts, (source, lengths) => {
        let before: GrowingMarkdown = EMPTY
        for (const state of grow(source, lengths)) {
          expect(raws(state.settled).slice(0, before.settled.length)).toEqual(raws(before.settled))
          before = state
        }
      }),
    )
  })

  test('settles the blocks that the whole text has', () => {
    fc.assert(
      fc.property(text, cuts, (source, lengths) => {
        const whole = raws(wholeMarkdown(source))
        for (const { settled } of grow(source, lengths))
          expect(raws(settled)).toEqual(whole.slice(0, settled.length))
      }),
      { numRuns: 300 },
    )
  })
})

/** What kinds of blocks a text shows at each letter, in order, repetitions left out. */
function kindsShown(source: string): string[] {
  const kinds = grow(source, [1]).map(({ settled, tail }) =>
    [...settled, ...tail].map((block) => block.token.type).join(' '),
  )
  return kinds.filter((kind, index) => kind !== kinds[index - 1])
}

describe('an unfinished end', () => {
  test.each([
    [
      'a list after a paragraph is no heading at its first dash',
      'For example:\n- a\n- b\n',
      ['paragraph', 'paragraph list'],
    ],
    [
      'a rule is no list at its first dashes',
      'one\n\n---\n\ntwo\n',
      ['paragraph', 'paragraph hr', 'paragraph hr paragraph'],
    ],
    ['a heading is no paragraph at its marks', '## Tides\n', ['', 'heading']],
    [
      'a table is no paragraph while its head is written',
      'See:\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n',
      ['paragraph', 'paragraph table'],
    ],
    ['a code block is no paragraph at its fence', '```ts\nconst a = 1\n```\n', ['', 'code']],
    [
      'a numbered item is no part of the paragraph before it',
      'Steps:\n1. a\n2. b\n',
      ['paragraph', 'paragraph list'],
    ],
  ])('%s', (_, source, kinds) => {
    expect(kindsShown(source)).toEqual(kinds)
  })

  test('shows emphasis and code as what they will be, and of half a link its text', () => {
    const shown = (source: string) => growMarkdown(EMPTY, source).tail.map((block) => block.raw)
    expect(shown('so **bold')).toEqual(['so **bold**'])
    expect(shown('so `code')).toEqual(['so `code`'])
    expect(shown('see [the almanac](https://exam')).toEqual(['see the almanac'])
  })

  test('costs no more in a long answer than in a short one', () => {
    const paragraph = 'Twice a day the water comes and goes.\n\n'
    const long = grow(paragraph.repeat(500), [7])
    const open = long.map((state) => state.source.length - state.offset)
    expect(Math.max(...open)).toBeLessThan(4 * paragraph.length)
  })
})
