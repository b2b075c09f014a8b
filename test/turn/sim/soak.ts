// One worker of `npm run test:soak -- --turns`: walks every `step`-th seed of a range, and says what it found as a line of JSON each.
import { planOf } from './plan.ts'
import { report, walk } from './walk.ts'
import type { Place } from './world.ts'

const [from = 0, to = 0, step = 1] = process.argv.slice(2).map(Number)
const counts = new Map<string, number>()
let seeds = 0

const count = (what: string, times = 1): void => void counts.set(what, (counts.get(what) ?? 0) + times)
const say = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

/** What a promise was rejected with that nobody looked at. */
const stray: unknown[] = []
process.on('unhandledRejection', (reason) => stray.push(reason))

async function run(): Promise<void> {
  for (let seed = from; seed < to; seed += step) {
    const place: Place = seed % 5 === 4 ? 'remote' : 'direct'
    const plan = planOf(seed)
    const outcome = await walk(place, plan)
    seeds++
    count(`walks over ${place}`)
    for (const [what, times] of outcome.counts) count(what, times)
    const [rejected] = stray.splice(0)
    if (rejected !== undefined) say({ seed, failed: `seed ${seed} over ${place}: nobody caught ${rejected}` })
    if (outcome.problems.length > 0) say({ seed, failed: await report(place, plan) })
    if (seeds % 100 === 0) say({ seeds })
  }
  say({ done: true, seeds, counts: [...counts] })
}

run().catch((thrown: unknown) => {
  say({ failed: `the walks ended early: ${thrown instanceof Error ? thrown.stack : thrown}` })
  process.exitCode = 1
})
