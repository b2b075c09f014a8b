import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createJsonReader } from '../../src/lib/partial-json.ts'
import { anyJson, expectSame, read } from './json.ts'

/** The value, or undefined for no JSON. */
function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const twoAt = (text: string, cut: number): string[] => [text.slice(0, cut), text.slice(cut)]

/** Texts that are nearly JSON, and sometimes are. */
const nearlyJson = fc.oneof(
  fc
    .tuple(anyJson, fc.nat(), fc.constantFrom('', '"', '\\', ',', '}', '0', '-', 'e', '\n', '\u0001'))
    .map(([text, place, put]) => {
      const at = place % (text.length + 1)
      return text.slice(0, at) + put + text.slice(at + 1)
    }),
  fc
    .array(fc.constantFrom(...'{ } [ ] , : " "a" 1 - .5 e+ true nul \\u00'.split(' '), ' '), { maxLength: 9 })
    .map((parts) => parts.join('')),
)

describe('the value at the end', () => {
  test('is what JSON.parse gives, wherever the text was cut', () => {
    fc.assert(
      fc.property(anyJson, fc.array(fc.nat(), { maxLength: 12 }), (text, places) => {
        const cuts = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b)
        const pieces = [...cuts, text.length].map((end, i) => text.slice(cuts[i - 1] ?? 0, end))
        expectSame(read(pieces), { ok: true, value: JSON.parse(text) })
        expectSame(read([...text]), { ok: true, value: JSON.parse(text) })
      }),
      { numRuns: 300 },
    )
  })

  test('is there exactly where JSON.parse gives one', () => {
    fc.assert(
      fc.property(nearlyJson, fc.nat(), (text, place) => {
        const expected = parsed(text)
        for (const pieces of [[text], text.split(''), twoAt(text, place % (text.length + 1))]) {
          const end = read(pieces)
          expectSame(end.ok ? { value: end.value } : undefined, expected)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([
    '-0',
    '1e400',
    '123456789012345678901234567890',
    '0.1e-7',
    '"\\ud83d\\ude00 \\ud83d \\u00e9\\/\\b\\f"',
    '{"a":1,"b":2,"a":{"c":3},"a":"last"}',
    '{"2":1,"1":2,"":3}',
    ' [ ] ',
    '{ "a" : [ { } , [ ] , null ] }\r\n',
  ])('of %s is the same at every cut', (text) => {
    for (let cut = 0; cut <= text.length; cut++)
      expect(read(twoAt(text, cut))).toStrictEqual({ ok: true, value: JSON.parse(text) })
    expect(read(text.split(''))).toStrictEqual({ ok: true, value: JSON.parse(text) })
  })

  test('is the very object that was shown', () => {
    const reader = createJsonReader()
    reader.push('{"a":[1,')
    const shown = reader.value()
    reader.push('2]}')
    expect(reader.value()).toBe(shown)
    expect(reader.end()).toEqual({ ok: true, value: { a: [1, 2] } })
    expect(shown).toEqual({ a: [1, 2] })
  })
})

describe('no JSON', () => {
  test.each([
    ['', 'no JSON: no end'],
    ['{"a":1', 'no JSON: no end'],
    ['"half', 'no JSON: no end'],
    ['"\\', 'no JSON: no end'],
    ['-', 'no JSON: -'],
    ['1e', 'no JSON: 1e'],
    ['01', 'no JSON: 01'],
    ['tru', 'no JSON: tru'],
    ['[1,]', 'no JSON: '],
    ['{"a":1,}', 'no JSON: }'],
    ['{a:1}', 'no JSON: a:1}'],
    ['{"a":1}{"b":2}', 'no JSON: {"b":2}'],
    ['[1 2]', 'no JSON: 2]'],
    ["['a']", "no JSON: 'a'"],
    ['"a\nb"', 'no JSON: \nb"'],
    ['"\\x4142"', 'no JSON: "\\x4142"'],
    ['\ufeff1', 'no JSON: '],
  ])('%j is reported, not repaired: %j', (text, error) => {
    expect(read([text])).toEqual({ ok: false, error: expect.stringContaining(error) })
    expect(read(text.split(''))).toMatchObject({ ok: false })
  })

  test('no control character may stand in a text as it is', () => {
    for (let code = 0; code < 32; code++) {
      const text = `"a${String.fromCharCode(code)}"`
      expect([code, read([text]).ok, parsed(text)]).toEqual([code, false, undefined])
    }
  })

  test('a prefix that happens to be JSON is shown, and is not the end', () => {
    const reader = createJsonReader()
    reader.push('{"path":"a"}')
    reader.push('{"path":"b"}')
    expect(reader.value()).toEqual({ path: 'a' })
    expect(reader.end()).toMatchObject({ ok: false })
  })

  test('more than 500 containers within one another are refused, and the stack is safe', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    expect(read([nested(500)])).toEqual({ ok: true, value: JSON.parse(nested(500)) })
    expect(read([nested(501)])).toEqual({ ok: false, error: 'no JSON: too deep' })
    expect(read(['{"a":'.repeat(2_000_000)])).toEqual({ ok: false, error: 'no JSON: too deep' })
  })
})

describe('keys that mean something to objects', () => {
  const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1}'

  test('are keys like any other, and reach no prototype', () => {
    for (const pieces of [[text], [...text]]) {
      const end = read(pieces)
      expectSame(end, { ok: true, value: JSON.parse(text) })
      const value = end.ok ? Object(end.value) : {}
      expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'toString'])
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    }
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  test('grow as texts too', () => {
    const reader = createJsonReader()
    for (const piece of ['{"__proto__":"a', 'b', 'c"}']) reader.push(piece)
    expectSame(reader.end(), { ok: true, value: JSON.parse('{"__proto__":"abc"}') })
  })
})
