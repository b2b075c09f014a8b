import { type Env, platformEnv } from '../lib/env.ts'
import { TidemarkError } from '../lib/errors.ts'
import { type Gate, openGate, STOPPED } from '../turn/gate.ts'
import type { HttpModelOptions } from './model-options.ts'

/** One question and its answer, which may take several requests. */
export interface Line {
  readonly options: HttpModelOptions
  readonly traceparent: string | undefined
  readonly env: Pick<Env, 'now' | 'sleep'>
  /** Ends every wait when the caller aborts, or when the line was silent for too long. */
  readonly gate: Gate
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  /** The silence that ended it. */
  late: TidemarkError | undefined
  /** Calls off the wait for the first byte. */
  came: () => void
  /** Mends since something was heard last. */
  mends: number
  /** That of the answer, once there is one. */
  status: number | undefined
  /** What the provider asked for with a failure. */
  retryAfter: number | undefined
  /** What no error message may repeat. */
  readonly secrets: string[]
}

export const openLine = (options: HttpModelOptions, signal: AbortSignal, traceparent?: string): Line => ({
  options,
  traceparent,
  env: options.env ?? platformEnv,
  gate: openGate(signal),
  reader: undefined,
  late: undefined,
  came: () => undefined,
  mends: 0,
  status: undefined,
  retryAfter: undefined,
  secrets: [...new URLSearchParams(options.baseURL.split('?')[1]).values()],
})

/** What the work comes to. Throws what ended the line, if that is first. */
export async function unlessStopped<T>(line: Line, work: Promise<T>): Promise<T> {
  const result = await line.gate.race(work)
  if (result === STOPPED) throw line.late ?? new TidemarkError('aborted', 'the call was aborted')
  return result
}
