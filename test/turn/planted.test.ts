import { afterAll, expect, test } from 'vitest'
import { planOf } from './sim/plan.ts'
import { PLANTED, type Plant } from './sim/planted.ts'
import { walk } from './sim/walk.ts'
import type { Place } from './sim/world.ts'

/** `PLANTED=2000` looks for longer. */
const MOST = Number(process.env.PLANTED ?? 60)

const found: string[] = []
afterAll(() => console.log(found.join('\n')))

// What a planted fault does to promises that nobody looks at is its own affair.
const stray = () => undefined
process.on('unhandledRejection', stray)
afterAll(() => void process.off('unhandledRejection', stray))

/** What is said of the first walk that is not right with this fault. */
async function firstRed(name: string, place: Place, plant: Plant, from: number): Promise<string> {
  let times = 0
  const hit = () => {
    times++
  }
  for (let seed = from; seed < from + MOST; seed++) {
    const { problems } = await walk(place, planOf(seed), plant(hit))
    const [problem] = problems
    if (problem === undefined) continue
    found.push(`${name}: made ${times} times, found by seed ${seed}: ${problem.slice(0, 160)}`)
    return problem
  }
  return ''
}

test.each(Object.entries(PLANTED))(
  'the walk of turns finds out that %s',
  async (name, [place, plant, from = 0]) => {
    expect(await firstRed(name, place, plant, from)).not.toBe('')
  },
)
