import type { ModelContext, ModelEvent } from '../adapters/contract.ts'
import { assembleContext } from '../context/assemble.ts'
import { STOPPED } from './gate.ts'
import { callOptionsOf } from './output.ts'
import type { Run } from './run.ts'

/** Asks the model, or asks it once more. */
export type Open = (traceparent: string) => AsyncIterable<ModelEvent>

/** What the model gets to see of the run so far. */
export async function contextOf(run: Run): Promise<ModelContext | typeof STOPPED> {
  const { options, trail, gate, specs } = run
  if (gate.signal.aborted) return STOPPED
  const { system, context = assembleContext, sessionId, model, env, records, shared } = options
  const messages = [...run.history, ...trail]
  const input = {
    messages,
    ...(system !== undefined && { system }),
    ...(specs.length > 0 && { tools: specs }),
    ...{ sessionId, model, env, signal: gate.signal },
    ...(records && { records }),
    ...(shared && { shared }),
  }
  return gate.race(Promise.resolve(context(input)))
}

/** Asks the model with what it gets to see. Throws where it could not be asked so. */
export function asking(run: Run, context: ModelContext): Open {
  const { model } = run.options
  const call = callOptionsOf(run)
  return (traceparent) => model.stream(context, { ...call, signal: run.gate.signal, traceparent })
}
