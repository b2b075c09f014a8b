import type { ModelContext } from '../../src/adapters/contract.ts'
import type { ChatStorage } from '../../src/chat/ports.ts'
import type { ChatSession } from '../../src/chat/types.ts'
import { isSettled } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import type { ScriptPiece } from '../../src/testing/scripted-model.ts'
import type { Actor } from '../../src/testing/sim/schedule.ts'
import { act } from '../simulation/act.ts'
import { crash, type Device, openTab, type Tab } from '../simulation/clients.ts'
import type { Action, ActionType } from '../simulation/plan.ts'
import { createWorld, type Planted, type World } from '../simulation/world.ts'
import type { Counter, Life } from './counter.ts'

/** Who does something: which page, of which device. @default the first of the first */
export interface By {
  device?: number
  tab?: number
}

/** A world without chance: what a story tells happens in it, and a crash where it was ordered. */
export interface Stage {
  readonly world: World
  /** What was waited for in vain: in a story that is told to its end, nothing. */
  readonly missed: string[]
  /** The session, as a page has it; none while there is no such page. */
  session(by?: By): ChatSession | undefined
  /** Does what somebody does in a walk. */
  act(type: ActionType, by?: By & { at?: number }): Promise<void>
  /** Asks something, and again where the page was gone before it was stored. */
  ask(by?: By): Promise<void>
  /** Lets everything happen until something holds of the session; after a crash, that may be never. */
  until(what: string, holds: (session: ChatSession) => boolean, by?: By): Promise<void>
  pass(ms: number): Promise<void>
  /** With or without a line. */
  line(online: boolean): Promise<void>
}

/** A loss of power on the first device, as soon as it is down: the last batches that nobody was promised are lost with it. */
export interface Power {
  isDown: boolean
  /** How many batches at most. */
  lost: number
}

export interface Setting {
  power: Power
  devices?: number
  /** What the model says to the newest message it sees. */
  say: (context: ModelContext) => ScriptPiece[]
  planted?: Planted
  /** Looks whether all is right, after each step. */
  look(world: World): Promise<void>
  /** What the user of a page does by himself, such as allowing what waits for it. */
  user?: (tab: Tab) => void
  /** Hears what is done, step by step. */
  trace?: (did: string) => void
}

/** Milliseconds for which a story waits for what may never come. */
const PATIENCE = 15_000
/** Milliseconds after which a page or a process is there again. */
const BACK = 200

/** What an actor does is over at once; what is left of it is cleared away after the step. */
export const lifeOf = (actor: Actor): Life => ({
  alive: () => actor.state !== 'dead',
  die() {
    actor.state = 'dead'
  },
})

/** A storage whose every call is a point. */
function counted(storage: ChatStorage, counter: Counter, life: Life): ChatStorage {
  const call = <T>(name: string, body: () => Promise<T>) => counter.call(`storage ${name}`, life, body)
  return {
    ...storage,
    start: (query) => call('start', () => storage.start(query)),
    sessions: (query) => call('sessions', () => storage.sessions(query)),
    window: (id, query) => call('window', () => storage.window(id, query)),
    messages: (ids) => call('messages', () => storage.messages(ids)),
    records: (kind, query) => call('records', () => storage.records(kind, query)),
    commit: (changes, options) => call('commit', () => storage.commit(changes, options)),
  }
}

/** The calls of the first device's pages and the statements of the server, as points. */
function points(counter: Counter, planted: Planted): Planted {
  const isCounted = (actor: Actor) => actor.name.startsWith('d1')
  let statement = 0
  return {
    ...planted,
    storage(given, actor) {
      const storage = planted.storage?.(given, actor) ?? given
      return isCounted(actor) ? counted(storage, counter, lifeOf(actor)) : storage
    },
    fetch: (fetchIt, actor) => (input, init) => {
      const label = `${init?.method ?? 'GET'} ${new URL(String(input)).pathname}`
      const body = () => fetchIt(input, init)
      return isCounted(actor) ? counter.call(label, lifeOf(actor), body) : body()
    },
    point(sql, when) {
      if (when === 'after') return counter.leave('server', statement)
      const dies = counter.reach('server', sql)
      statement = counter.labels.server.length
      return dies
    },
  }
}

/** Sees to it that whoever died is there again after a while. */
function rescue(world: World, offline: ReadonlySet<Device>, power: Power): () => Promise<void> {
  const { schedule, network, server } = world
  const house = schedule.actor('house')
  let isStarting = false
  const reopen = (device: Device) => {
    const opened = openTab(world, device, ++world.tabsOpened)
    if (!offline.has(device)) return
    network.line(opened.actor, false)
    opened.page.line(false)
  }
  const restart = () => {
    isStarting = false
    server.heal()
  }
  const outage = async (device: Device) => {
    power.isDown = false
    for (const { actor } of device.tabs) actor.state = 'dead'
    await device.disk.lose(power.lost)
    device.written.clear()
  }
  return async () => {
    const [first] = world.devices
    if (power.isDown && first) await outage(first)
    for (const device of world.devices)
      for (const tab of device.tabs.filter(({ actor }) => actor.state === 'dead')) {
        crash(world, tab)
        schedule.post({ actor: house, label: 'open', delay: BACK, run: () => reopen(device) })
      }
    if (isStarting || server.process().actor.state !== 'dead') return
    isStarting = true
    schedule.post({ actor: house, label: 'restart', delay: BACK, run: restart })
  }
}

const isOpen = (session: ChatSession): boolean => session.get().status !== 'loading'

/** The texts that somebody sees in a session. */
const seen = (session: ChatSession | undefined): string[] => (session?.get().messages ?? []).map(textOf)

/** Does the next thing, if there is one before that time. */
type Step = (until: number) => Promise<boolean>

/** Takes steps until something is so. Returns whether it is: patience has an end, and so has a world with a problem. */
async function waited(world: World, step: Step, isSo: () => boolean): Promise<boolean> {
  const until = world.schedule.now() + PATIENCE
  while (!isSo()) if (!(await step(until)) || world.problems.length > 0) return false
  return true
}

/** What everybody on a stage does, made of single steps. */
function movesOn(world: World, step: Step, offline: Set<Device>): Stage {
  const missed: string[] = []
  const tabOf = ({ device = 0, tab = 0 }: By = {}): Tab | undefined => {
    const { tabs } = world.devices[device] ?? { tabs: [] }
    return tabs[Math.min(tab, tabs.length - 1)]
  }
  const stage: Stage = {
    world,
    missed,
    session: (by) => tabOf(by)?.sessions[0],
    async act(type, { device = 0, tab = 0, at = 1 } = {}) {
      await stage.until(`a page for ${type}`, isOpen, { device, tab })
      const action: Action = { type, at, device, tab, session: 0, steps: 0 }
      await act(world, action, () => undefined)
    },
    async ask(by) {
      for (let tries = 0; tries < 2; tries++) {
        const tab = tabOf(by)
        await stage.act('send', by)
        const asked = world.ledger.at(-1)
        const isGone = () => tab?.actor.state === 'dead'
        await stage.until('what is said is stored', () => asked?.saved !== undefined || isGone(), by)
        await stage.until('a page', isOpen, by)
        if (!asked || !isGone() || seen(stage.session(by)).includes(asked.text)) return
      }
    },
    async until(what, holds, by) {
      const isSo = () => {
        const session = stage.session(by)
        return session !== undefined && holds(session)
      }
      if (!(await waited(world, step, isSo))) missed.push(what)
    },
    async pass(ms) {
      const until = world.schedule.now() + ms
      while (await step(until));
    },
    async line(online) {
      const [device] = world.devices
      if (device && online) offline.delete(device)
      else if (device) offline.add(device)
      await stage.act('offline', { at: online ? 2 : 3 })
    },
  }
  return stage
}

export function openStage(counter: Counter, setting: Setting): Stage {
  const { power, devices = 1, say, planted = {}, look, user, trace } = setting
  const plan = { seed: 1, devices, skews: {}, locks: true, storageFaults: 0, networkFaults: 0, actions: [] }
  const world = createWorld(plan, points(counter, { say, sessions: ['a'], ...planted }))
  const offline = new Set<Device>()
  const bringBack = rescue(world, offline, power)
  const step = async (until: number): Promise<boolean> => {
    const did = await world.schedule.step(until)
    if (did !== undefined) trace?.(`${world.schedule.now() % 1e9} ${did}`)
    await bringBack()
    if (user) for (const { tabs } of world.devices) for (const tab of tabs) user(tab)
    await look(world)
    return did !== undefined
  }
  return movesOn(world, step, offline)
}

/** Whether a page shows so many answers, and all that it shows is settled. */
export const answered =
  (count: number) =>
  (session: ChatSession): boolean => {
    const { messages } = session.get()
    const answers = messages.filter(({ role }) => role === 'assistant')
    const isDone = messages.every((message) => isSettled(message) && message.seq !== undefined)
    return answers.length >= count && isDone
  }
