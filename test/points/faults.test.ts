import { expect, test } from 'vitest'
import { noStrayRejections } from '../chat/world.ts'
import { outagesOf, troubledBy } from './enumerate.ts'
import { DIRECT, STORIES, type Story } from './stories.ts'
import { tell } from './tell.ts'

noStrayRejections()

// The others are told by `npm run test:soak -- --points`; those of one tab over a server stand in scenario 19 as well.
const { 'two tabs, of which the second asks': tabs } = STORIES
const told = Object.entries({ ...(tabs && { 'two tabs, of which the second asks': tabs }), ...DIRECT })

test.each<[string, Story]>(told)(
  '%s; 19: whatever befalls whichever operation of the disk, it is told once, and all is well in the end',
  async (_, story) => {
    const clean = await tell(story)
    const outages = outagesOf(clean)
    expect(outages.length).toBeGreaterThan(90)
    const problems: string[] = []
    for (const outage of outages) problems.push(...(await troubledBy(story, outage)))
    expect(problems).toEqual([])
  },
  240_000,
)
