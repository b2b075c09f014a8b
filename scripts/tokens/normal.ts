// Normal equations of the relative error, for eight families side by side: all that fitting has to know of the rows.
import { FAMILIES } from './corpus.ts'
import type { Rows } from './rows.ts'

/** Symmetric: column × family × column. And family × column. */
export interface Normal {
  columns: number
  gram: Float32Array
  target: Float64Array
}

/** Beyond this relative error a row pulls no harder. */
export type Limits = readonly [chunks: number, longTexts: number]
const USUAL: Limits = [0.08, 0.03]

/** What each row weighs in each family, by how far off it is as yet. */
function rowWeights(rows: Rows, limits: Limits, theta: Float64Array | undefined): Float64Array {
  const { begins, columns, times, counts, weights, firstLong } = rows
  const result = new Float64Array(counts.length)
  for (let row = 0; row < weights.length; row++) {
    const limit = limits[row < firstLong ? 0 : 1]
    for (let family = 0; family < FAMILIES; family++) {
      const count = counts[row * FAMILIES + family] ?? 1
      let pull = 1
      if (theta) {
        let sum = 0
        for (let at = begins[row] ?? 0; at < (begins[row + 1] ?? 0); at++)
          sum += (times[at] ?? 0) * (theta[(columns[at] ?? 0) * FAMILIES + family] ?? 0)
        pull = Math.min(1, limit / (Math.abs(sum / count - 1) || 1e-9))
      }
      result[row * FAMILIES + family] = ((weights[row] ?? 0) * pull) / limit / count / count
    }
  }
  return result
}

/** The rows that meet each column, in order: those of column c from `begins[c]` up to `begins[c + 1]`. */
function rowsByColumn(
  rows: Rows,
  columns: number,
): { begins: Int32Array; rows: Int32Array; times: Float32Array } {
  const begins = new Int32Array(columns + 1)
  for (const column of rows.columns) begins[column + 1] = (begins[column + 1] ?? 0) + 1
  for (let column = 0; column < columns; column++)
    begins[column + 1] = (begins[column + 1] ?? 0) + (begins[column] ?? 0)
  const next = begins.slice()
  const met = {
    begins,
    rows: new Int32Array(rows.columns.length),
    times: new Float32Array(rows.columns.length),
  }
  for (let row = 0; row + 1 < rows.begins.length; row++)
    for (let at = rows.begins[row] ?? 0; at < (rows.begins[row + 1] ?? 0); at++) {
      const column = rows.columns[at] ?? 0
      const place = next[column] ?? 0
      next[column] = place + 1
      met.rows[place] = row
      met.times[place] = rows.times[at] ?? 0
    }
  return met
}

/**
 * With cells that are right as yet, rows that are far off count less (Huber's loss, by reweighting). Goes column by column, so that
 * what is added to stays near at hand; a row's columns ascend, so that half of the pairs will do.
 */
export function normalOf(rows: Rows, theta?: Float64Array, limits = USUAL): Normal {
  const columns = rows.cells.length
  const weights = rowWeights(rows, limits, theta)
  const gram = new Float32Array(columns * columns * FAMILIES)
  const target = new Float64Array(columns * FAMILIES)
  const met = rowsByColumn(rows, columns)
  const own = new Float64Array(FAMILIES)
  const line = new Float64Array(columns * FAMILIES)
  for (let column = 0; column < columns; column++) {
    line.fill(0)
    for (let at = met.begins[column] ?? 0; at < (met.begins[column + 1] ?? 0); at++) {
      const row = met.rows[at] ?? 0
      for (let family = 0; family < FAMILIES; family++) {
        const weight = (met.times[at] ?? 0) * (weights[row * FAMILIES + family] ?? 0)
        own[family] = weight
        const place = family * columns + column
        target[place] = (target[place] ?? 0) + weight * (rows.counts[row * FAMILIES + family] ?? 0)
      }
      addRow(rows, row, column, own, line)
    }
    for (let family = 0; family < FAMILIES; family++)
      for (let other = 0; other <= column; other++) {
        const sum = line[other * FAMILIES + family] ?? 0
        gram[(column * FAMILIES + family) * columns + other] = sum
        gram[(other * FAMILIES + family) * columns + column] = sum
      }
  }
  return { columns, gram, target }
}

/** Adds what a row has of the columns up to `column`. */
function addRow(
  { begins, columns, times }: Rows,
  row: number,
  column: number,
  own: Float64Array,
  line: Float64Array,
): void {
  const end = begins[row + 1] ?? 0
  for (let at = begins[row] ?? 0; at < end; at++) {
    const other = columns[at] ?? 0
    if (other > column) break
    const time = times[at] ?? 0
    const place = other * FAMILIES
    for (let family = 0; family < FAMILIES; family++)
      line[place + family] = (line[place + family] ?? 0) + (own[family] ?? 0) * time
  }
}

/** How much a column's cell of one family matters: the place of its square. */
export const bendAt = (columns: number, column: number, family: number): number =>
  (column * FAMILIES + family) * columns + column

/** What is left of the target, family × column: its slope, up to the sign. Kept up to date by `shift`. */
export function slopeOf({ columns, gram, target }: Normal, theta: Float64Array): Float64Array {
  const slope = Float64Array.from(target)
  for (let column = 0; column < columns; column++)
    shift(gram, columns, slope, column, theta.subarray(column * FAMILIES, (column + 1) * FAMILIES))
  return slope
}

/** The slope after a column's cells have changed. */
export function shift(
  gram: Float32Array,
  columns: number,
  slope: Float64Array,
  column: number,
  change: Float64Array,
): void {
  for (let family = 0; family < FAMILIES; family++) {
    const by = change[family] ?? 0
    if (by === 0) continue
    const line = (column * FAMILIES + family) * columns
    const begin = family * columns
    for (let at = 0; at < columns; at++)
      slope[begin + at] = (slope[begin + at] ?? 0) - (gram[line + at] ?? 0) * by
  }
}

/** Keeps cells that few texts meet small. */
const RIDGE = 1e-4

/** Improves the cells, column × family, a column at a time. */
export function descend(normal: Normal, theta: Float64Array, sweeps: number): void {
  const { columns, gram } = normal
  const slope = slopeOf(normal, theta)
  const change = new Float64Array(FAMILIES)
  for (let sweep = 0; sweep < sweeps; sweep++) {
    for (let column = 0; column < columns; column++) {
      for (let family = 0; family < FAMILIES; family++) {
        const at = column * FAMILIES + family
        const bend = gram[bendAt(columns, column, family)] ?? 0
        const step = ((slope[family * columns + column] ?? 0) - RIDGE * (theta[at] ?? 0)) / (bend + RIDGE)
        change[family] = Math.abs(step) < 1e-6 ? 0 : step
        theta[at] = (theta[at] ?? 0) + (change[family] ?? 0)
      }
      shift(gram, columns, slope, column, change)
    }
  }
}
