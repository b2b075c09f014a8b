import type { Message } from '../message/schema.ts'
import type { Estimator } from './estimate.ts'
import type { CountableRequest, Counts } from './tally.ts'

/** How many estimates are kept by name, and how many texts. */
const MOST_MESSAGES = 50_000
const MOST_TEXTS = 64

/** Forgets the oldest entries beyond a number. */
function keepNewest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}

/** What estimates a context. One that also measures knows what requests and tools cost beside their text. */
export type Estimates = Pick<Estimator, 'text' | 'message'> & Partial<Pick<Estimator, 'measure' | 'cost'>>

/** Makes one thing of each text and message, once. */
function keptBy<Made>(make: { text(text: string): Made; message(message: Message): Made }): typeof make {
  const byMessage = new WeakMap<Message, Made>()
  const byRevision = new Map<string, { rev: number; made: Made }>()
  const byText = new Map<string, Made>()

  function known({ sessionId, id, rev }: Message): Made | undefined {
    const kept = rev === undefined ? undefined : byRevision.get(`${sessionId}/${id}`)
    return kept?.rev === rev ? kept?.made : undefined
  }

  return {
    text(text) {
      const kept = byText.get(text)
      if (kept !== undefined) return kept
      const made = make.text(text)
      byText.set(text, made)
      keepNewest(byText, MOST_TEXTS)
      return made
    },
    message(message) {
      const kept = byMessage.get(message)
      if (kept !== undefined) return kept
      const made = known(message) ?? make.message(message)
      byMessage.set(message, made)
      if (message.rev !== undefined) {
        byRevision.set(`${message.sessionId}/${message.id}`, { rev: message.rev, made })
        keepNewest(byRevision, MOST_MESSAGES)
      }
      return made
    },
  }
}

/** Of an estimator that learns is kept what messages are made of; what that costs is asked anew each time. */
export type KeptCounts = Pick<Estimator, 'text' | 'message' | 'measure' | 'cost'>

const plus = (a: Counts, b: Counts): Counts => [
  a[0] + b[0],
  a[1] + b[1],
  a[2] + b[2],
  a[3] + b[3],
  a[4] + b[4],
  a[5] + b[5],
]

export function keptCounts({
  counts,
  cost,
  measure,
}: Pick<Estimator, 'counts' | 'cost' | 'measure'>): KeptCounts {
  const kept = keptBy<Counts>({ text: counts, message: counts })
  const byRequest = new Map<string, Counts>()
  // Instructions and tools, which stay the same from call to call.
  const beside = (rest: Omit<CountableRequest, 'messages'>): Counts => {
    const key = JSON.stringify([rest.system, rest.tools])
    const made = byRequest.get(key) ?? measure({ ...rest, messages: [] })
    byRequest.set(key, made)
    keepNewest(byRequest, MOST_TEXTS)
    return made
  }
  return {
    text: (text) => cost(kept.text(text)),
    message: (message) => cost(kept.message(message)),
    cost,
    measure({ messages, ...rest }) {
      let sum = beside(rest)
      for (const message of messages) sum = plus(sum, kept.message(message))
      return sum
    },
  }
}

/**
 * The same estimates, each made once: kept by the message itself, and by its id and revision, so that a message that was read
 * again is known again. An estimator of `createEstimator` may learn meanwhile: what it has learnt holds for what is kept, too.
 */
export const keptEstimates = (estimate: Pick<Estimator, 'text' | 'message'> | Estimator): Estimates =>
  'measure' in estimate ? keptCounts(estimate) : keptBy(estimate)
