import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { createJsonReader } from '../../src/lib/partial-json.ts'
import { measureBundle } from '../support/measure-bundle.ts'
import { anyJson } from './json.ts'

/** What is shown after each piece, copied, since the reader's own value grows. */
function shownAfter(pieces: readonly string[]): unknown[] {
  const reader = createJsonReader()
  return pieces.map((piece) => {
    reader.push(piece)
    return structuredClone(reader.value())
  })
}

describe('what is shown on the way', () => {
  test('a text grows, a number is there once it has ended', () => {
    expect(shownAfter(['{"city', '":"Pa', 'ris","n":1', '2', ',"ok":tr', 'ue}'])).toEqual([
      {},
      { city: 'Pa' },
      { city: 'Paris' },
      { city: 'Paris' },
      { city: 'Paris', n: 12 },
      { city: 'Paris', n: 12, ok: true },
    ])
  })

  test('lists and objects are there from their first sign', () => {
    expect(shownAfter(['[', '{', '"a":[', '"x', '","y"', ']', '}', ',"', '"', ']'])).toEqual([
      [],
      [{}],
      [{ a: [] }],
      [{ a: ['x'] }],
      [{ a: ['x', 'y'] }],
      [{ a: ['x', 'y'] }],
      [{ a: ['x', 'y'] }],
      [{ a: ['x', 'y'] }, ''],
      [{ a: ['x', 'y'] }, ''],
      [{ a: ['x', 'y'] }, ''],
    ])
  })

  test('half an escape and half a surrogate pair wait', () => {
    expect(shownAfter(['"a\ud83d', '\ude00b', '\\', 'n', '\\u00', 'e9', '"'])).toEqual([
      'a',
      'a😀b',
      'a😀b',
      'a😀b\n',
      'a😀b\n',
      'a😀b\né',
      'a😀b\né',
    ])
  })

  test('the text that stands alone is shown too', () => {
    expect(shownAfter(['"a', 'b', '"', ' '])).toEqual(['a', 'ab', 'ab', 'ab'])
    expect(shownAfter(['1', '2', ' '])).toEqual([undefined, undefined, 12])
  })

  /** Whether a value can become another by growing at its end. */
  function growsInto(early: unknown, late: unknown): boolean {
    if (typeof early === 'string') return typeof late === 'string' && late.startsWith(early)
    if (typeof early !== 'object' || early === null) return Object.is(early, late)
    if (typeof late !== 'object' || late === null || Array.isArray(early) !== Array.isArray(late))
      return false
    const later = new Map(Object.entries(late))
    return Object.entries(early).every(([key, value]) => later.has(key) && growsInto(value, later.get(key)))
  }

  test('what was shown is the beginning of what is shown later, and never invented', () => {
    fc.assert(
      fc.property(anyJson, fc.integer({ min: 1, max: 7 }), (text, size) => {
        const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? []
        const shown = [...shownAfter(pieces), JSON.parse(text)]
        const wrong = shown.findIndex(
          (value, i) => i > 0 && shown[i - 1] !== undefined && !growsInto(shown[i - 1], value),
        )
        expect(wrong).toBe(-1)
      }),
      { numRuns: 40 },
    )
  })
})

describe('where it turns out to be no JSON', () => {
  test('shows what came before it, and no more', () => {
    const reader = createJsonReader()
    reader.push('{"a":[1,2],"b":"half')
    reader.push(' a text" oh "c":3}')
    expect(reader.value()).toEqual({ a: [1, 2], b: 'half a text' })
    reader.push('}')
    expect(reader.value()).toEqual({ a: [1, 2], b: 'half a text' })
    expect(reader.end()).toMatchObject({ ok: false })
  })

  test.each(['[1,2,tru]', '[1,2,"a\\q12345'])(
    '%s shows nothing in the place of what does not parse',
    (text) => {
      const reader = createJsonReader()
      reader.push(text)
      expect(reader.value()).toEqual([1, 2])
    },
  )
})

test('it is small: at most 1,050 bytes, minified and gzipped', async () => {
  const { gzip } = await measureBundle({
    entry: "export { createJsonReader } from './src/lib/partial-json.ts'",
  })
  expect(gzip).toBeLessThanOrEqual(1_050)
})

/** Characters that are looked at, one by one or by the platform's own reader, on the way and at the end. */
function looksAt(text: string, size: number): number {
  const one = vi.spyOn(String.prototype, 'charCodeAt')
  const parse = vi.spyOn(JSON, 'parse')
  const reader = createJsonReader()
  for (let at = 0; at < text.length; at += size) {
    reader.push(text.slice(at, at + size))
    reader.value()
  }
  expect(reader.end().ok).toBe(true)
  const parsed = parse.mock.calls.reduce((sum, [piece]) => sum + String(piece).length, 0)
  const looks = one.mock.calls.length + parsed
  vi.restoreAllMocks()
  return looks
}

const long: [string, unknown][] = [
  ['a text', 'a line of a "file"\n'.repeat(600)],
  ['a long word', 1],
  ['numbers', Array.from({ length: 2_000 }, (_, at) => at * 7919)],
  ['decimals', Array.from({ length: 2_000 }, (_, at) => at / 8)],
  ['records', Array.from({ length: 200 }, (_, id) => ({ id, ok: true, tags: ['a', 'é\ud83d\ude00'] }))],
]

describe('the work grows with the text, not with its square', () => {
  test.each(long)('%s', (name, value) => {
    const text = name === 'a long word' ? `0.${'1'.repeat(8_000)}` : JSON.stringify(value)
    for (const size of [1, 7, 20, text.length]) expect(looksAt(text, size) / text.length).toBeLessThan(3)
  })
})
