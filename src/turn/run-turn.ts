import type { CallOptions, Model } from '../adapters/contract.ts'
import type { Env } from '../lib/env.ts'
import type { Message } from '../message/schema.ts'
import type { ChatEvent, RunOutcome } from '../protocol/events.ts'
import type { Tool } from './tool.ts'

/** Where a run writes what happens. Whoever owns the truth implements it: the server's store, or the client's. */
export interface RunLog {
  /**
   * Appends events in order. Resolves when they are durable (the owner numbers them, gives `seq` and `rev` to the
   * messages in them, and may batch deltas). Rejects when the run may not write any more (a lost lease): the run ends.
   */
  append(events: readonly ChatEvent[]): Promise<void>
}

export interface RunOptions {
  runId: string
  sessionId: string
  /** The selected branch up to and including the user message to answer, oldest first. */
  history: readonly Message[]
  /** Id of the first assistant message; later ones of the run get new ids. @default env.createId() */
  assistantId?: string
  model: Model
  tools?: readonly Tool[]
  /** Instructions for the model. */
  system?: string
  call?: CallOptions
  /** Most model calls in one run. @default 8 */
  maxSteps?: number
  /** Most retries of a model call before its first content. @default 2 */
  maxRetries?: number
  log: RunLog
  env: Env
  /** Aborting it ends the run: the partial message is kept as `interrupted`. */
  signal: AbortSignal
}

/**
 * One run from history to settled: calls the model, streams its answer into the log, executes tools, and goes on until
 * there is nothing left to do. Never throws for what model or tools do; ends with exactly one `run.finished`.
 */
export declare function runTurn(options: RunOptions): Promise<RunOutcome>
