import { afterAll, expect, test } from 'vitest'
import { noStrayRejections } from '../chat/world.ts'
import { planFrom } from '../support/plans.ts'
import { planOf } from './plan.ts'
import { addCounts, printCounts, report } from './replay.ts'
import { walk } from './walk.ts'

/** How many walks one test takes. */
const CHUNK = 25

/** `TIDEMARK_SEED=7` or `TIDEMARK_SEED=7:0,3` walks that one alone. */
const { TIDEMARK_SEED: only } = process.env

/** Walks of these seeds, as tests. Split over files, since each file has a process of its own. */
export function testWalks(from: number, to: number): void {
  noStrayRejections()
  const total = new Map<string, number>()
  afterAll(() => console.log(printCounts(total)))
  if (only !== undefined) {
    test(`the walk of seed ${only}`, async () => {
      const plan = planFrom(only, planOf)
      const { problems } = await walk(plan)
      expect(problems.length === 0 ? '' : await report(plan)).toBe('')
    })
    return
  }
  for (let first = from; first < to; first += CHUNK)
    test(`in the walks of the seeds ${first} to ${first + CHUNK - 1} nothing is lost and nothing doubled`, async () => {
      for (let seed = first; seed < first + CHUNK; seed++) {
        const plan = planOf(seed)
        const { problems, counts } = await walk(plan)
        addCounts(total, counts)
        if (problems.length > 0) expect(await report(plan)).toBe('')
      }
    }, 120_000)
}
