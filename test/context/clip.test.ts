import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clipText } from '../../src/context/clip.ts'

const charactersOf = (text: string): string[] =>
  [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment)

const MARK = /\n?\[… \d+ characters left out …\]\n?/

describe('a text that is cut', () => {
  test('is the very same where it is short enough', () => {
    expect(clipText('short', 5)).toBe('short')
  })

  test.each([
    ['a paragraph', `${'a '.repeat(60)}\n\n${'b '.repeat(100)}`, 180, /a\n\[…/],
    ['a line', `${'a'.repeat(60)}\n${'b'.repeat(200)}`, 100, /a\n\[…/],
    ['a sentence', `${'A word. '.repeat(40)}`, 100, /word\.\n\[…/],
    ['a word', 'word '.repeat(60), 100, /word\n\[…/],
  ])('ends at the end of %s, where one is near', (_, text, characters, expected) => {
    expect(clipText(text, characters)).toMatch(expected)
  })

  test('closes a fenced block that it cuts, and opens it again', () => {
    const text = `Look:\n\`\`\`ts\n${'const a = 1\n'.repeat(60)}\`\`\`\nDone.`
    const cut = clipText(text, 200)
    expect(cut.split('```').length % 2).toBe(1)
    expect(cut).toMatch(/\n```\n\[…/)
    expect(cut.endsWith('```\nDone.')).toBe(true)
  })

  test('says how much is missing', () => {
    const cut = clipText('x'.repeat(1_000), 100)
    const kept = cut.replace(MARK, '').length
    expect(Number(/(\d+) characters/.exec(cut)?.[1])).toBe(1_000 - kept)
  })

  test('never cuts within a character, whatever it is made of', () => {
    const graphemes = fc.array(fc.constantFrom('a', ' ', '\n', '🌊', '👩‍🚀', 'é', '👍🏽', '潮'), {
      minLength: 50,
      maxLength: 200,
    })
    fc.assert(
      fc.property(graphemes, fc.integer({ min: 0, max: 120 }), (parts, characters) => {
        const text = parts.join('')
        const [head = '', tail = ''] = clipText(text, characters).split(MARK)
        const segments = new Set(charactersOf(text))
        const whole = (piece: string) => charactersOf(piece).every((one) => segments.has(one))
        expect(text.startsWith(head)).toBe(true)
        expect(text.endsWith(tail.trimStart()) || tail === '').toBe(true)
        expect(whole(head) && whole(tail)).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})
