import type { DispatchContext, RuntimeHost } from '../chat/runtime-port.ts'
import { errorData, TidemarkError } from '../lib/errors.ts'
import { isSettled } from '../message/schema.ts'
import type { ChatEvent } from '../protocol/events.ts'
import { begin, type Runs } from './direct-run.ts'
import { turnOfRun } from './stored-turn.ts'

/** Attempts after which an answer is no longer asked for again: what waits behind it has to be sent some time. */
const MOST_ATTEMPTS = 8

/** That an answer which nobody was asked for has come to its end. */
export const endOf = (id: string, runId: string): ChatEvent[] => [
  { type: 'message.interrupted', id },
  { type: 'run.finished', runId, outcome: 'interrupted' },
]

/** Goes on with an answer that was cut off; where that is not possible, it stays as it is. */
export async function goOn(
  runs: Runs,
  host: RuntimeHost,
  { sessionId, signal, attempts }: DispatchContext,
  { runId, resumes }: { runId: string; resumes?: boolean },
): Promise<void> {
  const { history, trail } = await turnOfRun(host, sessionId, runId)
  const last = trail.at(-1)
  const isKept = resumes && last?.status === 'interrupted'
  const resumed = last?.role === 'assistant' && (isKept || last.status === 'pending') ? last : undefined
  // A run that was stopped meanwhile still has to answer its calls.
  if (isKept ? runs.cancelled.has(runId) : trail.every(isSettled)) return
  try {
    const cut = resumed?.continues && (await host.history(sessionId, resumed.continues)).at(-1)
    const turnOf = { sessionId, runId, history, trail: resumed ? trail.slice(0, -1) : trail }
    const own = { ...(resumed && { resumed }), ...(cut && cut.role === 'assistant' && { continues: cut }) }
    await begin(runs, host, { ...turnOf, ...own }, signal)
  } catch (thrown) {
    if (attempts < MOST_ATTEMPTS || host.offline()) throw thrown
    if (resumed?.status === 'pending') await host.append(sessionId, endOf(resumed.id, runId))
    throw new TidemarkError('not-found', `not resumed: ${errorData(thrown).message}`)
  }
}
