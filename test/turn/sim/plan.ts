import { createChance } from '../../../src/testing/sim/chance.ts'

/** What somebody does, or what happens to them. */
export type ActionType =
  | 'decide'
  | 'quarrel'
  | 'send'
  | 'interrupt'
  | 'stop'
  | 'edit'
  | 'regenerate'
  | 'select'
  | 'open'
  | 'crash'
  | 'crashAt'
  /** Whoever executes the next call dies of it. */
  | 'strike'
  | 'kill'
  | 'killAt'
  | 'serve'
  | 'wait'

export interface Action {
  type: ActionType
  /** Which tab and message, and which of several ways: taken modulo what there is. */
  tab: number
  at: number
  /** Steps of the world that follow. */
  steps: number
}

/** A walk, decided before it begins, so that it can be cut down to what matters. */
export interface Plan {
  seed: number
  /** Probability that something happens to a request. */
  networkFaults: number
  actions: Action[]
}

const WEIGHTS: Readonly<Record<ActionType, number>> = {
  decide: 9,
  quarrel: 5,
  send: 6,
  interrupt: 1,
  stop: 2,
  edit: 2,
  regenerate: 2,
  select: 1,
  open: 3,
  crash: 3,
  crashAt: 3,
  strike: 5,
  kill: 2,
  killAt: 3,
  serve: 3,
  wait: 6,
}

const TYPES = Object.keys(WEIGHTS) as ActionType[]
const BAG = TYPES.flatMap((type) => Array<ActionType>(WEIGHTS[type]).fill(type))

/** The walk of a seed. */
export function planOf(seed: number): Plan {
  const chance = createChance(seed).fork('plan')
  const actions: Action[] = [{ type: 'send', tab: 0, at: 0, steps: chance.int(60) }]
  for (let left = 3 + chance.int(12); left > 0; left--)
    actions.push({
      type: chance.pick(BAG),
      tab: chance.int(12),
      at: chance.int(1_000),
      steps: chance.pick([0, 1, 2, 4, 8, 16, 40]),
    })
  return { seed, networkFaults: chance.pick([0, 0, 0.03]), actions }
}
