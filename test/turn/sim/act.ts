import type { Sent } from '../../../src/chat/types.ts'
import { TidemarkError } from '../../../src/lib/errors.ts'
import { isCutOff, type ToolMessage } from '../../../src/message/schema.ts'
import type { Action, ActionType } from './plan.ts'
import { count, type Tab, type World } from './world.ts'

/** Codes with which an action may be refused; anything else is a mistake. */
const REFUSALS = ['aborted', 'not-found', 'conflict', 'invalid-request']

/** Nobody minds that there is nothing to do it to. */
function leniently({ stored }: World, { actor }: Tab, type: string, work: Promise<unknown>): void {
  work.catch((thrown: unknown) => {
    if (actor.state === 'dead') return
    if (!(thrown instanceof TidemarkError) || !REFUSALS.includes(thrown.code))
      stored.problems.push(`${type} threw ${thrown instanceof Error ? thrown.stack : String(thrown)}`)
  })
}

/** What is said to be on a disk is not lost, whatever comes. */
const ask = (world: World, tab: Tab, type: string, sent: Promise<Sent>): void =>
  leniently(
    world,
    tab,
    type,
    sent.then(({ id, saved }) => saved === 'disk' && world.stored.promise(id)),
  )

/** Somebody's word about a call. */
function say({ stored }: World, { session }: Tab, { id, stage }: ToolMessage, at: number): Promise<unknown> {
  const approve = (options = {}) => {
    stored.allow(id)
    return session.approve(id, options)
  }
  const words: readonly (() => Promise<unknown>)[] =
    stage === 'client'
      ? [
          () => session.toolResult(id, { data: `yes ${at}` }),
          () => session.toolResult(id, { error: `no ${at}` }),
          () => session.reject(id, `no ${at}`),
        ]
      : [() => approve(), () => session.reject(id, `no ${at}`), () => approve({ arguments: { word: at } })]
  return words[at % words.length]?.() ?? Promise.resolve()
}

interface Scene {
  world: World
  tab: Tab
  action: Action
  at: number
}

const chosen = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(1, list.length)]

/** Somebody has something to say soon: they wait for it a little. */
async function untilAsked(world: World, { session }: Tab): Promise<void> {
  const until = world.schedule.now() + 400
  while (session.get().waiting.length === 0 && (await world.schedule.step(until)) !== undefined);
}

async function decide({ world, tab, action, at }: Scene): Promise<void> {
  await untilAsked(world, tab)
  const call = chosen(tab.session.get().waiting, at)
  if (call) leniently(world, tab, action.type, say(world, tab, call, at))
}

const awake = ({ tabs }: World): Tab[] => tabs.filter(({ actor }) => actor.state === 'running')

/** Two tabs say something else of the same call, at once. */
async function quarrel({ world, tab, action, at }: Scene): Promise<void> {
  await untilAsked(world, tab)
  const call = chosen(tab.session.get().waiting, at)
  const other = awake(world).find(({ session }) => session !== tab.session) ?? world.open()
  if (!call) return
  leniently(world, tab, action.type, say(world, tab, call, at))
  leniently(world, other, action.type, say(world, other, call, at + 1))
}

const newText = (world: World): string => {
  count(world, 'questions')
  return `question ${world.counts.get('questions')}`
}

/** Milliseconds of virtual time, with all that happens meanwhile. */
export async function pass({ schedule }: World, ms: number): Promise<void> {
  const until = schedule.now() + ms
  while ((await schedule.step(until)) !== undefined);
}

const ACTIONS: Readonly<Record<ActionType, (scene: Scene) => void | Promise<void>>> = {
  decide,
  quarrel,
  send: ({ world, tab }) => ask(world, tab, 'send', tab.session.send(newText(world))),
  interrupt: ({ world, tab }) =>
    ask(world, tab, 'send', tab.session.send(newText(world), { whenBusy: 'interrupt' })),
  stop: ({ world, tab }) => leniently(world, tab, 'stop', tab.session.stop()),
  edit({ world, tab, at }) {
    const asked = tab.session.get().messages.filter(({ role, seq }) => role === 'user' && seq !== undefined)
    const message = chosen(asked, at)
    if (message) ask(world, tab, 'edit', tab.session.edit(message.id, newText(world)))
  },
  regenerate({ world, tab, at }) {
    const message = chosen(
      tab.session.get().messages.filter(({ role }) => role === 'assistant'),
      at,
    )
    if (message) leniently(world, tab, 'regenerate', tab.session.regenerate(message.id))
  },
  select({ world, tab, at }) {
    const message = chosen(tab.session.get().messages, at)
    const branch = message && chosen(tab.session.branches(message.id), at)
    if (branch) leniently(world, tab, 'select', tab.session.selectBranch(branch))
  },
  open({ world }) {
    if (world.tabs.length < 3) world.open()
  },
  crash: ({ world, tab }) => world.crash(tab),
  crashAt: ({ world, tab, at }) => void world.doomed.set(tab.actor.name, at % 12),
  strike({ world, at }) {
    world.fatal = at % 3
  },
  kill: ({ world }) => world.server?.kill(),
  killAt: ({ world, at }) => world.server?.killAt(1 + (at % 60)),
  serve: ({ world }) => world.server?.heal(),
  continue({ world, tab, at }) {
    const cut = chosen(tab.session.get().messages.filter(isCutOff), at)
    if (!cut) return
    count(world, 'answers gone on from')
    leniently(world, tab, 'continue', tab.session.continue(cut.id))
  },
  steer: ({ world, tab }) => ask(world, tab, 'send', tab.session.send(newText(world), { whenBusy: 'steer' })),
  freeze({ tab, at }) {
    const { actor, page } = tab
    const wasFrozen = actor.state === 'frozen'
    actor.state = wasFrozen ? 'running' : 'frozen'
    // Nobody tells a page that hung.
    if (wasFrozen && at % 2 === 0) page.fire('resume')
  },
  async takeOver({ world, tab }) {
    const other = awake(world).find((each) => each !== tab) ?? world.open()
    tab.actor.state = 'frozen'
    await pass(world, 11_000)
    if (other.session.get().status !== 'stalled') return
    count(world, 'sessions taken over')
    world.stored.takeOver()
    leniently(world, other, 'takeOver', other.session.takeOver())
  },
  wait: ({ world, at }) => pass(world, [30, 300, 3_000, 8_000][at % 4] ?? 0),
}

/** Actions that come to nothing where there is no server. */
const OF_SERVER: readonly ActionType[] = ['kill', 'killAt', 'serve']

/** What can be done to a page that stands still, or wherever. */
const TO_FROZEN: readonly ActionType[] = [
  ...OF_SERVER,
  'freeze',
  'crash',
  'crashAt',
  'open',
  'strike',
  'wait',
]

export async function act(world: World, action: Action): Promise<void> {
  // In the page, the tab itself is what crashes.
  const type = !world.server && OF_SERVER.includes(action.type) ? 'crashAt' : action.type
  const tab = chosen(TO_FROZEN.includes(action.type) ? world.tabs : awake(world), action.tab)
  if (!tab) return
  count(world, `action ${type}`)
  await ACTIONS[type]({ world, tab, action, at: action.at })
}
