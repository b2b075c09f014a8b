import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { noStrayRejections } from '../chat/world.ts'
import type { Plan } from './plan.ts'
import { walk } from './walk.ts'

noStrayRejections()

/** A walk that failed once: what was wrong, and the walk as it was cut down. */
interface Kept {
  found: string
  plan: Plan
}

const folder = new URL('corpus/', import.meta.url)
const kept = readdirSync(folder).map((name): [string, Kept] => [
  name,
  JSON.parse(readFileSync(new URL(name, folder), 'utf8')),
])

test.each(kept)('%s, which failed once, does not fail again', async (_, { plan }) => {
  expect((await walk(plan)).problems).toEqual([])
})

test('a walk repeats itself, step by step', async () => {
  for (const [, { plan }] of kept.slice(0, 3)) {
    const [first, second] = [await walk(plan), await walk(plan)]
    expect(second.trace).toEqual(first.trace)
    expect(second.converged).toBe(first.converged)
  }
})
