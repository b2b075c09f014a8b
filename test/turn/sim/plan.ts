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
  /** Somebody asks for the rest of an answer that was cut off. */
  | 'continue'
  | 'steer'
  /** A page stands still, or goes on after it did. */
  | 'freeze'
  /** A page stands still; somebody who looks at another waits for it, and takes over. */
  | 'takeOver'

export interface Action {
  type: ActionType
  /** Which tab and message, and which of several ways: taken modulo what there is. */
  tab: number
  at: number
  /** Steps of the world that follow. */
  steps: number
}

const PAGE_TOOLS = ['none', 'free', 'asks'] as const

/** A walk, decided before it begins, so that it can be cut down to what matters. */
export interface Plan {
  seed: number
  /** Probability that something happens to a request. */
  networkFaults: number
  /** Whether the pages of a server execute what it leaves to them, at once or once they are allowed to. */
  pageTool: (typeof PAGE_TOOLS)[number]
  actions: Action[]
}

/** Drawn only by seeds from this one on: those below it mean what they meant before there was more to draw. */
export const WIDE = 20_000

/** Only from this one on do models break off. */
export const FAILING = 40_000

const WEIGHTS = {
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

const MORE: Readonly<Record<Exclude<ActionType, keyof typeof WEIGHTS>, number>> = {
  continue: 4,
  steer: 4,
  freeze: 4,
  takeOver: 4,
}

const bagOf = (weights: Readonly<Record<string, number>>): ActionType[] =>
  Object.entries(weights).flatMap(([type, weight]) => Array<ActionType>(weight).fill(type as ActionType))

const BAG = bagOf(WEIGHTS)
const WIDE_BAG = [...BAG, ...bagOf(MORE)]

/** The walk of a seed. */
export function planOf(seed: number): Plan {
  const chance = createChance(seed).fork('plan')
  const bag = seed < WIDE ? BAG : WIDE_BAG
  const actions: Action[] = [{ type: 'send', tab: 0, at: 0, steps: chance.int(60) }]
  for (let left = 3 + chance.int(12); left > 0; left--)
    actions.push({
      type: chance.pick(bag),
      tab: chance.int(12),
      at: chance.int(1_000),
      steps: chance.pick([0, 1, 2, 4, 8, 16, 40]),
    })
  const networkFaults = chance.pick([0, 0, 0.03])
  return { seed, networkFaults, actions, pageTool: seed < WIDE ? 'none' : chance.pick(PAGE_TOOLS) }
}
