import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sameJson } from '../../src/protocol/merge.ts'

describe('two JSON values', () => {
  test('are the same if they read the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(sameJson(value, structuredClone(value))).toBe(true)
      }),
    )
  })

  test('differ if they read differently', () => {
    const sorted = (value: unknown): unknown =>
      typeof value !== 'object' || value === null
        ? value
        : Array.isArray(value)
          ? value.map(sorted)
          : {
              fields: Object.entries(value)
                .map(([key, item]) => JSON.stringify([key, sorted(item)]))
                .toSorted(),
            }
    const values = fc.jsonValue({ maxDepth: 2 })
    fc.assert(
      fc.property(values, values, (a, b) => {
        expect(sameJson(a, b)).toBe(JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)))
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    [{ a: undefined }, {}, true],
    [{}, { a: undefined }, true],
    [{ a: undefined }, { b: undefined }, true],
    [{ a: 1 }, { b: 1 }, false],
    [[1, 2], [1], false],
    [[], {}, false],
    [null, {}, false],
    [{ a: null }, {}, false],
    [JSON.parse('{"__proto__":{"x":1}}'), {}, false],
    [JSON.parse('{"constructor":1}'), {}, false],
  ])('%j and %j: %s', (a, b, same) => {
    expect(sameJson(a, b)).toBe(same)
    expect(sameJson(b, a)).toBe(same)
  })
})
