import type { Crash } from './counter.ts'
import type { Story } from './stories.ts'
import { type Told, tell } from './tell.ts'
import { KINDS, type Outage } from './troubled.ts'

/** A read leaves nothing behind: whoever dies before or after it leaves what the last write left. */
const isRead = (label: string): boolean => label.startsWith('GET ') || /^storage (?!commit)/.test(label)

/**
 * Where to break a story off, of all the points that it came to.
 * @param whole everywhere; else only at writes, and of the server's statements at commits
 */
export function crashesOf(side: Crash['side'], { labels }: Told, whole: boolean): Crash[] {
  const crashes: Crash[] = []
  let writes = false
  for (const [at, label] of labels[side].entries()) {
    if (label.startsWith('begin')) writes = label === 'begin immediate'
    const isWrite = side === 'server' ? label === 'commit' && writes : !isRead(label)
    if (!whole && !isWrite) continue
    for (const when of ['before', 'after'] as const) crashes.push({ side, n: at + 1, when })
  }
  return crashes
}

/** Every fault at every operation of the disk, and a loss of power at every batch that it stores. */
export function outagesOf({ disk }: Told): Outage[] {
  const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1)
  return [
    ...KINDS.flatMap((kind) => upTo(disk.operations).map((n) => ({ fault: { kind, n } }))),
    ...[1, 2, Number.POSITIVE_INFINITY].flatMap((lost) =>
      upTo(disk.commits).map((n) => ({ power: { n, lost } })),
    ),
  ]
}

/** Tells a story over a disk that fails once. Returns what is wrong, and where it was. */
export async function troubledBy(story: Story, outage: Outage): Promise<string[]> {
  const { problems, happened } = await tell(story, outage)
  const where = JSON.stringify(outage)
  if (!happened) return [`${where}: it never came to that`]
  return problems.slice(0, 1).map((problem) => `${where}: ${problem}`)
}

/** Tells a story with a crash. Returns what is wrong, and where it was. */
export async function broken(story: Story, crash: Crash, label: string | undefined): Promise<string[]> {
  const { problems, happened } = await tell(story, { crash })
  const where = `dead ${crash.when} point ${crash.n} of the ${crash.side}, ${label}`
  if (!happened) return [`${where}: it never came to that`]
  return problems.slice(0, 1).map((problem) => `${where}: ${problem}`)
}
