import type { ModelContext, ModelEvent } from '../adapters/contract.ts'
import { assembleContext } from '../context/assemble.ts'
import { behind, type Continued } from './continued.ts'
import { STOPPED } from './gate.ts'
import { callOptionsOf } from './output.ts'
import type { Run } from './run.ts'

/** Asks the model, or asks it once more. */
export type Open = (traceparent: string) => AsyncIterable<ModelEvent>

/** What the model gets to see of the run so far. */
export async function contextOf(run: Run, continued?: Continued): Promise<ModelContext | typeof STOPPED> {
  const { options, trail, gate, specs, room } = run
  if (gate.signal.aborted) return STOPPED
  const { system, context = assembleContext, sessionId, model, call, env, records, shared } = options
  const input = {
    messages: continued?.messages ?? [...run.history, ...trail],
    ...(system !== undefined && { system }),
    ...(specs.length > 0 && { tools: specs }),
    ...{ sessionId, model, env, signal: gate.signal },
    ...(call?.thinking && { thinking: call.thinking }),
    ...(room !== undefined && { room }),
    ...(records && { records }),
    ...(shared && { shared }),
  }
  const made = await gate.race(Promise.resolve(context(input)))
  return made === STOPPED || !continued ? made : continued.asked(made)
}

/**
 * Asks the model with what it gets to see. Throws where it could not be asked so.
 * @param text what the answer begins with, where it goes on from another
 */
export function asking(run: Run, context: ModelContext, text?: string): Open {
  const { model } = run.options
  const call = callOptionsOf(run)
  const { signal } = run.gate
  return (traceparent) => behind(text, model.stream(context, { ...call, signal, traceparent }))
}
