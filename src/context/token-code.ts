import { CELLS, CHARACTERS, PAIRS, RUNS } from './token-scan.ts'

/**
 * Cells for all families, as scripts/tokens makes them: all cells, then for each family what differs, in signs of ASCII. See
 * `scripts/tokens/encode.ts`.
 */
export type TokenTables = string

/**
 * Half of the interval that holds nine of ten counts, as a part of the count: what stays for long texts, and what is divided by the
 * root of the count.
 */
export type Spread = readonly [stays: number, shrinks: number]

/**
 * The sorts of cells: histories, runs, pairs of ASCII, other characters. Where each ends; how far before a cell the one stands that
 * it is most like, but for its neighbour; and the context of its numbers.
 */
export const SORTS: readonly (readonly [end: number, stride: number, context: number])[] = [
  [RUNS, 256, 0],
  [PAIRS, 16, 32],
  [CHARACTERS, 64, 64],
  [CELLS, 1, 96],
]
/** Further on are the contexts of what families add. */
export const ADDED = 128

/** Sizes go in steps, since a large number need not be as exact as a small one: 1, 2, 3, 4, 6, 8, 12 to 64. */
export const sizeOf = (step: number): number => ((2 + (step & 1)) << (step >> 1)) >> 1
export const STEPS = 12

/**
 * A sign's digit is its code modulo `WRAP`, less `LEAST`: `]` to `~`, then `%` to `?`. They are those that code is full of, which
 * costs least once all is compressed together.
 */
export const BASE = 61
export const WRAP = 90
export const LEAST = 3
/** The coder's interval is never narrower. */
export const NARROWEST = 1e7

/** Answers of about so many times make up a chance. */
const LASTING = 24

/** Contexts of one sort of number: is it any, by hint; is it below 0, likewise; is it larger than this step. */
export const HINTS = 9
export const LARGER = 17

export const hintOf = (one = 0, other = 0): number => 4 + 3 * Math.sign(one) + Math.sign(other)

/**
 * Asks for all numbers, bit by bit: those that all families share, with two neighbours as a hint; then what each adds, where there
 * is anything to add to, hinted at by what is shared and what the family before adds. `bit` is told how likely a one is, by what
 * was asked before. Gives the cells of one family.
 */
export function walk(bit: (chance: number) => boolean, family: number): Int16Array {
  const shared: number[] = []
  const own: number[] = []
  const chances: number[] = []
  const asked: number[] = []
  const ask = (context: number): boolean => {
    const chance = chances[context] ?? 0.5
    const is = bit(chance)
    // At first an answer tells much, later it tells what holds hereabouts.
    const times = Math.min((asked[context] ?? 1) + 1, LASTING)
    asked[context] = times
    chances[context] = chance + ((is ? 0.99 : 0.01) - chance) / times
    return is
  }
  const number = (context: number, hint: number): number => {
    if (!ask(context + hint)) return 0
    const below = ask(context + hint + HINTS)
    let step = 1
    while (ask(context + LARGER + step)) step++
    return below ? -sizeOf(step) : sizeOf(step)
  }
  for (let pass = -1; pass <= family; pass++) {
    let cell = 0
    for (const [end, stride, context] of SORTS)
      for (; cell < end; cell++) {
        if (pass < 0) shared[cell] = number(context, hintOf(shared[cell - stride], shared[cell - 1]))
        else if (shared[cell]) own[cell] = number(context + ADDED, hintOf(shared[cell], own[cell]))
      }
  }
  return Int16Array.from(shared, (all, cell) => all + (own[cell] ?? 0))
}

/** The cells of one family, by its place in the list of families: an adaptive range decoder. */
export function decode(tables: TokenTables, family: number): Int16Array {
  let at = 0
  let value = 0
  let range = 1
  return walk((chance) => {
    for (; range < NARROWEST; range *= BASE) value = value * BASE + (tables.charCodeAt(at++) % WRAP) - LEAST
    const split = (range * chance) | 0
    const is = value < split
    if (is) range = split
    else {
      range -= split
      value -= split
    }
    return is
  }, family)
}
