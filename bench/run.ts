// `npm run bench`: what DESIGN's budgets promise, each beside a peer in the same run.
//   --only sse | store | json | context | memory | tokens | accuracy | sizes, or the beginning of a case's name
//   --only write | kill | tabs | open | resync | heal   what takes a browser of its own
//   --rounds 15
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { devSamples, hasCorpus } from '../scripts/tokens/corpus.ts'
import { accuracyTable, speedTexts } from './accuracy.ts'
import { bundleInto } from './bundle.ts'
import { type Engine, openChromium, openNode } from './engines.ts'
import { openStage } from './live/browser.ts'
import { type Figure, measureRow } from './live/figures.ts'
import { LIVE_ROWS } from './live/rows.ts'
import { caseNames, type Sizes } from './peers/cases.ts'
import { type CaseRow, countHeld, figuresTable, ratiosTable, sizesTable, timesTable } from './print.ts'
import { measureSizes, type Size } from './sizes.ts'

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, rounds: { type: 'string', default: '15' } },
})

const sizes: Sizes = {
  sse: { events: 10_000, many: 100_000 },
  store: { deltas: 10_000, few: 1_000, many: 50_000, history: 2_000 },
  json: { characters: 200_000 },
  context: { messages: 10_000 },
  memory: { facts: 100_000, dims: 384 },
  tokens: { texts: hasCorpus ? speedTexts(devSamples()) : [] },
}

/** What was measured on, and how busy it was: a ratio from a busy machine says less. */
function machine(): string {
  const all = cpus()
  const load = loadavg()[0] ?? 0
  return `${all.length} × ${all[0]?.model.trim() ?? 'unknown'}, ${process.platform} ${process.arch}, load ${load.toFixed(1)}`
}

async function measureCases(names: readonly string[], rounds: number): Promise<[Engine[], CaseRow[]]> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-bench-'))
  const engines: Engine[] = []
  try {
    const bundle = await bundleInto(folder, 'peers/cases.ts', 'cases.mjs')
    engines.push(openNode(bundle), await openChromium(bundle))
    const rows: CaseRow[] = []
    for (const name of names) {
      process.stderr.write(`${name}\n`)
      try {
        const results = []
        for (const engine of engines) results.push(await engine.run(name, sizes, { rounds }))
        rows.push({ name, results })
      } catch (thrown) {
        // What was measured before and what comes after is told all the same; that it is not all, by the end of this process.
        console.error(`${name} broke off:`, thrown)
        process.exitCode = 1
      }
    }
    return [engines, rows]
  } finally {
    for (const engine of engines) await engine.close()
    rmSync(folder, { recursive: true })
  }
}

async function measureLive(rows: typeof LIVE_ROWS): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-live-'))
  const stage = await openStage(folder)
  try {
    const figures: Figure[] = []
    for (const row of rows) {
      process.stderr.write(`${row.name}\n`)
      figures.push(...(await measureRow(row, stage)))
    }
    return figures
  } finally {
    await stage.close()
    rmSync(folder, { recursive: true })
  }
}

const { only } = values
const rounds = Number(values.rounds)
if (!Number.isInteger(rounds) || rounds < 1)
  throw new Error('--rounds: expected a whole number of at least 1')
const names = caseNames(sizes).filter((name) => name.startsWith(only))
const withSizes = 'sizes'.startsWith(only)
const withAccuracy = hasCorpus && 'accuracy'.startsWith(only)
const rows = LIVE_ROWS.filter(({ name }) => name.startsWith(only))
if (names.length + rows.length === 0 && !withSizes && !withAccuracy)
  throw new Error(`--only ${only}: no case begins so`)

console.log(machine())
let cases: CaseRow[] = []
let own: Size[] = []
let figures: Figure[] = []
if (names.length > 0) {
  const [engines, measured] = await measureCases(names, rounds)
  cases = measured
  const columns = engines.map(({ name }) => name)
  console.log(`\nTime per piece of work, median of ${rounds} rounds\n`)
  console.log(timesTable(columns, cases))
  console.log('\nRatios of medians (quartiles round by round)\n')
  console.log(ratiosTable(columns, cases))
  if (names.some((name) => name.startsWith('store')))
    console.log('\nTanStack AI waits for a timer after each event: its time is mostly waiting, not work.')
}
if (rows.length > 0) {
  figures = await measureLive(rows)
  console.log('\nIn Chromium, with what it stores: the figure that the bound is about is marked\n')
  console.log(figuresTable(figures))
}
if (withAccuracy) {
  console.log('\nHow far estimates of tokens are off, mean over eight tokenizers and 48 kinds of text\n')
  console.log(accuracyTable())
}
if (withSizes) {
  const { ours, peers } = await measureSizes()
  own = ours
  console.log('\nWhat a page pays\n')
  console.log(sizesTable(ours, peers))
}
const { held, all } = countHeld(cases, own, figures)
console.log(`\n${held} of ${all} bounds held; ${machine()}`)
