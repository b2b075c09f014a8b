import { expect, test } from 'vitest'
import { noStrayRejections } from '../chat/world.ts'
import { planFrom } from '../support/plans.ts'
import { planOf } from './sim/plan.ts'
import { report, walk } from './sim/walk.ts'
import type { Place } from './sim/world.ts'

noStrayRejections()

/** `TIDEMARK_SEED=7` or `TIDEMARK_SEED=7:0,3` walks that one alone; `npm run test:soak -- --turns` walks many more. */
const SEED = process.env.TIDEMARK_SEED
const WALKS: readonly [Place, number][] = [
  ['direct', 60],
  ['remote', 12],
]

test.each(WALKS)(
  'whoever allows, stops, edits and crashes when: calls are answered in order, none is executed twice, over %s',
  async (place, length) => {
    const seeds = SEED === undefined ? Array.from({ length }, (_each, seed) => `${seed}`) : [SEED]
    for (const seed of seeds) {
      const plan = planFrom(seed, planOf)
      const { problems } = await walk(place, plan)
      if (problems.length > 0) expect(await report(place, plan)).toBe('')
    }
  },
  240_000,
)
