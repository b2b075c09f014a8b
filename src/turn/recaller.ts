import type { Draft } from '../context/draft.ts'
import type { Recall, Recalled } from '../context/recalled.ts'
import type { ErrorData } from '../lib/error-data.ts'
import { errorData, TidemarkError } from '../lib/errors.ts'
import { textOf } from '../message/text.ts'
import { lateness } from './lateness.ts'
import type { ContextInput } from './run-turn.ts'

/** What was found, or why nothing was. */
interface Found {
  items: readonly Recalled[]
  error?: ErrorData
}

/** What somebody's memory answered, if it is what was asked for. */
function itemsIn(answer: readonly Recalled[] | 'late' | 'aborted'): readonly Recalled[] {
  if (answer === 'aborted') throw new TidemarkError('aborted', 'recall: the run was stopped')
  if (answer === 'late') throw new TidemarkError('timeout', 'recall: nothing came in time')
  const isRight = ({ text, provenance }: Recalled) => typeof text === 'string' && provenance.id !== undefined
  if (!Array.isArray(answer) || !answer.every(isRight))
    throw new TidemarkError('protocol', 'recall: expected a list of { text, provenance }')
  return answer
}

/** What memory has to say to the newest question; asked once, however many steps the answer takes. */
export function recaller(recall: Recall | undefined, turns: number, patience = 10_000) {
  const asked = new WeakMap<object, Promise<Found>>()
  return async (draft: Draft, input: ContextInput): Promise<Found> => {
    const question = draft.turns.at(-1)?.items.find(({ message }) => message.role === 'user')?.message
    if (!recall || !question) return { items: [] }
    const near = draft.turns.slice(-turns).flatMap(({ items }) => items.map(({ message }) => message.id))
    const ask = async (): Promise<Found> => {
      const { sessionId, signal } = input
      const wait = new AbortController()
      try {
        const query = { sessionId, text: textOf(question), exclude: new Set(near) }
        return {
          items: itemsIn(await Promise.race([recall(query, { signal }), lateness(input, patience, wait)])),
        }
      } catch (thrown) {
        return { items: [], error: errorData(thrown, 'server') }
      } finally {
        wait.abort()
      }
    }
    const known = input.messages.at(-1)?.role === 'user' ? undefined : asked.get(question)
    const found = known ?? ask()
    asked.set(question, found)
    return found
  }
}
