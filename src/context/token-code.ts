import { CELLS, ONCE, STARTS } from './token-scan.ts'

/** Cells for all families, as scripts/tokens makes them. */
export interface TokenTables {
  /** All cells, then for each family what differs; 64 signs, see `scripts/tokens/encode.ts`. */
  code: string
  /**
   * Half of the interval that holds nine of ten counts, as a part of the count: what stays for long texts, and what is
   * divided by the root of the count.
   */
  spread: readonly [number, number]
}

/** Cells are in parts of a token. */
export const PARTS = 32

/** Contexts of one kind of number: its zero, its sign, its steps. */
export const CONTEXTS = 16
/** Sizes go in steps, since a large number need not be as exact as a small one: 1, 2, 3, 4, 6, 8, 12 to 64. */
export const sizeOf = (step: number): number => ((2 + (step & 1)) << (step >> 1)) >> 1
export const STEPS = 12
/** How much a bit is believed at most: a context sees so many before it forgets. */
export const MEMORY = 1_000
/** No bit is impossible. */
export const chanceAfter = (chance: number, bit: number, seen: number): number =>
  chance + (0.001 + 0.998 * bit - chance) / (seen + 1.6)

/** The context of a cell's number: of all families, or of one, where it matters whether there is one of all. */
export const contextOf = (kind: number, family: boolean, shared: number): number =>
  CONTEXTS * (kind + (family ? (shared ? 16 : 8) : 0))

/** An adaptive range decoder: gives the next bit in a context. */
function bitsOf(code: string): (context: number) => number {
  const chances = new Float64Array(24 * CONTEXTS).fill(0.5)
  const seen = new Uint16Array(24 * CONTEXTS)
  let at = 0
  let value = 0
  let range = 1
  return (context) => {
    while (range < 2 ** 24) {
      const unit = code.charCodeAt(at++) || 35
      range *= 64
      // The backslash is left out.
      value = value * 64 + unit - (unit > 92 ? 36 : 35)
    }
    const chance = chances[context] ?? 0.5
    const split = Math.floor(range * chance)
    const bit = value < split ? 1 : 0
    if (bit) range = split
    else {
      range -= split
      value -= split
    }
    const times = seen[context] ?? 0
    chances[context] = chanceAfter(chance, bit, times)
    if (times < MEMORY) seen[context] = times + 1
    return bit
  }
}

/** The cells of one family, by its place in the list of families; one more stands for what has none. */
export function decode(tables: TokenTables, family: number): Int16Array {
  const bit = bitsOf(tables.code)
  const number = (context: number): number => {
    if (!bit(context)) return 0
    const sign = bit(context + 1) ? -1 : 1
    let step = 1
    while (bit(context + 1 + step)) step++
    return sign * sizeOf(step)
  }
  const shared = new Int16Array(CELLS)
  const cells = new Int16Array(CELLS)
  for (let pass = -1; pass <= family; pass++) {
    let kind = 0
    for (let cell = 0; cell <= ONCE; cell++) {
      while (cell >= (STARTS[kind + 1] ?? CELLS)) kind++
      const own = shared[cell] ?? 0
      const coded = number(contextOf(kind, pass >= 0, own))
      if (pass < 0) shared[cell] = coded
      if (pass === family) cells[cell] = own + coded
    }
  }
  return cells
}
