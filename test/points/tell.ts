import { heal, shut } from '../simulation/walk.ts'
import { type Counter, type Crash, createCounter } from './counter.ts'
import { type Oracle, serverOracle } from './oracle.ts'
import { openStage, type Setting, type Stage } from './stage.ts'
import { echo, type Story } from './stories.ts'

export interface Told {
  /** What the story came to: each a point. */
  readonly labels: Counter['labels']
  /** What was waited for in vain. */
  missed: readonly string[]
  /** Whether the crash happened. */
  happened: boolean
  problems: readonly string[]
}

/** What a telling may be spoilt by. */
export interface Spoilt {
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
export async function tell(story: Story, { crash, trace }: Spoilt = {}): Promise<Told> {
  const counter = createCounter(crash)
  const executed: string[] = []
  const oracle = story.oracle?.() ?? serverOracle()
  const setting: Setting = {
    say: story.say ?? echo,
    look: oracle.look,
    ...(trace && { trace }),
    ...(story.devices !== undefined && { devices: story.devices }),
    ...(story.planted && { planted: story.planted({ counter, executed }) }),
    ...(story.user && { user: story.user() }),
  }
  const stage = openStage(counter, setting)
  const { world } = stage
  try {
    await story.tell(stage)
    counter.stop()
    const missed = [...stage.missed]
    heal(world)
    if (world.problems.length === 0) await settle(stage, oracle)
    if (world.problems.length === 0) await shut(world)
    for (const key of twice(executed)) world.problems.push(`${key} was executed more than once`)
    return { labels: counter.labels, missed, happened: counter.happened, problems: world.problems }
  } finally {
    world.server.db.close()
  }
}
