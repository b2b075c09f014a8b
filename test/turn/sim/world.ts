import { createChat } from '../../../src/chat/create.ts'
import type { ChatStorage } from '../../../src/chat/ports.ts'
import type { Runtime } from '../../../src/chat/runtime-port.ts'
import type { Chat, ChatSession } from '../../../src/chat/types.ts'
import type { Message } from '../../../src/message/schema.ts'
import { direct } from '../../../src/runtime/direct.ts'
import { remote } from '../../../src/runtime/remote.ts'
import type { HistoryStore } from '../../../src/server/ports.ts'
import { createChance } from '../../../src/testing/sim/chance.ts'
import { createDisk, type Disk } from '../../../src/testing/sim/disk.ts'
import { createNetwork, type Network, type NetworkFault } from '../../../src/testing/sim/network.ts'
import { createOrigin, type Origin, type SimulatedPage } from '../../../src/testing/sim/page.ts'
import { type Actor, createSchedule, type Schedule } from '../../../src/testing/sim/schedule.ts'
import type { Tool } from '../../../src/turn/tool.ts'
import { createServer, type ServerSide } from '../../simulation/server.ts'
import { modelOf, type Player, pageTool, toolsOf } from './cast.ts'
import type { Plan } from './plan.ts'
import { createStored, type Stored } from './stored.ts'

/** Where turns run: in the page, or on a server. */
export type Place = 'direct' | 'remote'

export interface Tab {
  device: Device
  actor: Actor
  page: SimulatedPage
  chat: Chat
  session: ChatSession
}

interface Device {
  name: string
  origin: Origin
  disk: Disk
}

export interface World {
  place: Place
  plan: Plan
  schedule: Schedule
  stored: Stored
  tabs: Tab[]
  /** Operations on its disk after which a tab dies in the midst of the next, by its name. */
  doomed: Map<string, number>
  /** Executions after which whoever carries out the next dies of it; none where it is undefined. */
  fatal: number | undefined
  devices: readonly Device[]
  /** @default on each device in turn */
  open(device?: Device): Tab
  crash(tab: Tab): void
  server: ServerSide | undefined
  /** Nothing goes wrong any more. */
  healed: boolean
  /** How often what was done. */
  counts: Map<string, number>
}

/** Where a mistake can be made on purpose. */
export interface Planted {
  storage?(storage: ChatStorage): ChatStorage
  tool?(tool: Tool): Tool
  store?(store: HistoryStore): HistoryStore
}

export const count = ({ counts }: Pick<World, 'counts'>, what: string): void =>
  void counts.set(what, (counts.get(what) ?? 0) + 1)

const FAULTS: Readonly<Record<'request' | 'answer', readonly NetworkFault[]>> = {
  request: ['refuse', 'double', 'delay'],
  answer: ['lose', 'delay'],
}

function playerOf(world: World, actor: Actor): Player {
  const { schedule, stored } = world
  const chance = schedule.chance.fork(`play ${actor.name}`)
  const dies = () => {
    if (world.fatal === undefined || world.fatal-- > 0) return false
    world.fatal = undefined
    const tab = world.tabs.find((each) => each.actor === actor)
    if (tab) world.crash(tab)
    else world.server?.kill()
    return true
  }
  return { actor, env: schedule.env(actor), chance, stored, dies }
}

const toolsWith = (player: Player, { tool: made = (tool) => tool }: Planted): Tool[] =>
  toolsOf(player).map(made)

/** A disk on which a doomed tab dies: its operation is carried out, or is not, and is not answered. */
function createDevice(world: World, name: string): Device {
  const { schedule, stored, doomed } = world
  const chance = schedule.chance.fork(`disk ${name}`)
  const disk = createDisk(schedule, {
    name,
    fault(_operation, { name: who }) {
      const left = doomed.get(who)
      if (left === undefined) return undefined
      doomed.set(who, left - 1)
      if (left > 0) return undefined
      doomed.delete(who)
      const tab = world.tabs.find(({ actor }) => actor.name === who)
      if (tab) world.crash(tab)
      return chance.happens(0.5) ? 'abort' : 'late'
    },
    onCommit({ changes }) {
      if (world.place === 'direct')
        stored.commit(changes.flatMap((change) => (change.type === 'message' ? [change.row.message] : [])))
    },
  })
  return { name, origin: createOrigin(schedule), disk }
}

/** Sees what a server commits. */
function witnessed(store: HistoryStore, stored: Stored): HistoryStore {
  return {
    ...store,
    async transact(scope, needs, decide, options) {
      let batch: Message[] = []
      const answer = await store.transact(
        scope,
        needs,
        (view) => {
          const decided = decide(view)
          batch = decided.changes.flatMap((change) => (change.type === 'message' ? [change.row.message] : []))
          return decided
        },
        options,
      )
      stored.commit(batch)
      return answer
    },
  }
}

function createSides(world: World, planted: Planted): { server: ServerSide; network: Network } {
  const { schedule, plan, stored } = world
  const chance = schedule.chance.fork('network')
  const server = createServer(schedule, {
    wrap: (store) => witnessed(planted.store?.(store) ?? store, stored),
    onDeath: (actor) => network.gone(actor),
    onError: (error) =>
      stored.problems.push(`server: ${error instanceof Error ? error.stack : String(error)}`),
    cast: (actor) => {
      const player = playerOf(world, actor)
      return { model: modelOf(player, plan.seed), tools: toolsWith(player, planted) }
    },
  })
  const network = createNetwork(schedule, {
    answer: (request) => server.answer(request),
    server: () => server.process().actor,
    fault(stage) {
      if (stage === 'piece' || world.healed || !chance.happens(plan.networkFaults)) return undefined
      return chance.pick(FAULTS[stage])
    },
  })
  return { server, network }
}

type RuntimeOf = (actor: Actor, device: Device) => Runtime

function openTab(world: World, device: Device, runtimeOf: RuntimeOf, planted: Planted): Tab {
  const { schedule } = world
  const actor = schedule.actor(`${device.name}t${world.counts.get('tabs') ?? 0}`)
  count(world, 'tabs')
  const page = device.origin.page(actor)
  const storage = device.disk.open(actor)
  const chat = createChat({
    runtime: runtimeOf(actor, device),
    storage: planted.storage?.(storage) ?? storage,
    env: schedule.env(actor),
    platform: page.platform,
  })
  const session = chat.session('s')
  // Somebody looks: a list is rendered.
  session.subscribe(() => void session.get())
  const tab = { device, actor, page, chat, session }
  world.tabs.push(tab)
  return tab
}

/** Everything that a walk walks through. Over a server, tabs are on two machines. */
export function createWorld(place: Place, plan: Plan, planted: Planted = {}): World {
  const schedule = createSchedule(createChance(plan.seed).fork('schedule'))
  const world: World = {
    ...{ place, plan, schedule, stored: createStored(), tabs: [], doomed: new Map(), fatal: undefined },
    healed: false,
    ...{ counts: new Map(), devices: [], server: undefined, open: () => never(), crash: () => never() },
  }
  const sides = place === 'remote' ? createSides(world, planted) : undefined
  const runtimeOf: RuntimeOf = (actor, device) => {
    const player = playerOf(world, actor)
    if (sides) {
      const tools = plan.pageTool === 'none' ? [] : [pageTool(player, device.name, plan.pageTool === 'asks')]
      return remote({ url: 'http://server', fetch: sides.network.fetch(actor), tools })
    }
    return direct({ model: modelOf(player, plan.seed), tools: toolsWith(player, planted) })
  }
  world.devices = (sides ? ['d1', 'd2'] : ['d1']).map((name) => createDevice(world, name))
  world.server = sides?.server
  world.open = (given) => {
    const { devices, counts } = world
    const device = given ?? devices[(counts.get('tabs') ?? 0) % devices.length]
    return device ? openTab(world, device, runtimeOf, planted) : never()
  }
  world.crash = (tab) => {
    schedule.kill(tab.actor)
    tab.page.gone()
    sides?.network.gone(tab.actor)
    world.tabs = world.tabs.filter((other) => other !== tab)
    if (world.tabs.length === 0) world.open()
  }
  world.open()
  return world
}

function never(): never {
  throw new Error('the world is not made yet')
}
