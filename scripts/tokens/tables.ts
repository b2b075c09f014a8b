// From cells to the generated modules: cells are rounded, pruned by what a bit of error is worth, judged, and written.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FAMILIES as names } from '../../src/context/families.ts'
import { createTextCounter } from '../../src/context/text-counter.ts'
import type { TokenTables } from '../../src/context/token-code.ts'
import { root } from '../bootstrap.mjs'
import { devSamples, FAMILIES } from './corpus.ts'
import { encode } from './encode.ts'
import { judge } from './judge.ts'
import type { Normal } from './normal.ts'
import { cellsOf, type Goal, type Numbers, prune } from './prune.ts'
import type { Rows } from './rows.ts'

/** By and by, so that what is dropped goes slowly, and what stays can make up for it. */
type Course = readonly Goal[]

/** The same least step at rising prices. */
const rising = (least: number, prices: readonly number[]): Course => prices.map((price) => ({ price, least }))

interface Table {
  file: string
  name: string
  says: string
  course: Course
}

export const large: Table = {
  file: 'token-tables-large.ts',
  name: 'large',
  says: 'Larger tables, for closer counts: those of `createLargeEstimator`.',
  course: rising(1, [3e-7, 6e-7, 1e-6, 1.5e-6, 2e-6, 2.5e-6, 3e-6, 3.5e-6, 4e-6, 5e-6]),
}

/** From the larger tables to the smaller ones. */
export const between: Course = [
  ...rising(1, [5.5e-6, 6e-6]),
  ...rising(2, [7e-6, 8e-6, 9e-6, 1e-5, 1.15e-5, 1.3e-5]),
  ...rising(3, [1.5e-5, 1.7e-5, 2.2e-5, 2.6e-5, 3e-5]),
]

export const small: Table = {
  file: 'token-tables.ts',
  name: 'small',
  says: 'The tables of `createEstimator`.',
  course: rising(5, [4e-5, 4.5e-5, 5e-5, 5.5e-5, 6e-5, 6.5e-5]),
}

/** How often all numbers are gone over at each price. */
const SWEEPS = 30

function measure(tables: TokenTables): [number, number] {
  const counters = names.map((family) => createTextCounter(tables, family))
  const tokens = (text: string, family: number): number => counters[family]?.(text) ?? 0
  const dev = devSamples()
  const percent = (part: number): string => `${(100 * part).toFixed(2)} %`
  for (const long of [true, false]) {
    const { mean, p95, farthest } = judge(
      dev.filter((sample) => sample.long === long),
      tokens,
    )
    const { category, family, by } = farthest
    console.log(
      `${long ? 'long' : 'short'}: mean ${percent(mean)}, p95 ${percent(p95)}, farthest ${category} in family ${family} ${percent(by)}`,
    )
  }
  const misses = dev.flatMap(({ text, counts }) =>
    Array.from({ length: FAMILIES }, (_, family) => {
      const estimate = tokens(text, family)
      return { estimate, by: Math.abs((counts[family] ?? 0) / estimate - 1) }
    }),
  )
  return spreadOf(misses)
}

/** The narrowest spread that holds nine of ten, among long texts and among short ones. */
function spreadOf(misses: readonly { estimate: number; by: number }[]): [number, number] {
  const long = misses.filter(({ estimate }) => estimate > 300)
  const short = misses.filter(({ estimate }) => estimate <= 300)
  const held = (part: readonly { estimate: number; by: number }[], stays: number, shrinks: number): boolean =>
    part.filter(({ estimate, by }) => by <= stays + shrinks / Math.sqrt(estimate)).length >=
    0.91 * part.length
  for (let stays = 0.01; ; stays += 0.005)
    for (let shrinks = 0; shrinks <= 1.5; shrinks += 0.05)
      if (held(long, stays, shrinks) && held(short, stays, shrinks))
        return [Number(stays.toFixed(3)), Number(shrinks.toFixed(2))]
}

function write({ file, name, says }: Table, code: string): void {
  const spread = measure(code)
  const text = `// Made by scripts/tokens (\`npm run tokens\`) from text with exact counts; not written by hand.
import type { Spread, TokenTables } from './token-code.ts'

/** ${says} */
export const ${name}Tables: TokenTables =
  ${JSON.stringify(code)}

/** How far off they are. */
export const ${name}Spread: Spread = [${spread.join(', ')}]
`
  writeFileSync(join(root, 'src/context', file), text)
  console.log(`${file}: ${code.length} signs`)
}

/** Prunes numbers step by step. */
export function pruneAlong(
  rows: Pick<Rows, 'cells'>,
  normal: Normal,
  numbers: Numbers,
  course: Course,
): void {
  for (const goal of course) {
    const bytes = prune(rows, normal, numbers, goal, SWEEPS)
    console.log(`price of a bit ${goal.price}: about ${Math.round(bytes)} bytes`)
  }
}

/** Prunes numbers on, and writes what is left. */
export function writeTable(rows: Pick<Rows, 'cells'>, normal: Normal, numbers: Numbers, table: Table): void {
  pruneAlong(rows, normal, numbers, table.course)
  const { shared, own } = cellsOf(rows, numbers)
  write(table, encode(shared, own))
}
