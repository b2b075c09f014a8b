import { expect, test } from 'vitest'
import { noStrayRejections } from '../chat/world.ts'
import { planFrom } from '../support/plans.ts'
import { FAILING, planOf, WIDE } from './sim/plan.ts'
import { report, walk } from './sim/walk.ts'
import type { Place } from './sim/world.ts'

noStrayRejections()

/** `TIDEMARK_SEED=7` or `TIDEMARK_SEED=7:0,3` walks that one alone; `npm run test:soak -- --turns` walks many more. */
const SEED = process.env.TIDEMARK_SEED
const WALKS: readonly [Place, number, number][] = [
  ['direct', 60, 20],
  ['remote', 12, 4],
]

const range = (from: number, length: number) => Array.from({ length }, (_each, n) => `${from + n}`)

/** Walks that were not right once, cut down to what mattered. */
const FOUND: Readonly<Record<Place, readonly string[]>> = {
  // A branch was shown that is older than the newest rows: whoever opened the session saw nothing.
  // A page stood still in a run and was taken over. It heard that its lock was gone before it read what was stored since, and
  // went on showing what it had not written.
  direct: [
    '9718:0,1,2,3,4,5,6,8,9,10,12',
    '20002:0,1',
    '20047:0,3,4,5',
    // It wrote what it had done as the one that leads, and no longer where its branch ends.
    '23096:0,1,3,4,6,7,8,9,10,11',
    // The model broke off before its first word was stored: that was taken for a model that nobody could reach.
    '40260:0',
    // It was taken over before it had stored that a question was accepted: the question's row went, and it waited for ever.
    '42807:0,1,2,3,4,5,6,7,9,10',
  ],
  remote: [],
}

test.each(WALKS)(
  'whoever allows, stops, edits and crashes when: calls are answered in order, none is executed twice, over %s',
  async (place, length, wide) => {
    const seeds = [...range(0, length), ...range(WIDE, wide), ...range(FAILING, wide), ...FOUND[place]]
    for (const seed of SEED === undefined ? seeds : [SEED]) {
      const plan = planFrom(seed, planOf)
      const { problems } = await walk(place, plan)
      if (problems.length > 0) expect(await report(place, plan)).toBe('')
    }
  },
  240_000,
)
