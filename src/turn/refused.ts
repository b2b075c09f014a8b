import type { ModelContext } from '../adapters/contract.ts'
import type { Account } from '../context/call-record.ts'
import type { ErrorData } from '../lib/error-data.ts'
import { contextOf } from './asking.ts'
import { continuedIn } from './continued.ts'
import { STOPPED } from './gate.ts'
import type { Run } from './run.ts'

type Sent = ModelContext & Account

/** What of a context is sent once more, where nobody says how much too long it was. */
const LESS = 0.75

/** What of what would fit is used: estimates are off, and some count the answer, too. */
const CAUTION = 0.95

/**
 * Tokens, as estimated, that are to fit where so many did not. A provider that tells its own numbers tells by how much an
 * estimate is off as well; where they include room for the answer, what has to go is the excess.
 */
export function smallerRoom(estimated: number, { tokens }: ErrorData): number {
  if (!tokens) return Math.floor(estimated * LESS)
  const { needed, available } = tokens
  const inProportion = (estimated * available) / needed
  const withoutExcess = Math.max(estimated - (needed - available), inProportion * LESS)
  return Math.floor(CAUTION * Math.min(inProportion, withoutExcess))
}

/**
 * What a model gets to see that found the context too long: less of it; undefined where that cannot be made, or would be
 * refused again. Never throws. The rest of the run is held to it.
 */
export async function smallerContext(
  run: Run,
  before: Sent,
  error: ErrorData,
): Promise<ModelContext | typeof STOPPED | undefined> {
  if (error.code !== 'context-overflow' || before.tokens === undefined) return undefined
  run.room = smallerRoom(before.tokens, error)
  try {
    const made: Sent | typeof STOPPED = await contextOf(run, continuedIn(run))
    if (made === STOPPED) return STOPPED
    return (made.tokens ?? before.tokens) < before.tokens ? made : undefined
  } catch {
    // What the model said of it is told: it knows best.
    return undefined
  }
}
