// From cells to the generated modules: cells are rounded, pruned by what a bit of error is worth, judged, and written.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decode, PARTS, type TokenTables } from '../../src/context/token-code.ts'
import { createScan, NOTHING, ONCE } from '../../src/context/token-scan.ts'
import { root } from '../bootstrap.mjs'
import { devSamples, FAMILIES } from './corpus.ts'
import { encode } from './encode.ts'
import { judge } from './judge.ts'
import type { Normal } from './normal.ts'
import { cellsOf, prune, roundOff } from './prune.ts'
import type { Rows } from './rows.ts'

interface Goal {
  file: string
  name: string
  says: string
}

/** Error that a bit is worth: what is dropped goes slowly, so that what stays can make up for it. Tables are taken on the way. */
const PATH: readonly (readonly [price: number, goal?: Goal])[] = [
  [3e-7],
  [1e-6],
  [2e-6],
  [4e-6],
  [7e-6],
  [
    9e-6,
    {
      file: 'token-tables-large.ts',
      name: 'largeTables',
      says: 'Larger tables, for closer counts: those of `createLargeEstimator`.',
    },
  ],
  [1.3e-5],
  [2e-5],
  [3e-5],
  [4e-5],
  [
    4.5e-5,
    {
      file: 'token-tables.ts',
      name: 'smallTables',
      says: 'The tables of `createEstimator`.',
    },
  ],
]

/** How often all numbers are gone over at each price. */
const SWEEPS = 30

function measure(tables: TokenTables): [number, number] {
  const scans = Array.from({ length: FAMILIES }, (_, family) => {
    const cells = decode(tables, family)
    const scan = createScan(cells)
    return (text: string): number =>
      Math.max(1, Math.round(((cells[ONCE] ?? 0) + scan(NOTHING, text.normalize('NFC')).most) / PARTS))
  })
  const tokens = (text: string, family: number): number => scans[family]?.(text) ?? 0
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

function write({ file, name, says }: Goal, code: string): void {
  const spread = measure({ spread: [0, 0], code })
  const text = `// Made by scripts/tokens (\`npm run tokens\`) from text with exact counts; not written by hand.
import type { TokenTables } from './token-code.ts'

/** ${says} */
export const ${name}: TokenTables = {
  spread: [${spread.join(', ')}],
  code: ${JSON.stringify(code)},
}
`
  writeFileSync(join(root, 'src/context', file), text)
  console.log(`${file}: ${code.length} signs`)
}

export function writeTables(rows: Pick<Rows, 'cells'>, normal: Normal, theta: Float64Array): void {
  const numbers = roundOff(normal, theta)
  for (const [price, goal] of PATH) {
    const bytes = prune(rows, normal, numbers, price, SWEEPS)
    console.log(`price of a bit ${price}: about ${Math.round(bytes)} bytes`)
    if (!goal) continue
    const { shared, own } = cellsOf(rows, numbers)
    write(goal, encode(shared, own))
  }
}
