// `npm run test:soak -- --seeds 20000 --from 0`: many walks of the simulation, over all cores or `--workers 1`. Prints each seed that fails,
// cut down to what matters, and how often each fault was injected. With `--turns` the walks of turns: of five seeds four in the page, one over
// a server. With `--points` the stories of `test/points`, broken off at every call of a port and every statement of the
// server.
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { checkNode, ensurePackages, root } from './bootstrap.mjs'

/** @typedef {{ seed?: number, failed?: string, done?: boolean, seeds?: number, converged?: number, counts?: [string, number][] }} Line */

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '2000' },
    from: { type: 'string', default: '0' },
    turns: { type: 'boolean', default: false },
    points: { type: 'boolean', default: false },
    workers: { type: 'string', default: `${availableParallelism()}` },
  },
})
const what = values.points ? 'crashes' : 'seeds'
const from = Number(values.from)
const to = from + Number(values.seeds)
const workers = Math.max(1, Math.min(Number(values.workers), to - from))

/** @type {Map<string, number>} */
const counts = new Map()
let walked = 0
let failed = 0
let converged = 0

/** @param {Line} line */
function take(line) {
  if (line.failed !== undefined) {
    failed++
    console.log(`\n✗ ${line.failed}\n`)
  }
  // For whoever ends it early.
  if (line.seeds && line.seeds % 500 === 0) console.log(`a worker has walked ${line.seeds} ${what} more`)
  if (!line.done) return
  walked += line.seeds ?? 0
  converged = Math.max(converged, line.converged ?? 0)
  for (const [fault, times] of line.counts ?? []) counts.set(fault, (counts.get(fault) ?? 0) + times)
}

/** So many seeds are walked by one process: whatever of a walk a process keeps goes with it. */
const SLICE = 1_000

/**
 * @param {string[]} range
 * @returns {Promise<void>}
 */
function work(range) {
  const folder = values.points ? 'points' : values.turns ? 'turn/sim' : 'simulation'
  const file = join(root, 'test', folder, 'soak.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...range], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  createInterface({ input: child.stdout }).on('line', (text) => take(JSON.parse(text)))
  return new Promise((resolve) => {
    child.on('close', (code) => {
      if (code !== 0) {
        failed++
        console.error(`✗ a worker ended with ${code}`)
      }
      resolve()
    })
  })
}

/** What each process does, in turn: points go by their number among all, seeds in slices. */
const slices = values.points
  ? Array.from({ length: workers }, (_, at) => [at, workers])
  : Array.from({ length: Math.ceil((to - from) / SLICE) }, (_, at) => {
      const first = from + at * SLICE
      return [first, Math.min(to, first + SLICE), 1]
    })

/** @returns {Promise<void>} */
async function workThrough() {
  for (let range = slices.shift(); range; range = slices.shift()) await work(range.map(String))
}

checkNode()
ensurePackages()
const began = performance.now()
await Promise.all(Array.from({ length: workers }, workThrough))
for (const [fault, times] of [...counts].sort()) console.log(`${fault}: ${times}`)
const seconds = ((performance.now() - began) / 1000).toFixed(0)
const after = values.turns || values.points ? '' : `; of one mind after at most ${converged} ms of their time`
console.log(`${walked} ${what} in ${seconds} s${after}`)
console.log(`${walked - failed} passed, ${failed} failed`)
process.exitCode = failed > 0 || walked === 0 || (!values.points && walked !== to - from) ? 1 : 0
