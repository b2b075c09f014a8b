import { CELLS, STARTS, STRIDES } from './token-scan.ts'

/** Cells for all families, as scripts/tokens makes them. */
export interface TokenTables {
  /** All cells, then for each family what differs, in signs of ASCII: see `scripts/tokens/encode.ts`. */
  code: string
  /**
   * Half of the interval that holds nine of ten counts, as a part of the count: what stays for long texts, and what is
   * divided by the root of the count.
   */
  spread: readonly [number, number]
}

/** Cells are in parts of a token. */
export const PARTS = 32

/** Sizes go in steps, since a large number need not be as exact as a small one: 1, 2, 3, 4, 6, 8, 12 to 64. */
export const sizeOf = (step: number): number => ((2 + (step & 1)) << (step >> 1)) >> 1
export const STEPS = 12

/** How many signs there are: from `%`, without the backslash. */
export const BASE = 89
export const FIRST_SIGN = 37
export const LEFT_OUT = 92
/** The coder's interval is never narrower. */
export const NARROWEST = 2 ** 24

/** Contexts of one sort of number: is it any, by hint; is it below 0, likewise; is it larger than this step. */
export const HINTS = 9
export const BELOW = HINTS
export const LARGER = 17
const SHARED = 32
const SORTED = 2 * SHARED
export const CONTEXTS = SORTED * STARTS.length

/** What is expected of a bit: seen so often, 0 and 1 in turns. Both are taken to have been half seen at first. */
export const unseen = (): Float64Array => new Float64Array(2 * CONTEXTS).fill(0.5)
export const splitOf = (range: number, seen: Float64Array, context: number): number => {
  const ones = seen[2 * context + 1] ?? 0
  return Math.floor((range * ones) / (ones + (seen[2 * context] ?? 0)))
}

export const hintOf = (one = 0, other = 0): number => 4 + 3 * Math.sign(one) + Math.sign(other)

/**
 * Goes over all numbers in the order of the code: those that all families share, with the two neighbours as a hint; then what each
 * adds, where there is anything to add to, hinted at by what is shared and what was added before. Gives the cells of one family;
 * of -1, what is shared.
 */
export function walk(
  number: (context: number, hint: number, cell: number, pass: number) => number,
  family: number,
): Int16Array {
  const shared = new Int16Array(CELLS)
  const added = new Int16Array(CELLS)
  const own = new Int16Array(CELLS)
  for (let pass = -1; pass <= family; pass++) {
    let sort = -1
    for (let cell = 0; cell < CELLS; cell++) {
      if (cell === STARTS[sort + 1]) sort++
      const context = SORTED * sort
      if (pass < 0)
        shared[cell] = number(
          context,
          hintOf(shared[cell - (STRIDES[sort] ?? 0)], shared[cell - 1]),
          cell,
          pass,
        )
      else if (shared[cell]) {
        const more = number(context + SHARED, hintOf(shared[cell], added[cell]), cell, pass)
        own[cell] = more
        added[cell] = (added[cell] ?? 0) + more
      }
    }
  }
  return own.map((more, cell) => more + (shared[cell] ?? 0))
}

/** The cells of one family, by its place in the list of families: an adaptive range decoder. */
export function decode({ code }: TokenTables, family: number): Int16Array {
  const seen = unseen()
  let at = 0
  let value = 0
  let range = 1
  const bit = (context: number): number => {
    while (range < NARROWEST) {
      const sign = code.charCodeAt(at++) || FIRST_SIGN
      range *= BASE
      value = value * BASE + sign - (sign > LEFT_OUT ? FIRST_SIGN + 1 : FIRST_SIGN)
    }
    const split = splitOf(range, seen, context)
    const bit = value < split ? 1 : 0
    if (bit) range = split
    else {
      range -= split
      value -= split
    }
    seen[2 * context + bit] = (seen[2 * context + bit] ?? 0) + 1
    return bit
  }
  return walk((context, hint) => {
    if (!bit(context + hint)) return 0
    const below = bit(context + hint + BELOW)
    let step = 1
    while (bit(context + LARGER + step)) step++
    return below ? -sizeOf(step) : sizeOf(step)
  }, family)
}
