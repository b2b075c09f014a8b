import { isSettled, type Message } from '../../../src/message/schema.ts'
import { validateConversation } from '../../../src/message/validate.ts'
import { act, pass } from './act.ts'
import { type Plan, planOf } from './plan.ts'
import { resultProblems, type Stored } from './stored.ts'
import { createWorld, type Place, type Planted, type World } from './world.ts'

export interface Outcome {
  problems: readonly string[]
  counts: ReadonlyMap<string, number>
  /** What happened, step by step. */
  trace: readonly string[]
}

/** Milliseconds for which a world without faults may take to come to rest: back-offs, leases, lost connections. */
const PATIENCE = 240_000

/** Milliseconds after which somebody looks at every page once more. */
const LOOK_AGAIN = 60_000

const shown = (messages: readonly Message[]): string =>
  JSON.stringify(messages.map(({ id, status, content }) => [id, status, content]))

function isAsStored({ messages }: Stored, message: Message): boolean {
  const known = messages.get(message.id)
  return known !== undefined && shown([known]) === shown([message])
}

/** Nothing goes on anywhere, and everybody knows. */
const isQuiet = ({ tabs, stored }: World): boolean =>
  [...stored.messages.values()].every(isSettled) &&
  tabs.every(({ session, chat }) => {
    const { status, messages } = session.get()
    return (
      status === 'ready' &&
      messages.every((message) => isSettled(message) && isAsStored(stored, message)) &&
      messages.at(-1)?.id === tabs[0]?.session.get().messages.at(-1)?.id &&
      chat.health.get().outbox === 0
    )
  })

/** No faults any more, and whatever waits is told no: then it comes to rest. */
async function settle(world: World): Promise<boolean> {
  const { schedule } = world
  world.healed = true
  world.doomed.clear()
  world.fatal = undefined
  world.server?.heal()
  for (const { actor, page } of world.tabs) {
    if (actor.state !== 'frozen') continue
    actor.state = 'running'
    page.fire('resume')
  }
  for (const device of world.devices) if (!world.tabs.some((tab) => tab.device === device)) world.open(device)
  const began = schedule.now()
  for (let looks = 0; schedule.now() < began + PATIENCE; ) {
    // A session that the server did not know at first is asked for when somebody looks.
    if (schedule.now() - began >= looks * LOOK_AGAIN) {
      looks++
      for (const { page } of world.tabs) page.fire('pageshow')
    }
    const [tab] = world.tabs
    for (const { id } of tab?.session.get().waiting ?? []) tab?.session.reject(id).catch(() => undefined)
    await pass(world, 2_000)
    if (isQuiet(world)) return true
  }
  return false
}

function* endProblems(world: World): Generator<string> {
  const { stored, tabs } = world
  for (const id of stored.lost()) yield `the question ${id} was on a disk, and is not stored`
  const all = tabs.map(({ session }) => session.get().messages)
  // A page that opens reads the newest messages only.
  const newest = Math.min(...all.map(({ length }) => length))
  if (new Set(all.map((messages) => shown(messages.slice(-newest)))).size > 1)
    yield `two tabs show different things: ${all.map(shown).join('\n')}`
  for (const shownHere of all) {
    // Where older ones are not loaded, the first of them may be results of what is not shown.
    const from = shownHere.findIndex(({ role }) => role !== 'tool')
    const messages = shownHere.slice(from < 0 ? shownHere.length : from)
    for (const { code, message } of validateConversation(messages).errors)
      if (code !== 'consecutive-users') yield `${code}: ${message}`
    yield* resultProblems(messages, stored)
  }
}

async function play(world: World, trace: string[]): Promise<void> {
  const { plan, schedule, stored } = world
  for (const action of plan.actions) {
    trace.push(`# ${JSON.stringify(action)}`)
    await act(world, action)
    for (let step = 0; step < action.steps && stored.problems.length === 0; step++) {
      const did = await schedule.step(schedule.now() + 5_000)
      if (did === undefined) break
      trace.push(did)
    }
    if (stored.problems.length > 0) return
  }
  if (!(await settle(world))) {
    for (const { session, chat, actor } of world.tabs) {
      const { status, messages } = session.get()
      const waits = chat.health.get().outbox
      stored.problems.push(
        `it does not come to rest: ${actor.name} is ${status}, ${waits} wait: ${shown(messages)}`,
      )
    }
    return
  }
  world.open()
  await pass(world, 3_000)
  stored.problems.push(...endProblems(world))
}

/** Walks a plan to its end, or to the first problem. */
export async function walk(place: Place, plan: Plan, planted: Planted = {}): Promise<Outcome> {
  const world = createWorld(place, plan, planted)
  const { stored, schedule } = world
  const trace: string[] = []
  try {
    await play(world, trace)
  } catch (thrown) {
    stored.problems.push(`the bench failed: ${thrown instanceof Error ? thrown.stack : thrown}`)
  } finally {
    for (const { actor } of world.tabs) schedule.kill(actor)
    world.server?.db.close()
  }
  return { problems: stored.problems, counts: world.counts, trace }
}

/** What somebody needs to see a walk fail again: its plan with as few actions as fail as well. */
export async function report(place: Place, plan: Plan, planted: Planted = {}): Promise<string> {
  let best = plan
  let outcome = await walk(place, plan, planted)
  for (let size = Math.ceil(plan.actions.length / 2); size >= 1; size = Math.floor(size / 2))
    for (let at = 0; at < best.actions.length; ) {
      const fewer = { ...best, actions: best.actions.toSpliced(at, size) }
      const tried = await walk(place, fewer, planted)
      if (tried.problems.length === 0) at += size
      else [best, outcome] = [fewer, tried]
    }
  const kept = best.actions.map((action) => plan.actions.indexOf(action))
  return [
    `seed ${plan.seed} over ${place} fails; again with TIDEMARK_SEED=${plan.seed}:${kept}`,
    ...outcome.problems.slice(0, 3),
    '...',
    ...outcome.trace.slice(-40),
  ].join('\n')
}

export { planOf }
