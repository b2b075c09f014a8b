import type { CallOptions, Model } from '../adapters/contract.ts'
import type { OutboxRequest } from '../chat/ports.ts'
import type { Accepted, DispatchContext, Runtime, RuntimeHost } from '../chat/runtime-port.ts'
import { TidemarkError } from '../lib/errors.ts'
import { expectOption, hasMethod } from '../lib/expect.ts'
import type { Command, WhenBusy } from '../protocol/commands.ts'
import { readCalls } from '../turn/call-log.ts'
import { decided, decisionEvent } from '../turn/decision.ts'
import type { RunOptions } from '../turn/run-turn.ts'
import { expectTools, type Tool } from '../turn/tool.ts'
import type { WatchCalls } from '../turn/watch.ts'
import { begin, newRuns, type Runs, turn } from './direct-run.ts'
import { firstWord } from './first-word.ts'
import { endOf, goOn } from './go-on.ts'
import { preview } from './preview.ts'
import { recordsOf } from './records.ts'

export interface DirectOptions {
  model: Model
  tools?: readonly Tool[]
  /** Instructions for the model. */
  system?: string
  call?: CallOptions
  /**
   * Holds answers to what `send(…, { output })` asks for: `structured`, which is exported.
   * @default such a question fails with `invalid-request`
   */
  structured?: NonNullable<RunOptions['structured']>
  /**
   * Decides before each model call what the model gets to see. What it throws fails the answer, with the code of a
   * `TidemarkError`. For long conversations `defaultContext()` is recommended; it is no default, since it changes what the
   * model reads: old tool results become their conclusion, old turns give way to summaries.
   * @default assembleContext: the whole branch, and of answers that were cut off their text
   * @example
   * defaultContext({ summarise: summariseWith(smallModel) })
   * @example
   * (input) => assembleContext({ ...input, interrupted: 'drop', window: 128_000 })
   */
  context?: NonNullable<RunOptions['context']>
  /** Most model calls in one run. @default 8 */
  maxSteps?: number
  /** Records of model calls kept of each session, for `session.calls()`: the newest. @default 100 */
  keepCalls?: number
  /** Who hears of each model call, such as `logger(…)`. */
  watch?: readonly WatchCalls[]
  /** The trace of the app's own that a run is a step of, as a W3C `traceparent`. @default a new one for each run */
  traceparent?: () => string | undefined
}

interface Question {
  /** What is to be answered, or the answer to go on with. */
  messageId: string
  runId: string
  whenBusy?: WhenBusy | undefined
  resumes?: boolean
  continues?: boolean
}

/** What a request asks to be answered, or undefined where it asks for nothing. */
function questionOf(request: OutboxRequest): Question | undefined {
  if (request.type === 'send') {
    const { id, runId, whenBusy } = request.body
    return { messageId: id, runId, whenBusy }
  }
  if (request.type === 'resume') return { ...request.body, resumes: true }
  if (request.type !== 'command') return undefined
  const { body } = request
  if (body.type === 'regenerate' || body.type === 'continue')
    return { messageId: body.messageId, runId: body.runId, continues: body.type === 'continue' }
  return body.type === 'edit' ? { messageId: body.newId, runId: body.runId } : undefined
}

/** What those who wait in a session do to its run in flight. Each interrupts once: not who was before it in the queue as well. */
function makeWay({ running, heeded }: Runs, sessionId: string, waiting: readonly Question[]): void {
  for (const [id, run] of running) {
    if (run.sessionId !== sessionId) continue
    run.yields = false
    for (const { runId, whenBusy } of waiting) {
      if (runId === id) continue
      run.yields ||= whenBusy === 'steer'
      if (whenBusy !== 'interrupt' || heeded.has(runId)) continue
      heeded.add(runId)
      run.abort.abort()
    }
  }
}

async function answer(
  runs: Runs,
  host: RuntimeHost,
  context: DispatchContext,
  question: Question,
): Promise<void> {
  const { sessionId, signal } = context
  const { messageId, runId } = question
  const isBusy = [...runs.running].some(([id, run]) => run.sessionId === sessionId && id !== runId)
  if (isBusy && question.whenBusy === 'refuse') throw new TidemarkError('conflict', 'a run is in flight')
  await turn(runs, sessionId, signal)
  if (question.resumes) return goOn(runs, host, context, question)
  const earlier = host.answers(sessionId, runId)
  // Sent before, and answered, or cut off on the way: the row only had not left the outbox yet.
  if (earlier.some(({ status }) => status !== 'pending')) return goOn(runs, host, context, question)
  const assistantId = earlier[0]?.id
  if (runs.cancelled.has(runId)) {
    if (assistantId) await host.append(sessionId, endOf(assistantId, runId))
    return
  }
  const history = await host.history(sessionId, messageId)
  const asked = history.at(-1)
  if (asked?.id !== messageId)
    throw new TidemarkError('not-found', `messageId: no message ${messageId} is stored in this session`)
  if (question.continues && asked.role === 'assistant') {
    const turnOf = { sessionId, runId, history: history.slice(0, -1), assistantId, continues: asked }
    return begin(runs, host, turnOf, signal)
  }
  // The question takes its place before its answer does.
  if (asked.seq === undefined) await host.append(sessionId, [{ type: 'message.updated', message: asked }])
  await begin(runs, host, { sessionId, runId, history, assistantId }, signal)
}

async function ask(
  runs: Runs,
  host: RuntimeHost,
  context: DispatchContext,
  question: Question,
): Promise<Accepted> {
  await answer(runs, host, context, question)
  const { runId } = question
  return { unanswered: runs.cancelled.has(runId) && host.answers(context.sessionId, runId).length === 0 }
}

/** Takes somebody's word about a call that waits, unless somebody else was first. */
async function say(
  { options, running }: Runs,
  host: RuntimeHost,
  sessionId: string,
  command: Command,
): Promise<void> {
  if (command.type !== 'approve' && command.type !== 'reject' && command.type !== 'toolResult') return
  const message = (await host.history(sessionId, command.messageId)).at(-1)
  const next = decided(message, command, options.tools, host.env.now())
  if (next && message?.role === 'tool')
    await host.append(sessionId, [decisionEvent(await firstWord(host, sessionId, message, next))])
  for (const run of running.values()) if (run.sessionId === sessionId) run.wake()
}

/** Stops what a request asks to stop. */
function endRuns(
  { running, cancelled, deleted }: Runs,
  request: OutboxRequest,
  { sessionId }: DispatchContext,
) {
  if (request.type === 'command' && request.body.type === 'cancel') {
    const { runId } = request.body
    cancelled.add(runId)
    running.get(runId)?.abort.abort()
  }
  if (request.type === 'deleteSession') {
    deleted.add(sessionId)
    for (const run of running.values()) if (run.sessionId === sessionId) run.abort.abort()
  }
}

/** Leaves all runs; resolves when they have ended, and their calls are kept. */
async function leaveRuns({ running, keeping }: Runs): Promise<void> {
  const left = [...running.values()]
  for (const { leave } of left) leave()
  await Promise.allSettled(left.map(({ done }) => done))
  await Promise.all(keeping)
}

/**
 * This client owns the truth and calls the model itself. A request counts as accepted once the model has begun to answer,
 * or has failed: not as long as nobody can be reached, while it stays in the outbox and is tried again.
 *
 * An answer that a reload cut off is gone on with where the model keeps its answers (`model.resume`): it is `interrupted`
 * until the model is reached again. Else it stays `interrupted`, with the text that came.
 */
export function direct(options: DirectOptions): Runtime {
  expectOption(
    hasMethod(options?.model, 'stream'),
    'model: expected a model, such as openaiChat(name, options)',
  )
  const { model, tools } = options
  expectTools(tools)
  let host: RuntimeHost | undefined
  const runs = newRuns(options)

  function opened(): RuntimeHost {
    if (host) return host
    throw new TidemarkError('invalid-request', 'runtime: expected it to be passed to createChat first')
  }

  async function dispatch(request: OutboxRequest, context: DispatchContext): Promise<Accepted> {
    const lent = opened()
    endRuns(runs, request, context)
    if (request.type === 'command') await say(runs, lent, context.sessionId, request.body)
    const question = questionOf(request)
    return question ? ask(runs, lent, context, question) : {}
  }

  return {
    truth: 'client',
    open(lent) {
      host = lent
    },
    dispatch,
    leave(sessionId) {
      for (const run of runs.running.values()) if (run.sessionId === sessionId) run.leave()
    },
    queued(requests, sessionId) {
      const waiting = requests.flatMap((request) => questionOf(request) ?? [])
      makeWay(runs, sessionId, waiting)
    },
    continues: true,
    canResume: ({ provider, responseId }) =>
      model.resume !== undefined && provider === model.provider && responseId !== undefined,
    follow() {
      throw new TidemarkError('not-found', 'a direct chat has no feed')
    },
    page: () => Promise.resolve({ page: { messages: [] }, malformed: 0 }),
    sessions: () => Promise.resolve({ sessions: [], hasMore: false }),
    calls: (sessionId) => readCalls(recordsOf(opened().storage, sessionId)),
    context: (sessionId, headId) => preview(options, opened(), sessionId, headId),
    close: () => leaveRuns(runs),
  }
}
