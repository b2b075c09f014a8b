import { afterAll, expect, test } from 'vitest'
import { planOf } from './plan.ts'
import { PLANTED } from './planted.ts'
import { walk } from './walk.ts'

/** `PLANTED=2000` looks for longer. */
const MOST = Number(process.env.PLANTED ?? 40)

/** Where the search begins for what few walks find. */
const FROM: Readonly<Record<string, number>> = {
  'what was built on less than is stored is written': 24,
  'a lost answer is asked for under a new key': 40,
  'a lost lease writes on': 80,
  'a stale claim is written': 24,
  'a row is sent under another account': 19,
  'nobody notices that a backup was restored': 190,
  'what is stored does not say that it is of another history': 1425,
}

const found: string[] = []
afterAll(() => console.log(found.join('\n')))

// What a planted fault does to promises that nobody looks at is its own affair.
const stray = () => undefined
process.on('unhandledRejection', stray)
afterAll(() => void process.off('unhandledRejection', stray))

/** The first walk that is not right with this fault, and what is said of it. */
async function firstRed(name: string): Promise<string> {
  let times = 0
  const hit = () => {
    times++
  }
  const from = FROM[name] ?? 0
  for (let seed = from; seed < from + MOST; seed++) {
    const { problems } = await walk(planOf(seed), PLANTED[name]?.(hit) ?? {})
    const [problem] = problems
    if (problem === undefined) continue
    found.push(
      `${name}: made ${times} times, found by seed ${seed}: ${problem.split('\n')[0]?.slice(0, 160)}`,
    )
    return problem
  }
  return ''
}

test.each(Object.keys(PLANTED))('the walk finds out that %s', async (name) => {
  expect(await firstRed(name)).not.toBe('')
})
