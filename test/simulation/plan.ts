import { type Chance, createChance } from '../../src/testing/sim/chance.ts'

/** What somebody does. */
export type ActionType =
  | 'send'
  | 'stop'
  | 'regenerate'
  | 'edit'
  | 'selectBranch'
  | 'rename'
  | 'delete'
  | 'retry'
  | 'discard'
  | 'resync'
  | 'loadOlder'
  | 'open'
  | 'close'
  | 'crash'
  | 'reload'
  | 'hide'
  | 'freeze'
  | 'sleep'
  | 'offline'
  | 'power'
  | 'kill'
  | 'killAt'
  | 'replace'
  | 'serve'
  | 'wait'
  | 'decide'
  | 'account'
  | 'backup'
  | 'restore'

/** What only some walks have: tools, two accounts, a server that is put back to what it was. */
export type Extra = 'tools' | 'accounts' | 'backups'

export interface Action {
  type: ActionType
  /** Which device, tab, session and message: taken modulo what there is. */
  device: number
  tab: number
  session: number
  at: number
  /** Steps of the world that follow. */
  steps: number
}

/** A walk, decided before it begins, so that it can be cut down to what matters. */
export interface Plan {
  seed: number
  devices: number
  /** Milliseconds by which each device's clock is wrong. */
  skews: Record<string, number>
  /** Whether browsers have Web Locks. */
  locks: boolean
  /** Probabilities. */
  storageFaults: number
  networkFaults: number
  extras?: readonly Extra[]
  actions: Action[]
}

const WEIGHTS: Readonly<Record<ActionType, number>> = {
  send: 16,
  stop: 3,
  regenerate: 3,
  edit: 3,
  selectBranch: 2,
  rename: 2,
  delete: 0.3,
  retry: 2,
  discard: 1,
  resync: 1,
  loadOlder: 1,
  open: 3,
  close: 2,
  crash: 2,
  reload: 3,
  hide: 2,
  freeze: 2,
  sleep: 1,
  offline: 3,
  power: 1,
  kill: 1,
  killAt: 2,
  replace: 1,
  serve: 4,
  wait: 6,
  decide: 10,
  account: 3,
  backup: 4,
  restore: 6,
}

/** Actions that only some walks have. */
const ONLY: { readonly [T in ActionType]?: Extra } = {
  decide: 'tools',
  account: 'accounts',
  backup: 'backups',
  restore: 'backups',
}
const EXTRAS: readonly (readonly Extra[])[] = [
  [],
  [],
  [],
  ['tools'],
  ['tools'],
  ['accounts'],
  ['backups'],
  ['tools', 'accounts', 'backups'],
]

const TYPES = Object.keys(WEIGHTS) as ActionType[]

function typeBy(chance: Chance, extras: readonly Extra[]): ActionType {
  const types = TYPES.filter((type) => extras.includes(ONLY[type] ?? 'tools') || !ONLY[type])
  let left = chance.next() * types.reduce((sum, type) => sum + WEIGHTS[type], 0)
  for (const type of types) {
    left -= WEIGHTS[type]
    if (left < 0) return type
  }
  return 'wait'
}

const HOURS = 3_600_000

/** The walk of a seed. */
export function planOf(seed: number): Plan {
  const chance = createChance(seed).fork('plan')
  const devices = chance.pick([1, 1, 2])
  const extras = chance.pick(EXTRAS)
  const actions: Action[] = []
  for (let left = 4 + chance.int(22); left > 0; left--)
    actions.push({
      type: typeBy(chance, extras),
      device: chance.int(devices),
      tab: chance.int(12),
      session: chance.pick([0, 0, 0, 1]),
      at: chance.int(1000),
      steps: chance.pick([0, 1, 2, 4, 8, 16, 40, 80]),
    })
  return {
    seed,
    devices,
    skews: chance.happens(0.2) ? { d1: -5 * HOURS, d2: 5 * HOURS } : {},
    locks: !chance.happens(0.15),
    storageFaults: chance.pick([0, 0, 0.02, 0.1]),
    networkFaults: chance.pick([0, 0.02, 0.1]),
    extras,
    actions,
  }
}
