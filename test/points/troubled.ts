import type { StorageFault } from '../../src/testing/sim/disk.ts'
import type { Tab } from '../simulation/clients.ts'
import type { Planted, World } from '../simulation/world.ts'
import type { Power } from './stage.ts'

/** What happens to the first device's disk. */
export interface Outage {
  /** Its n-th operation, counted from 1, meets with this. */
  fault?: { kind: StorageFault; n: number }
  /** The power fails as its n-th batch is stored, and takes so many with it that nobody was promised. */
  power?: { n: number; lost: number }
}

/** The first device's disk, with what goes wrong on it and what has to be said of that. */
export interface Troubled {
  readonly planted: Pick<Planted, 'fault' | 'onCommit'>
  readonly power: Power
  readonly operations: number
  readonly commits: number
  /** Whether what was to go wrong has. */
  readonly happened: boolean
  /** Notes what the pages say of their storage. */
  look(world: World): void
  /** Nothing goes wrong any more. */
  mend(): void
  /** What is not yet as it has to be in the end. */
  differs(world: World): string[]
  /** What was said too often. */
  problems(): string[]
}

/** Faults of which the caller is told. */
const TOLD: readonly StorageFault[] = ['abort', 'quota', 'hang', 'mute', 'late', 'dead', 'refused', 'blocked']

/** Everything that can befall an operation. A deleted database is told of where somebody missed what was in it. */
export const KINDS: readonly StorageFault[] = [...TOLD, 'deleted']

/** Notes what the pages say of their storage. */
function createNotes() {
  const failures = new Map<Tab, { times: number; last: string }>()
  let isTold = false
  return {
    /** Whether any of them said that something is wrong with it. */
    isTold: () => isTold,
    look({ devices }: World) {
      for (const tab of devices.flatMap(({ tabs }) => tabs)) {
        const { storage, lastError } = tab.chat.health.get()
        const known = failures.get(tab) ?? { times: 0, last: 'disk' }
        if (storage === 'failed' && known.last !== 'failed') known.times++
        failures.set(tab, { ...known, last: storage })
        isTold ||= lastError?.code === 'storage' || lastError?.code === 'quota'
      }
    },
    problems: () =>
      [...failures]
        .filter(([, { times }]) => times > 1)
        .map(([{ actor }, { times }]) => `${actor.name} said ${times} times that its storage fails`),
  }
}

export function troubled({ fault, power: outage }: Outage): Troubled {
  const power: Power = { isDown: false, lost: outage?.lost ?? 0 }
  const notes = createNotes()
  let [operations, commits, isOver, happened] = [0, 0, false, false]
  return {
    power,
    get operations() {
      return operations
    },
    get commits() {
      return commits
    },
    get happened() {
      return happened
    },
    planted: {
      fault(_, { name }) {
        if (isOver || !name.startsWith('d1') || ++operations !== fault?.n) return undefined
        happened = true
        return fault.kind
      },
      onCommit(device) {
        if (isOver || device !== 'd1' || ++commits !== outage?.n) return
        happened = true
        power.isDown = true
      },
    },
    look: notes.look,
    mend() {
      isOver = true
    },
    differs({ devices }) {
      const silent = happened && fault && TOLD.includes(fault.kind) && !notes.isTold()
      const differs = silent ? [`nobody was told of ${fault.kind}`] : []
      for (const { actor, chat } of devices.flatMap(({ tabs }) => tabs)) {
        const { storage, outbox } = chat.health.get()
        if (storage !== 'disk' || outbox > 0)
          differs.push(`in the end ${actor.name} says of its storage: ${storage}, and that ${outbox} wait`)
      }
      return differs
    },
    problems: notes.problems,
  }
}
