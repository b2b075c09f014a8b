import { afterAll, expect, test } from 'vitest'
import { PLANTED } from './planted.ts'
import { SCENES } from './scenes.ts'
import { walk } from './walk.ts'

/** `PLANTED=2000` looks for longer. */
const MOST = Number(process.env.PLANTED ?? 40)

const found: string[] = []
afterAll(() => console.log(found.join('\n')))

// What a planted fault does to promises that nobody looks at is its own affair.
const stray = () => undefined
process.on('unhandledRejection', stray)
afterAll(() => void process.off('unhandledRejection', stray))

/** The first walk that is not right with this fault, and what is said of it. */
async function firstRed(name: string): Promise<string> {
  const open = SCENES[0]?.[1]
  if (!open) throw new Error('a scene is expected')
  let times = 0
  const hit = () => {
    times++
  }
  for (let seed = 0; seed < MOST; seed++) {
    const [problem] = await walk(seed, open, PLANTED[name]?.(hit))
    if (problem === undefined) continue
    found.push(`${name}: made ${times} times, found by seed ${seed}: ${problem.slice(0, 160)}`)
    return problem
  }
  return ''
}

test.each(Object.keys(PLANTED))('the walk of turns finds out that %s', async (name) => {
  expect(await firstRed(name)).not.toBe('')
})
