import { heal, shut } from '../simulation/walk.ts'
import { type Counter, type Crash, createCounter } from './counter.ts'
import { type Oracle, serverOracle } from './oracle.ts'
import { openStage, type Setting, type Stage } from './stage.ts'
import { echo, type Story } from './stories.ts'
import { type Outage, type Troubled, troubled } from './troubled.ts'

export interface Told {
  /** What the story came to: each a point. */
  readonly labels: Counter['labels']
  /** What was waited for in vain. */
  missed: readonly string[]
  /** Whether the crash, or the fault, happened. */
  happened: boolean
  /** What the first device's disk was asked for. */
  disk: Troubled
  problems: readonly string[]
}

/** What a telling may be spoilt by. */
export interface Spoilt extends Outage {
  crash?: Crash
  /** Hears what is done, step by step. */
  trace?: (did: string) => void
}

/** Milliseconds that healing may take: a lease, a back-off, a lost connection. */
const PATIENCE = 240_000

/** Lets everything become the same again. */
export async function settle({ world, pass }: Stage, { differs }: Oracle): Promise<void> {
  const last = world.schedule.now() + PATIENCE
  let left = ['']
  for (let wait = 300; left.length > 0 && world.schedule.now() < last; wait = Math.min(2_000, wait * 2)) {
    await pass(wait)
    if (world.problems.length > 0) return
    left = await differs(world)
  }
  world.problems.push(...left)
}

const twice = (keys: readonly string[]): string[] =>
  [...new Set(keys)].filter((key) => keys.indexOf(key) !== keys.lastIndexOf(key))

/** Tells a story, with a crash where one is ordered, and looks whether everything is as if there had been none. */
export async function tell(story: Story, { crash, trace, ...outage }: Spoilt = {}): Promise<Told> {
  const disk = troubled(outage)
  const counter = createCounter(crash)
  const executed: string[] = []
  const oracle = story.oracle?.() ?? serverOracle()
  const setting: Setting = {
    say: story.say ?? echo,
    async look(world) {
      disk.look(world)
      await oracle.look(world)
    },
    power: disk.power,
    ...(trace && { trace }),
    ...(story.devices !== undefined && { devices: story.devices }),
    planted: { ...story.planted?.({ counter, executed }), ...disk.planted },
    ...(story.user && { user: story.user() }),
  }
  const stage = openStage(counter, setting)
  const { world } = stage
  try {
    await story.tell(stage)
    counter.stop()
    disk.mend()
    const missed = [...stage.missed]
    heal(world)
    const differs = async () => [...disk.differs(world), ...(await oracle.differs(world))]
    if (world.problems.length === 0) await settle(stage, { ...oracle, differs })
    world.problems.push(...disk.problems())
    if (world.problems.length === 0) await shut(world)
    for (const key of twice(executed)) world.problems.push(`${key} was executed more than once`)
    const happened = counter.happened || disk.happened
    return { labels: counter.labels, disk, missed, happened, problems: world.problems }
  } finally {
    world.server.db.close()
  }
}
