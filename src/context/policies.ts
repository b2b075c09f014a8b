import { expectNumber } from '../lib/expect.ts'
import {
  type Draft,
  type DraftItem,
  type DraftTurn,
  droppedOf,
  type Policy,
  turnOf,
  withoutTurns,
} from './draft.ts'
import { cutToFit } from './fit.ts'

/** Keeps the newest turns, so many of them, the one to answer included. */
export function slidingWindow(turns: number): Policy {
  expectNumber('turns', turns)
  return {
    name: 'slidingWindow',
    apply: (draft) => withoutTurns(draft, draft.turns.length - Math.max(1, Math.floor(turns)), 'window'),
  }
}

/** Keeps as many of the newest turns as fit so many tokens together; the newest one in any case. */
export function tokenBudget(tokens: number): Policy {
  expectNumber('tokens', tokens)
  return {
    name: 'tokenBudget',
    apply(draft) {
      const { first } = cutToFit(draft.turns, [], tokens)
      return withoutTurns(draft, first, 'budget')
    },
  }
}

/** Drops whole turns, oldest first, until the rest fits: what `assembleContext` does in any case. */
export const dropOldestTurns = (): Policy => ({
  name: 'drop_oldest_pair',
  apply(draft, { available }) {
    const { first } = cutToFit(draft.turns, draft.notes, available)
    return withoutTurns(draft, first, 'budget')
  },
})

/** A turn in its smallest parts that can be left out: a message, or an answer with the results of its calls. */
function stepsOf({ items }: DraftTurn): DraftTurn[] {
  const steps: DraftItem[][] = []
  for (const item of items) {
    const step = steps.at(-1)
    if (item.message.role === 'tool' && step) step.push(item)
    else steps.push([item])
  }
  return steps.map(turnOf)
}

/** The draft without these of its parts. */
export function withoutSteps(draft: Draft, gone: ReadonlySet<DraftItem>, reason: 'budget' | 'task'): Draft {
  if (gone.size === 0) return draft
  const turns = draft.turns.flatMap((turn) => {
    const items = turn.items.filter((item) => !gone.has(item))
    if (items.length === turn.items.length) return [turn]
    return items.length > 0 ? [turnOf(items)] : []
  })
  return { ...draft, turns, dropped: [...draft.dropped, ...droppedOf([...gone], reason)] }
}

/**
 * Drops single messages, oldest first, until the rest fits; a call goes with its results. Keeps more than whole turns would,
 * but an answer may stand without its question.
 */
export const dropOldest = (): Policy => ({
  name: 'drop_oldest',
  apply(draft, { available }) {
    const newest = draft.turns.slice(-1)
    const steps = [...draft.turns.slice(0, -1).flatMap(stepsOf), ...newest]
    const { first } = cutToFit(steps, draft.notes, available)
    return withoutSteps(draft, new Set(steps.slice(0, first).flatMap(({ items }) => items)), 'budget')
  },
})
