// One worker of `npm run test:soak`: walks every `step`-th seed of a range, and says what it found as a line of JSON each.
import { planOf } from './plan.ts'
import { addCounts, report } from './replay.ts'
import { walk } from './walk.ts'

const [from = 0, to = 0, step = 1] = process.argv.slice(2).map(Number)
const counts = new Map<string, number>()
let seeds = 0
let converged = 0

/** What a promise was rejected with that nobody looked at. */
const stray: unknown[] = []
process.on('unhandledRejection', (reason) => stray.push(reason))

async function run(): Promise<void> {
  for (let seed = from; seed < to; seed += step) {
    const plan = planOf(seed)
    const outcome = await walk(plan)
    seeds++
    converged = Math.max(converged, outcome.converged)
    addCounts(counts, outcome.counts)
    const [rejected] = stray.splice(0)
    if (rejected !== undefined)
      process.stdout.write(`${JSON.stringify({ seed, failed: `nobody caught ${rejected}` })}\n`)
    if (outcome.problems.length > 0)
      process.stdout.write(`${JSON.stringify({ seed, failed: await report(plan) })}\n`)
    if (seeds % 100 === 0) process.stdout.write(`${JSON.stringify({ seeds })}\n`)
  }
  process.stdout.write(`${JSON.stringify({ done: true, seeds, converged, counts: [...counts] })}\n`)
}

void run()
