import type { CallOptions, Effort, Model, ModelContext, ToolSpec } from '../adapters/contract.ts'
import type { SessionRecords } from '../context/session-records.ts'
import type { Env } from '../lib/env.ts'
import type { AssistantMessage, Message } from '../message/schema.ts'
import type { ChatEvent, RunOutcome } from '../protocol/events.ts'
import { answer } from './answer.ts'
import type { Executions } from './executions.ts'
import { type NextStep, nextStep } from './next.ts'
import type { Structured } from './output.ts'
import { openRun, pendingAnswer, type Run, sumOf } from './run.ts'
import { runTools } from './run-tools.ts'
import type { Tool } from './tool.ts'
import type { WatchCalls } from './watch.ts'

/** Where a run writes what happens. Whoever owns the truth implements it: the server's store, or the client's. */
export interface RunLog {
  /**
   * Appends events in order. Resolves when they are durable (the owner numbers them, gives `seq` and `rev` to the
   * messages in them, and may batch deltas). Rejects when the run may not write any more (a lost lease): the run ends.
   * Called again before it resolves, for deltas: at most 16 appends are under way. Resolves with the results of calls that
   * stand instead of those given, since somebody else was first.
   */
  append(events: readonly ChatEvent[]): Promise<readonly Message[]>
}

/** What a context is made of: the branch so far, the answers of this run included. */
export interface ContextInput {
  messages: readonly Message[]
  system?: string
  tools?: readonly ToolSpec[]
  sessionId: string
  /** Who is going to be asked. */
  model: Pick<Model, 'provider' | 'id' | 'capabilities'>
  /** How hard the model is told to think; some are then told how, which costs tokens. */
  thinking?: Effort
  env: Env
  /** Most tokens of all that is sent, as estimated, since the model has refused more. Passed on to `assembleContext`, it holds. */
  room?: number
  /** Aborted when the run is stopped. */
  signal: AbortSignal
  /** Where what is derived from the session is kept; absent where the owner of the history lends nothing. */
  records?: SessionRecords
  /** The same for what belongs to no session, such as what was learnt of a model. */
  shared?: SessionRecords
  /** Somebody only looks: no model is to be asked for anything. @default false */
  preview?: boolean
}

export interface RunOptions {
  runId: string
  sessionId: string
  /** The selected branch up to and including the user message to answer, oldest first. */
  history: readonly Message[]
  /**
   * What the run has made already, where it is gone on with: settled answers, results of calls, settled or not, and at its end
   * the next answer, where that is pending: it is asked for once more, at most three times.
   */
  trail?: readonly Message[]
  /** An answer of this run to go on with: one that is pending, or was interrupted; then the model must have `resume`. */
  resumed?: AssistantMessage
  /** An answer that was cut off, beside the one to be: the first model call goes on from its text. `history` ends before it. */
  continues?: AssistantMessage
  /** Id of the first assistant message; later ones of the run get new ids. @default env.createId() */
  assistantId?: string
  model: Model
  tools?: readonly Tool[]
  /** Instructions for the model. */
  system?: string
  call?: CallOptions
  /** Judges answers that are to have a shape. @default a question that asks for one fails */
  structured?: Structured
  /** Lent to `context`. */
  records?: SessionRecords
  /** Lent to `context`. */
  shared?: SessionRecords
  /**
   * Decides before each model call what the model gets to see. What it throws fails the answer, with the code of a
   * `TidemarkError`. Its own `watch` hears of each call. @default assembleContext
   */
  context?: ((input: ContextInput) => ModelContext | Promise<ModelContext>) & { watch?: WatchCalls }
  /** Most model calls in one run. @default 8 */
  maxSteps?: number
  /** Whether the run is to end instead of calling the model once more: what was said meanwhile goes on from there. */
  yields?(): boolean | Promise<boolean>
  /** Remembers what was executed, so that nothing is executed twice. @default what the trail tells of it */
  executions?: Executions
  /** Most retries of a model call before its first content. @default 2 */
  maxRetries?: number
  log: RunLog
  /** Who hears of each model call, before and after. */
  watch?: readonly WatchCalls[]
  /** The trace (W3C `traceparent`) that the run is a step of. @default a new one for each model call */
  traceparent?: string
  env: Env
  /** Aborting it ends the run: the partial message is kept as `interrupted`. */
  signal: AbortSignal
}

const onceMore = (message: AssistantMessage): AssistantMessage => ({
  ...message,
  attempts: (message.attempts ?? 0) + 1,
})

/** One model call. `due` is what is written together with the new message; what ends it is given back. */
async function callModel(run: Run, due: readonly ChatEvent[]): Promise<ChatEvent[]> {
  const { resumed } = run
  run.resumed = undefined
  const message = resumed?.status === 'pending' ? onceMore(resumed) : (resumed ?? pendingAnswer(run))
  const told: ChatEvent[] =
    message === resumed ? [] : [{ type: resumed ? 'message.updated' : 'message.created', message }]
  await run.writer.commit([...due, ...told])
  const settled = await answer(run, message)
  run.trail.push(settled.message)
  return settled.events
}

async function drive(run: Run): Promise<RunOutcome | 'waiting'> {
  const { options, writer, gate, trail, usages } = run
  const { runId, maxSteps = 8 } = options
  // What is decided but not yet written: it is written with what follows from it, so that at every moment either a message
  // of the run is unsettled or the run is finished, and a crash anywhere leaves something to be found by.
  let due: ChatEvent[] = [{ type: 'run.started', runId }]
  for (;;) {
    const state = { trail, maxSteps, stopped: gate.signal.aborted, now: run.readAt }
    // What is there already comes to its end, also in a run that was stopped.
    let step: NextStep = run.resumed?.status === 'pending' ? { type: 'callModel' } : nextStep(state)
    const isAgain = step.type === 'callModel' && trail.length > 0 && !run.resumed
    if (isAgain && (await options.yields?.())) step = { type: 'end', outcome: 'completed' }
    switch (step.type) {
      case 'callModel':
        due = await callModel(run, due)
        break
      case 'runTools':
        due = await runTools(run, step.calls, due)
        break
      case 'wait':
        await writer.commit([...due, { type: 'run.waiting', runId, calls: [...step.calls] }])
        return 'waiting'
      case 'end': {
        const usage = sumOf(usages)
        const finished: ChatEvent = {
          type: 'run.finished',
          runId,
          outcome: step.outcome,
          ...(usage && { usage }),
        }
        await writer.commit([...due, finished])
        return step.outcome
      }
    }
  }
}

/**
 * One run from history to settled: calls the model, streams its answer into the log, executes tools, and goes on until
 * there is nothing left to do, it yields, or `maxSteps` answers are there: then the outcome is `completed`, the calls of the last
 * answer are answered, and its stop reason, `toolUse`, says that the model had not finished.
 *
 * Never throws for what model or tools do; ends with exactly one `run.finished`, written in one append with what settled
 * the last message, or with `run.waiting`: then calls wait for somebody's word or for results from elsewhere, and the run is
 * gone on with by another call that is given the trail. The outcome is `failed` or `interrupted` if the last answer is, or if the run was stopped between two.
 * Rejects with what the log threw if the log refuses to write: then the log ends where it refused, and nothing is written
 * after it.
 */
export async function runTurn(options: RunOptions): Promise<RunOutcome | 'waiting'> {
  const run = openRun(options)
  try {
    return await drive(run)
  } finally {
    run.gate.close()
  }
}
