import { expect, test } from 'vitest'
import { noStrayRejections } from '../chat/world.ts'
import type { Crash } from './counter.ts'
import { broken, crashesOf } from './enumerate.ts'
import type { Story } from './stories.ts'
import { tell } from './tell.ts'

const HOLDS = 'wherever somebody dies in it, everything is the same in the end'

/** Tells each story once for each point at which one side can die, which dies there. */
export function testCrashes(side: Crash['side'], stories: Readonly<Record<string, Story>>, where = ''): void {
  noStrayRejections()
  test.each(Object.entries(stories))(
    `%s${where}; the ${side}: ${HOLDS}`,
    async (_, story) => {
      const clean = await tell(story)
      expect({ problems: clean.problems, missed: clean.missed }).toEqual({ problems: [], missed: [] })
      const crashes = crashesOf(side, clean, false)
      expect(crashes.length).toBeGreaterThan(10)
      const problems: string[] = []
      for (const crash of crashes)
        problems.push(...(await broken(story, crash, clean.labels[side][crash.n - 1])))
      expect(problems).toEqual([])
    },
    240_000,
  )
}
