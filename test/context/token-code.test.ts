import { expect, test } from 'vitest'
import { encode } from '../../scripts/tokens/encode.ts'
import { decode, STEPS, sizeOf } from '../../src/context/token-code.ts'
import { CELLS } from '../../src/context/token-scan.ts'

/** Park and Miller's numbers, from 0 up to 1: the same tables every time. */
function pseudoRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** Of so many cells, some are something: any size that can be said, of either sign. */
function numbers(random: () => number, share: number): Int16Array {
  const size = () => sizeOf(1 + Math.floor(random() * STEPS)) * (random() < 0.3 ? -1 : 1)
  return new Int16Array(CELLS).map(() => (random() < share ? size() : 0))
}

test.each([
  ['next to nothing', 0.001],
  ['a little', 0.1],
  ['a great deal', 0.5],
])('cells that say %s are read as they were written, of every family', (_, share) => {
  const random = pseudoRandom(7)
  const shared = numbers(random, share)
  const own = Array.from({ length: 3 }, () =>
    numbers(random, share).map((value, cell) => (shared[cell] ? value : 0)),
  )
  const code = encode(shared, own)
  // Nothing that a string or a template would have to escape.
  expect(code).toMatch(/^[%-?\]-~]+$/)
  for (const [family, added] of own.entries()) {
    const read = decode(code, family)
    expect(read.every((value, cell) => value === (shared[cell] ?? 0) + (added[cell] ?? 0))).toBe(true)
  }
})
