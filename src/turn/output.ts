import type { AssistantDraft, CallOptions } from '../adapters/contract.ts'
import { TidemarkError } from '../lib/errors.ts'
import type { OutputShape } from '../message/output-shape.ts'
import type { AssistantMessage, Message } from '../message/schema.ts'
import type { Run } from './run.ts'

/** What is wrong with an answer. */
export interface Misfit {
  /** In words. */
  problem: string
  /** What the model is shown, where it is asked once more. */
  shown: readonly Message[]
}

/**
 * Judges the last answer of a run by the shape that it is to have; undefined where it fits, or where calls come first.
 * @param isCut whether there was no room for more of it
 */
export type Structured = (
  shape: OutputShape,
  message: AssistantMessage,
  draft: AssistantDraft,
  isCut: boolean,
) => Promise<Misfit | undefined>

/** What the answers of a run have to be: as the message says that they answer. */
export function outputOf({ history }: Run): OutputShape | undefined {
  const asked = history.findLast(({ role }) => role === 'user')
  return asked?.role === 'user' ? asked.output : undefined
}

/** The options of a run's calls, with what the answer has to be. Throws where nobody could judge it. */
export function callOptionsOf(run: Run): CallOptions | undefined {
  const { call, structured } = run.options
  const output = outputOf(run)
  if (!output) return call
  if (!structured)
    throw new TidemarkError(
      'invalid-request',
      'structured: expected direct({ structured }), since the answer is to have a shape',
    )
  const { schema, name, strict } = output
  return { ...call, output: { schema, ...(name && { name }), ...(strict && { strict }) } }
}
