// The corpus as a sparse matrix: a row a chunk, a column a table cell, a figure how often the chunk meets the cell.

import { CELLS, createScan, ONCE, runCell, type Scanned } from '../../src/context/token-scan.ts'
import { FAMILIES, type Sample } from './corpus.ts'

export interface Rows {
  /** Row r is `columns`, ascending, and `times` from `begins[r]` up to `begins[r + 1]`. */
  begins: Int32Array
  columns: Int32Array
  times: Float32Array
  /** Exact tokens, row × family. */
  counts: Float64Array
  weights: Float64Array
  /** Rows before this one are chunks; from it on, each is many chunks together, for the error of long texts. */
  firstLong: number
  /** The cell of each column: cells that are hardly met are left out. */
  cells: Int32Array
}

/** Chunks a cell has to be in. */
const LEAST_CHUNKS = 40
/** Chunks that make one long text. */
const TOGETHER = 40
/** What long texts weigh beside short ones. */
const LONG_WEIGHT = 0.08
/** A chunk of this many units weighs 1; shorter ones weigh more, by the root. */
const USUAL_LENGTH = 300

/** Cells that a text meets, with how often. */
export function cellCounter(): (text: string) => Map<number, number> {
  let found = new Map<number, number>()
  const count = (cell: number): void => {
    found.set(cell, (found.get(cell) ?? 0) + 1)
  }
  // In place of cells, something that notes which are asked for.
  const cells = new Proxy<Readonly<Record<number, number>>>(
    {},
    {
      get(_, name) {
        count(Number(name))
        return 0
      },
    },
  )
  const scan = createScan(cells)
  return (text) => {
    found = new Map([[ONCE, 1]])
    const normal = text.normalize('NFC')
    let at: Scanned | undefined
    for (let unit = 0; unit < normal.length; unit++) {
      at = scan(normal.charAt(unit), at)
      // Cells of runs are asked for once, beforehand.
      count(runCell(at[7]))
    }
    return found
  }
}

interface Row {
  category: string
  found: Map<number, number>
  counts: readonly number[]
  weight: number
}

function together(rows: readonly Row[]): Row {
  const found = new Map<number, number>()
  const counts = new Array<number>(FAMILIES).fill(0)
  for (const row of rows) {
    for (const [cell, times] of row.found) found.set(cell, (found.get(cell) ?? 0) + times)
    for (let family = 0; family < FAMILIES; family++)
      counts[family] = (counts[family] ?? 0) + (row.counts[family] ?? 0)
  }
  return { category: rows[0]?.category ?? '', found, counts, weight: 1 }
}

/** Makes each category weigh the same. */
function evenOut(rows: readonly Row[], all: number): void {
  const sums = new Map<string, number>()
  for (const { category, weight } of rows) sums.set(category, (sums.get(category) ?? 0) + weight)
  for (const row of rows) row.weight *= all / (sums.get(row.category) ?? 1) / sums.size
}

export function rowsOf(samples: Iterable<Sample>): Rows {
  const cellsOf = cellCounter()
  const chunks: Row[] = []
  for (const { category, text, counts } of samples)
    chunks.push({ category, found: cellsOf(text), counts, weight: (text.length / USUAL_LENGTH) ** -0.8 })
  const longs: Row[] = []
  for (let at = 0; at < chunks.length; ) {
    const end = chunks.findIndex((row, other) => other > at && row.category !== chunks[at]?.category)
    const next = Math.min(at + TOGETHER, end < 0 ? chunks.length : end)
    longs.push(together(chunks.slice(at, next)))
    at = next
  }
  evenOut(chunks, 1)
  evenOut(longs, LONG_WEIGHT)
  return sparse([...chunks, ...longs], chunks.length)
}

function sparse(rows: readonly Row[], firstLong: number): Rows {
  const met = new Int32Array(CELLS)
  for (const { found } of rows.slice(0, firstLong))
    for (const cell of found.keys()) met[cell] = (met[cell] ?? 0) + 1
  const cells = Int32Array.from(met.keys()).filter((cell) => (met[cell] ?? 0) >= LEAST_CHUNKS)
  const columnOf = new Map([...cells].map((cell, column) => [cell, column]))
  const begins = new Int32Array(rows.length + 1)
  const columns: number[] = []
  const times: number[] = []
  for (const [at, { found }] of rows.entries()) {
    const met = [...found].flatMap(([cell, count]) => {
      const column = columnOf.get(cell)
      return column === undefined ? [] : [[column, count] as const]
    })
    for (const [column, count] of met.sort(([one], [other]) => one - other)) {
      columns.push(column)
      times.push(count)
    }
    begins[at + 1] = columns.length
  }
  return {
    begins,
    columns: Int32Array.from(columns),
    times: Float32Array.from(times),
    counts: Float64Array.from(rows.flatMap(({ counts }) => counts.slice(0, FAMILIES))),
    weights: Float64Array.from(rows, ({ weight }) => weight),
    firstLong,
    cells,
  }
}
