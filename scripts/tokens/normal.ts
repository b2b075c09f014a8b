// Normal equations of the relative error, for eight families side by side: all that fitting has to know of the rows.
import { FAMILIES } from './corpus.ts'
import type { Rows } from './rows.ts'

/** Symmetric, column × column × family; and column × family. */
export interface Normal {
  columns: number
  gram: Float32Array
  target: Float64Array
}

/** Beyond this relative error a row pulls no harder: chunks, and long texts. */
const HUBER = [0.08, 0.03] as const

/** What each row weighs in each family, by how far off it is as yet. */
function rowWeights(rows: Rows, theta: Float64Array | undefined): Float64Array {
  const { begins, columns, times, counts, weights, firstLong } = rows
  const result = new Float64Array(counts.length)
  for (let row = 0; row < weights.length; row++) {
    const limit = HUBER[row < firstLong ? 0 : 1]
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

/** With cells that are right as yet, rows that are far off count less (Huber's loss, by reweighting). */
export function normalOf(rows: Rows, theta?: Float64Array): Normal {
  const { begins, columns: columnsOf, times, counts, cells } = rows
  const columns = cells.length
  const weights = rowWeights(rows, theta)
  const gram = new Float32Array(columns * columns * FAMILIES)
  const target = new Float64Array(columns * FAMILIES)
  const own = new Float64Array(FAMILIES)
  for (let row = 0; row + 1 < begins.length; row++) {
    const begin = begins[row] ?? 0
    for (let at = begin; at < (begins[row + 1] ?? 0); at++) {
      const column = columnsOf[at] ?? 0
      for (let family = 0; family < FAMILIES; family++) {
        const weight = (times[at] ?? 0) * (weights[row * FAMILIES + family] ?? 0)
        own[family] = weight
        const place = column * FAMILIES + family
        target[place] = (target[place] ?? 0) + weight * (counts[row * FAMILIES + family] ?? 0)
      }
      for (let other = begin; other <= at; other++) {
        const second = columnsOf[other] ?? 0
        const time = times[other] ?? 0
        const place = (column > second ? column * columns + second : second * columns + column) * FAMILIES
        for (let family = 0; family < FAMILIES; family++)
          gram[place + family] = (gram[place + family] ?? 0) + (own[family] ?? 0) * time
      }
    }
  }
  mirror(gram, columns)
  return { columns, gram, target }
}

function mirror(gram: Float32Array, columns: number): void {
  for (let row = 0; row < columns; row++)
    for (let column = 0; column < row; column++) {
      const from = (row * columns + column) * FAMILIES
      gram.copyWithin((column * columns + row) * FAMILIES, from, from + FAMILIES)
    }
}

/** What is left of the target: its slope, up to the sign. Kept up to date by `shift`. */
export function slopeOf({ columns, gram, target }: Normal, theta: Float64Array): Float64Array {
  const slope = Float64Array.from(target)
  const change = new Float64Array(FAMILIES)
  for (let column = 0; column < columns; column++) {
    change.set(theta.subarray(column * FAMILIES, (column + 1) * FAMILIES))
    shift(gram, columns, slope, column, change)
  }
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
  const begin = column * columns * FAMILIES
  for (let family = 0; family < FAMILIES; family++) {
    const by = change[family] ?? 0
    if (by === 0) continue
    for (let at = family; at < columns * FAMILIES; at += FAMILIES)
      slope[at] = (slope[at] ?? 0) - (gram[begin + at] ?? 0) * by
  }
}

/** Keeps cells that few texts meet small. */
const RIDGE = 1e-4

/** Improves the cells, a column at a time. */
export function descend(normal: Normal, theta: Float64Array, sweeps: number): void {
  const { columns, gram } = normal
  const slope = slopeOf(normal, theta)
  const change = new Float64Array(FAMILIES)
  for (let sweep = 0; sweep < sweeps; sweep++) {
    for (let column = 0; column < columns; column++) {
      let most = 0
      for (let family = 0; family < FAMILIES; family++) {
        const at = column * FAMILIES + family
        const bend = gram[(column * columns + column) * FAMILIES + family] ?? 0
        const step = ((slope[at] ?? 0) - RIDGE * (theta[at] ?? 0)) / (bend + RIDGE)
        change[family] = step
        most = Math.max(most, Math.abs(step))
      }
      if (most < 1e-6) continue
      for (let family = 0; family < FAMILIES; family++) {
        const at = column * FAMILIES + family
        theta[at] = (theta[at] ?? 0) + (change[family] ?? 0)
      }
      shift(gram, columns, slope, column, change)
    }
  }
}
