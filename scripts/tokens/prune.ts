// Cells as whole numbers that cost few bits: one for all families, and for each family what it adds. Every number is kept, moved or
// dropped by what it does to the error against what it costs to say.
import { HINTS, hintOf, SORTS, STEPS, sizeOf } from '../../src/context/token-code.ts'
import { CELLS, PARTS } from '../../src/context/token-scan.ts'
import { bitsOf, costs, VALUES } from './bits.ts'
import { FAMILIES } from './corpus.ts'
import { bendAt, type Normal, shift, slopeOf } from './normal.ts'
import type { Rows } from './rows.ts'

/** Column × (1 + families), in steps: first what all share, then what each adds. */
export type Numbers = Int16Array

const EACH = 1 + FAMILIES

const sized = (step: number): number => (step < 0 ? -sizeOf(-step) : step && sizeOf(step))

/** The step below a value, and the one above, none of them between 0 and `least`. */
function around(value: number, least = 0): [number, number] {
  let step = 0
  while (step < STEPS && sizeOf(step + 1) <= Math.abs(value)) step++
  const next = Math.max(least, Math.min(step + 1, STEPS))
  const below = step < least ? 0 : step
  return value < 0 ? [-next, -below] : [below, next]
}

function nearest(value: number): number {
  const [below, above] = around(value)
  return value - sized(below) < sized(above) - value ? below : above
}

/** The shared number is the mean over families, weighted by how much a family depends on the column. */
export function roundOff({ columns, gram }: Normal, theta: Float64Array): Numbers {
  const numbers = new Int16Array(columns * EACH)
  for (let column = 0; column < columns; column++) {
    let sum = 0
    let weight = 0
    for (let family = 0; family < FAMILIES; family++) {
      const bend = gram[bendAt(columns, column, family)] ?? 0
      sum += bend * (theta[column * FAMILIES + family] ?? 0)
      weight += bend
    }
    const shared = nearest((sum / weight) * PARTS)
    numbers[column * EACH] = shared
    if (!shared) continue
    for (let family = 0; family < FAMILIES; family++)
      numbers[column * EACH + 1 + family] = nearest(
        (theta[column * FAMILIES + family] ?? 0) * PARTS - sized(shared),
      )
  }
  return numbers
}

/** Of each column: its cell's sort, which has statistics of its own, and the columns of the two cells that hint at it. */
interface Places {
  sorts: Int32Array
  before: readonly (number | undefined)[]
  beside: readonly (number | undefined)[]
}

function placesOf({ cells }: Pick<Rows, 'cells'>): Places {
  const columns = new Map([...cells].map((cell, column) => [cell, column]))
  const sorts = cells.map((cell) => SORTS.findIndex(([end]) => cell < end))
  return {
    sorts,
    before: Array.from(cells, (cell, at) => columns.get(cell - (SORTS[sorts[at] ?? 0]?.[1] ?? 0))),
    beside: Array.from(cells, (cell) => columns.get(cell - 1)),
  }
}

/** Each number's context, as the code has it: see `walk`. */
function fillContexts(contexts: Int32Array, { sorts, before, beside }: Places, numbers: Numbers): void {
  const shared = (column: number | undefined): number =>
    column === undefined ? 0 : (numbers[column * EACH] ?? 0)
  for (const [column, sort] of sorts.entries()) {
    for (let place = 0; place < EACH; place++) {
      const hint = place
        ? hintOf(shared(column), place > 1 ? numbers[column * EACH + place - 1] : 0)
        : hintOf(shared(before[column]), shared(beside[column]))
      contexts[column * EACH + place] = (2 * sort + (place ? 1 : 0)) * HINTS + hint
    }
  }
}

/** What numbers are wanted. */
export interface Goal {
  /** The error that a bit is worth. */
  price: number
  /** The least step: where few numbers are to say it all, small ones are not worth their bits. */
  least: number
}

/** What a walk over the numbers weighs them by. */
interface Weights {
  normal: Normal
  /** Family × column: what is left to gain. */
  slope: Float64Array
  contexts: Int32Array
  bits: Float64Array
  goal: Goal
}

/** Moves each of a column's numbers to its best. Returns by how much that changed each family, in tokens; none if not at all. */
function moveColumn(weights: Weights, numbers: Numbers, column: number): Float64Array | undefined {
  const { normal, slope, contexts, bits, goal } = weights
  const { columns, gram } = normal
  const bend = Float64Array.from(
    { length: FAMILIES },
    (_, family) => gram[bendAt(columns, column, family)] ?? 0,
  )
  const change = new Float64Array(FAMILIES)
  let changed = false
  for (let place = 0; place < EACH; place++) {
    const at = column * EACH + place
    // Nothing is added to what is not there.
    if (place && !numbers[column * EACH]) continue
    const firm = !place && numbers.subarray(at + 1, at + EACH).some(Boolean)
    const context = (contexts[at] ?? 0) * VALUES + STEPS
    const value = numbers[at] ?? 0
    const next = bestOf(value, place, firm, slope, columns, column, bend, change, goal, bits, context)
    const by = (sized(next) - sized(value)) / PARTS
    if (by === 0) continue
    changed = true
    numbers[at] = next
    for (let family = 0; family < FAMILIES; family++)
      if (place === 0 || place === family + 1) change[family] = (change[family] ?? 0) + by
  }
  return changed ? change : undefined
}

/** Walks over all numbers until few change. Gives about how many bytes they cost. */
export function prune(
  rows: Pick<Rows, 'cells'>,
  normal: Normal,
  numbers: Numbers,
  goal: Goal,
  sweeps: number,
): number {
  const { columns, gram } = normal
  const places = placesOf(rows)
  const slope = slopeOf(normal, thetaOf(numbers))
  const contexts = new Int32Array(numbers.length)
  let bits = new Float64Array()
  for (let sweep = 0; sweep < sweeps; sweep++) {
    fillContexts(contexts, places, numbers)
    bits = costs(contexts, numbers, 2 * SORTS.length * HINTS)
    const weights = { normal, slope, contexts, bits, goal }
    let moved = 0
    for (let column = 0; column < columns; column++) {
      const change = moveColumn(weights, numbers, column)
      if (!change) continue
      moved++
      shift(gram, columns, slope, column, change)
    }
    if (moved < 3) break
  }
  return bitsOf(numbers, contexts, bits) / 8
}

/** Of the two steps around the best, and none at all, the one with the best balance; else what is. */
function bestOf(
  value: number,
  place: number,
  firm: boolean,
  slope: Float64Array,
  columns: number,
  column: number,
  bend: Float64Array,
  change: Float64Array,
  { price, least }: Goal,
  bits: Float64Array,
  context: number,
): number {
  let pull = 0
  let stiff = 0
  for (let family = 0; family < FAMILIES; family++) {
    if (place !== 0 && place !== family + 1) continue
    const own = bend[family] ?? 0
    pull += ((slope[family * columns + column] ?? 0) - own * (change[family] ?? 0)) / PARTS
    stiff += own / PARTS / PARTS
  }
  if (stiff <= 0) return value
  const [below, above] = around(sized(value) + pull / stiff, least)
  let best = value
  let most = 1e-15
  for (const next of [below, above, 0]) {
    if (next === value || (firm && !next)) continue
    const by = sized(next) - sized(value)
    const gain =
      pull * by - (stiff * by * by) / 2 - price * ((bits[context + next] ?? 0) - (bits[context + value] ?? 0))
    if (gain > most) {
      most = gain
      best = next
    }
  }
  return best
}

/** Column × family, in tokens. */
export function thetaOf(numbers: Numbers): Float64Array {
  const theta = new Float64Array((numbers.length / EACH) * FAMILIES)
  for (let at = 0; at < theta.length; at++) {
    const column = Math.floor(at / FAMILIES) * EACH
    theta[at] = (sized(numbers[column] ?? 0) + sized(numbers[column + 1 + (at % FAMILIES)] ?? 0)) / PARTS
  }
  return theta
}

/** The same by cell: what all share, and what each family adds. */
export function cellsOf(
  { cells }: Pick<Rows, 'cells'>,
  numbers: Numbers,
): { shared: Int16Array; own: Int16Array[] } {
  const [shared = new Int16Array(), ...own] = Array.from({ length: EACH }, (_, place) => {
    const result = new Int16Array(CELLS)
    for (const [column, cell] of cells.entries()) result[cell] = sized(numbers[column * EACH + place] ?? 0)
    return result
  })
  return { shared, own }
}
