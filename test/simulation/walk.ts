import { FIRST } from './accounts.ts'
import { act, pass } from './act.ts'
import { crash, openTab, type Tab } from './clients.ts'
import { differences, ledgerProblems } from './converge.ts'
import type { Plan } from './plan.ts'
import { watch } from './watch.ts'
import { createWorld, type Planted, type World } from './world.ts'

export interface Outcome {
  problems: string[]
  counts: Map<string, number>
  /** What happened, step by step. */
  trace: string[]
  /** Milliseconds from healing until everything was the same. */
  converged: number
  /** Requests of the busiest tab after healing. */
  requests: number
  /** Tasks that ran in all. */
  steps: number
}

/** Milliseconds for which the world may take to be of one mind again: a back-off, a lease, and a lost connection. */
const PATIENCE = 240_000
/** So many times that, while the server answers: calls that nobody decides about are each waited for, one answer after the other. */
const ANSWERING = 4
/** Milliseconds after which somebody looks at every page once more. */
const LOOK_AGAIN = 120_000
/** Requests that a tab may need for it. */
const MOST_REQUESTS = 60

const isAnswering = ({ truth }: World): boolean =>
  truth.all().some(({ deleted, state: { live, runs } }) => !deleted && live.size + runs.size > 0)

const tabsOf = (world: World): Tab[] => world.devices.flatMap(({ tabs }) => tabs)

export function heal(world: World): void {
  world.healed = true
  world.server.heal()
  for (const device of world.devices) {
    device.account = FIRST
    for (const tab of device.tabs) if (tab.account !== FIRST) crash(world, tab)
    if (device.tabs.length === 0) openTab(world, device, ++world.tabsOpened)
    for (const { actor, page } of device.tabs) {
      if (actor.state === 'frozen') actor.state = 'running'
      world.network.line(actor, true)
      page.line(true)
      page.show(true)
      page.fire('pageshow')
    }
  }
}

/** After healing everything becomes the same by itself, with a bounded number of requests; then nothing more is asked. */
async function settle(
  world: World,
  look: () => Promise<boolean>,
): Promise<{ converged: number; requests: number }> {
  const { schedule, network, problems } = world
  const began = schedule.now()
  const before = new Map(tabsOf(world).map((tab) => [tab, network.requests(tab.actor)]))
  let differs = ['not looked at yet']
  let looked = false
  while (differs.length > 0 && schedule.now() - began < PATIENCE * (isAnswering(world) ? ANSWERING : 1)) {
    // Somebody looks again: a session that the server did not know at first is asked for.
    if (!looked && schedule.now() - began > LOOK_AGAIN)
      for (const { page } of tabsOf(world)) page.fire('pageshow')
    looked ||= schedule.now() - began > LOOK_AGAIN
    const until = schedule.now() + 2_000
    while ((await schedule.step(until)) !== undefined)
      if (!(await look())) return { converged: 0, requests: 0 }
    differs = await differences(world)
  }
  problems.push(...differs, ...(differs.length === 0 ? ledgerProblems(world) : []))
  const converged = schedule.now() - began
  const needed = tabsOf(world).map((tab) => network.requests(tab.actor) - (before.get(tab) ?? 0))
  const requests = Math.max(0, ...needed)
  if (requests > MOST_REQUESTS) problems.push(`it took ${requests} requests to be of one mind`)
  // Who shows it all may still wait for its line to be there again.
  await pass(world, 10_000, () => undefined)
  const quiet = new Map(tabsOf(world).map((tab) => [tab, network.requests(tab.actor)]))
  await pass(world, 60_000, () => undefined)
  for (const [tab, count] of quiet) {
    const more = network.requests(tab.actor) - count
    if (more > 2) problems.push(`${tab.actor.name} sent ${more} requests in a quiet minute`)
  }
  problems.push(...(await differences(world)))
  return { converged, requests }
}

/** Whoever closes leaves nothing behind. */
export async function shut(world: World): Promise<void> {
  const tabs = tabsOf(world)
  for (const { chat, actor } of tabs)
    chat.close().catch((thrown) => world.problems.push(`${actor.name}: close threw ${thrown}`))
  await pass(world, 1_000, () => undefined)
  for (const { actor, page } of tabs) {
    const { timers } = world.schedule.waiting(actor)
    if (timers > 0) world.problems.push(`${actor.name}: ${timers} timers after it closed`)
    if (page.listeners() > 0)
      world.problems.push(`${actor.name}: ${page.listeners()} listeners after it closed`)
  }
}

/** Walks a plan to its end, or to the first problem. */
export async function walk(plan: Plan, planted: Planted = {}): Promise<Outcome> {
  const world = createWorld(plan, planted)
  const trace: string[] = []
  const outcome: Outcome = {
    problems: world.problems,
    counts: world.counts,
    trace,
    converged: 0,
    requests: 0,
    steps: 0,
  }
  const look = async () => {
    await watch(world)
    return world.problems.length === 0
  }
  try {
    for (const action of plan.actions) {
      trace.push(`# ${JSON.stringify(action)}`)
      await act(world, action, () => undefined)
      for (let step = 0; step < action.steps; step++) {
        const did = await world.schedule.step(world.schedule.now() + 5_000)
        if (did === undefined) break
        trace.push(did)
        if (!(await look())) return outcome
      }
      if (!(await look())) return outcome
    }
    trace.push('# heal')
    heal(world)
    Object.assign(outcome, await settle(world, look))
    if (world.problems.length === 0) await shut(world)
  } catch (thrown) {
    world.problems.push(`the bench failed: ${thrown instanceof Error ? thrown.stack : thrown}`)
  } finally {
    outcome.steps = world.schedule.steps()
    world.server.db.close()
  }
  return outcome
}
