import type { Crash } from './counter.ts'
import type { Story } from './stories.ts'
import { type Told, tell } from './tell.ts'

/** A read leaves nothing behind: whether somebody dies before or after it is the same. */
const isRead = (label: string): boolean => label.startsWith('GET ') || /^storage (?!commit)/.test(label)

/**
 * Where to break a story off, of all the points that it came to.
 * @param whole everywhere; else only where dying leaves something else behind than dying at the point before
 */
export function crashesOf(side: Crash['side'], { labels }: Told, whole: boolean): Crash[] {
  const crashes: Crash[] = []
  let writes = false
  for (const [at, label] of labels[side].entries()) {
    if (label.startsWith('begin')) writes = label === 'begin immediate'
    const n = at + 1
    if (!whole && side === 'server' && !(label === 'commit' && writes)) continue
    crashes.push({ side, n, when: 'before' })
    if (whole || !isRead(label)) crashes.push({ side, n, when: 'after' })
  }
  return crashes
}

/** Tells a story with a crash. Returns what is wrong, and where it was. */
export async function broken(story: Story, crash: Crash, label: string | undefined): Promise<string[]> {
  const { problems, happened } = await tell(story, { crash })
  const where = `dead ${crash.when} point ${crash.n} of the ${crash.side}, ${label}`
  if (!happened) return [`${where}: it never came to that`]
  return problems.slice(0, 1).map((problem) => `${where}: ${problem}`)
}
