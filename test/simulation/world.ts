import type { ChatStorage } from '../../src/chat/ports.ts'
import { parseEventId } from '../../src/protocol/events.ts'
import { messagesOf } from '../../src/protocol/state.ts'
import { createChance } from '../../src/testing/sim/chance.ts'
import { createDisk, type DiskOptions, type StorageFault } from '../../src/testing/sim/disk.ts'
import { createNetwork, type NetworkFault, type NetworkStage } from '../../src/testing/sim/network.ts'
import { createOrigin } from '../../src/testing/sim/page.ts'
import { createSchedule } from '../../src/testing/sim/schedule.ts'
import { type Account, FIRST } from './accounts.ts'
import { createClaims } from './claims.ts'
import { type Around, type Device, openTab, type Wraps } from './clients.ts'
import type { Plan } from './plan.ts'
import { createServer, type ServerOptions, type ServerSide } from './server.ts'
import { executionProblems } from './tools.ts'
import { createTruth, type Truth } from './truth.ts'

/** Something a user asked for, and what was promised. */
export interface Asked {
  text: string
  sessionId: string
  saved?: 'disk' | 'memory'
  refused?: string
  discarded?: boolean
}

export interface World extends Around {
  plan: Plan
  server: ServerSide
  truth: Truth
  devices: Device[]
  ledger: Asked[]
  /** How often each fault was injected. */
  counts: Map<string, number>
  /** What is wrong, as the oracles found it. */
  problems: string[]
  /** No faults happen any more. */
  healed: boolean
  tabsOpened: number
}

/** A mistake of the bench's own, to see that it is found. */
export interface Planted extends Wraps, Pick<ServerOptions, 'point' | 'say' | 'handler'> {
  store?: NonNullable<ServerOptions['wrap']>
  tool?: NonNullable<ServerOptions['tool']>
  /** Changes what is on a device's disk behind everybody's back. */
  disk?: (rows: ChatStorage) => void
  /** Decides what becomes of each operation of a disk, instead of chance. */
  fault?: DiskOptions['fault']
  /** Called with each batch that a device has stored. */
  onCommit?: (device: string) => void
}

const STORAGE_FAULTS: readonly StorageFault[] = ['abort', 'abort', 'quota', 'late', 'hang', 'mute', 'dead']
const NETWORK_FAULTS: Readonly<Record<NetworkStage, readonly NetworkFault[]>> = {
  request: ['refuse', 'refuse', 'vanish', 'double', 'delay'],
  answer: ['lose', 'lose', 'vanish', 'delay'],
  piece: ['cut', 'end', 'stall', 'buffer', 'tear', 'repeat', 'drop', 'swap'],
}

export const count = ({ counts }: Pick<World, 'counts'>, what: string): void =>
  void counts.set(what, (counts.get(what) ?? 0) + 1)

function createDevice(
  world: Pick<World, 'schedule' | 'plan' | 'counts' | 'problems'>,
  name: string,
  isHealed: () => boolean,
  planted: Planted,
) {
  const { schedule, plan, counts, problems } = world
  const claims = createClaims(plan.storageFaults > 0)
  const skew = plan.skews[name] ?? 0
  const chance = schedule.chance.fork(`disk ${name}`)
  const written = new Set<string>()
  const device: Device = {
    name,
    origin: createOrigin(schedule, { locks: plan.locks }),
    skew,
    claims,
    account: FIRST,
    tabs: [],
    written,
    disk: createDisk(schedule, {
      name,
      fault(operation, actor) {
        if (planted.fault && !isHealed()) return planted.fault(operation, actor)
        if (isHealed() || !chance.happens(plan.storageFaults)) return undefined
        const fault = chance.pick(STORAGE_FAULTS)
        count({ counts }, `storage ${operation} ${fault}`)
        return fault
      },
      onCommit({ changes }) {
        problems.push(...claims.note(changes, schedule.now() + skew))
        for (const change of changes) {
          if (change.type === 'session') written.add(change.row.session.id)
          else if (change.type === 'message') written.add(change.row.message.sessionId)
          else if (change.type === 'journal') written.add(change.entry.sessionId)
          else if (change.type === 'deleteSession') written.add(change.id)
        }
        planted.onCommit?.(name)
      },
    }),
  }
  return device
}

/** What of the planted belongs to the server. */
const serverFaults = ({ store, point, say, handler, tool }: Planted) => ({
  ...(store && { wrap: store }),
  ...(point && { point }),
  ...(say && { say }),
  ...(handler && { handler }),
  ...(tool && { tool }),
})

/** Everything that a walk walks through, as its plan wants it. */
export function createWorld(plan: Plan, planted: Planted = {}): World {
  const schedule = createSchedule(createChance(plan.seed).fork('schedule'))
  const chance = schedule.chance.fork('network')
  const counts = new Map<string, number>()
  const problems: string[] = []
  const makers = new Map<string, Account>()
  const done = new Map<string, number>()
  const server = createServer(schedule, {
    tools: plan.extras?.includes('tools') ?? false,
    onExecution(name, key) {
      count(world, `executed ${name}`)
      problems.push(...world.truth.refresh(), ...executionProblems(world.truth.all(), done, name, key))
    },
    onRestore: () => done.clear(),
    ...serverFaults(planted),
    onDeath: (actor) => network.gone(actor),
    onError: (error) => problems.push(`server: ${error instanceof Error ? error.stack : String(error)}`),
  })
  const network = createNetwork(schedule, {
    answer: (request) => server.answer(request),
    server: () => server.process().actor,
    fault(stage) {
      if (world.healed || !chance.happens(plan.networkFaults)) return undefined
      const fault = chance.pick(NETWORK_FAULTS[stage])
      count(world, `network ${stage} ${fault}`)
      return fault
    },
  })
  const world: World = {
    plan,
    schedule,
    network,
    server,
    wraps: planted,
    makers,
    truth: createTruth(server.db),
    devices: [],
    ledger: [],
    counts,
    problems,
    healed: false,
    tabsOpened: 0,
  }
  for (let at = 1; at <= plan.devices; at++)
    world.devices.push(createDevice(world, `d${at}`, () => world.healed, planted))
  for (const device of world.devices) openTab(world, device, ++world.tabsOpened)
  return world
}

/**
 * Whether every client that knows a session will notice: it has heard an event that the backup does not have. Where it was
 * only told beside its feed (in the answer to what it sent), nothing that it can show differs from what the server has.
 */
async function isNoticed({ server, devices }: World): Promise<boolean> {
  for (const [id, last] of server.losses())
    for (const { disk } of devices) {
      const { session, outbox } = await disk.rows.window(id, { limit: 1 })
      const heard = (session?.eventId && parseEventId(session.eventId)?.n) || 0
      // What waits may be on its way, and be answered by the server that was.
      if (outbox.length > 0 || (session && heard <= last)) return false
    }
  return true
}

/** The server is put back to its last backup: what was said since is lost, and nobody but the clients knows of it. */
export async function restore(world: World): Promise<void> {
  if (!(await isNoticed(world))) return
  const { truth, server, ledger, devices, problems } = world
  problems.push(...truth.refresh())
  const was = truth.all().flatMap(({ state }) => messagesOf(state))
  const accepted = new Set(was.map(({ content: [block] }) => (block?.type === 'text' ? block.text : '')))
  const ids = server.restore()
  if (ids.length > 0) count(world, 'restored a backup')
  for (const id of ids) truth.restored(id)
  problems.push(...truth.refresh())
  for (const asked of ledger)
    if (accepted.has(asked.text) && ids.includes(asked.sessionId)) asked.discarded = true
  for (const { tabs } of devices)
    for (const { seen, stopped } of tabs) {
      seen.clear()
      stopped.clear()
    }
}
