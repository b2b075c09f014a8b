import { assembleContext } from '../src/context/assemble.ts'
import { createEstimator } from '../src/context/estimate.ts'
import { keptEstimates } from '../src/context/kept-estimates.ts'
import { defaultContext } from '../src/turn/default-context.ts'
import { booking } from '../test/context/booking.ts'
import { inputOf } from '../test/context/curve.ts'
import type { Case, Contestant } from './measure.ts'

export interface ContextSizes {
  /** Messages of the history, at least. */
  messages: number
}

const WINDOW = 128_000
/** Milliseconds that a context may take to assemble. */
const BOUND = 20

/** Work that is timed as soon as it was done once: then every message has its estimate. */
function warm(name: string, work: () => { tokens: number } | Promise<{ tokens: number }>): Contestant {
  const once = async () => {
    const { tokens } = await work()
    if (!(tokens > 1_000 && tokens <= WINDOW)) throw new Error(`${name}: a context of ${tokens} tokens`)
  }
  let ready: Promise<void> | undefined
  return {
    name,
    units: 1,
    async run() {
      ready ??= once()
      await ready
      const start = performance.now()
      await once()
      return performance.now() - start
    },
  }
}

/** A context from a history of thousands of messages, its estimates kept. */
export function contextCases({ messages: least }: ContextSizes): Case[] {
  const lazy: { messages?: ReturnType<typeof booking>['messages'] } = {}
  const history = () => {
    lazy.messages ??= booking(Math.ceil(least / 4)).messages
    if (lazy.messages.length < least) throw new Error(`a history of only ${lazy.messages.length} messages`)
    return lazy.messages
  }
  const estimate = keptEstimates(createEstimator())
  const mix = defaultContext({ window: WINDOW })
  const ours = [
    warm('assembleContext', () => assembleContext({ messages: history(), window: WINDOW, estimate })),
    warm('defaultContext', () => mix(inputOf(history()))),
  ]
  const bound: Contestant = { name: `${BOUND} ms`, units: 1, run: () => BOUND }
  return [
    {
      name: `context: of ${least.toLocaleString('en')} messages`,
      unit: 'context',
      contestants: [...ours, bound],
      claims: ours.map(({ name }) => ({ of: name, to: bound.name, most: 1 })),
    },
  ]
}
