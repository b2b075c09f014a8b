import type { CallOptions, Model } from '../adapters/contract.ts'
import type { OutboxRequest } from '../chat/ports.ts'
import type { Accepted, DispatchContext, Runtime, RuntimeHost } from '../chat/runtime-port.ts'
import { errorFrom, TidemarkError } from '../lib/errors.ts'
import { expectOption, hasMethod } from '../lib/expect.ts'
import type { Message } from '../message/schema.ts'
import type { WhenBusy } from '../protocol/commands.ts'
import type { ChatEvent } from '../protocol/events.ts'
import { type RunLog, runTurn } from '../turn/run-turn.ts'
import type { Tool } from '../turn/tool.ts'

export interface DirectOptions {
  model: Model
  tools?: readonly Tool[]
  /** Instructions for the model. */
  system?: string
  call?: CallOptions
  /** Most model calls in one run. @default 8 */
  maxSteps?: number
}

interface Question {
  messageId: string
  runId: string
  whenBusy?: WhenBusy | undefined
}

/** What a request asks to be answered, or undefined where it asks for nothing. */
function questionOf(request: OutboxRequest): Question | undefined {
  if (request.type === 'send') {
    const { id, runId, whenBusy } = request.body
    return { messageId: id, runId, whenBusy }
  }
  if (request.type !== 'command') return undefined
  const { body } = request
  if (body.type === 'regenerate') return { messageId: body.messageId, runId: body.runId }
  return body.type === 'edit' ? { messageId: body.newId, runId: body.runId } : undefined
}

const BEGINNINGS: ReadonlySet<ChatEvent['type']> = new Set([
  'message.started',
  'message.failed',
  'message.interrupted',
])

/**
 * The log of one run. While the device is offline, a run that the model never heard of is not failed but put off:
 * nothing is written, and `putOff` is told why.
 */
function logOf(
  host: RuntimeHost,
  sessionId: string,
  { began, putOff }: { began(): void; putOff(error: TidemarkError): void },
): RunLog {
  let open = false
  return {
    async append(events) {
      const failure = events.find((event) => event.type === 'message.failed')
      if (!open && failure?.error.code === 'network' && host.offline()) {
        const error = errorFrom(failure.error)
        putOff(error)
        throw error
      }
      await host.append(sessionId, events)
      if (open || !events.some(({ type }) => BEGINNINGS.has(type))) return
      open = true
      began()
    },
  }
}

/** A run under way in this tab. */
interface Running {
  sessionId: string
  abort: AbortController
  done: Promise<unknown>
}

/** What this tab runs, and what was cancelled before it ran. */
interface Runs {
  readonly running: Map<string, Running>
  readonly cancelled: Set<string>
}

/** What a question does to the run in flight. Throws where it does not want to be asked during one. */
function makeWay({ running }: Runs, sessionId: string, { whenBusy, runId }: Question): void {
  const busy = [...running].find(([id, run]) => run.sessionId === sessionId && id !== runId)?.[1]
  if (whenBusy === 'steer')
    throw new TidemarkError(
      'invalid-request',
      'whenBusy: steer is not supported; expected queue, interrupt or refuse',
    )
  if (busy && whenBusy === 'refuse') throw new TidemarkError('conflict', 'a run is in flight')
  if (busy && whenBusy === 'interrupt') busy.abort.abort()
}

/** Runs of a session come one after another. Throws `aborted` for who does not want to wait any longer. */
async function turn({ running }: Runs, sessionId: string, signal: AbortSignal): Promise<void> {
  let leave = () => {}
  const left = new Promise<void>((resolve) => {
    leave = resolve
  })
  signal.addEventListener('abort', leave, { once: true })
  for (;;) {
    if (signal.aborted) throw new TidemarkError('aborted', 'the request was aborted')
    const busy = [...running.values()].find((run) => run.sessionId === sessionId)
    if (!busy) break
    await Promise.race([busy.done, left])
  }
  signal.removeEventListener('abort', leave)
}

/** Starts a run; resolves when the model has begun to answer, or will not. `signal` ends it until then. */
function begin(
  runs: Runs,
  options: DirectOptions,
  host: RuntimeHost,
  turnOf: TurnOf,
  signal: AbortSignal,
): Promise<void> {
  const { sessionId, runId, history, assistantId } = turnOf
  return new Promise((resolve, reject) => {
    const abort = new AbortController()
    const leave = () => abort.abort()
    signal.addEventListener('abort', leave, { once: true })
    const began = () => {
      signal.removeEventListener('abort', leave)
      resolve()
    }
    let problem: TidemarkError | undefined
    const putOff = (error: TidemarkError) => {
      problem = error
    }
    const log = logOf(host, sessionId, { began, putOff })
    const fixed = { runId, sessionId, history, log, env: host.env, signal: abort.signal }
    const run = runTurn({ ...options, ...fixed, ...(assistantId !== undefined && { assistantId }) })
    const ended = () => {
      runs.running.delete(runId)
      signal.removeEventListener('abort', leave)
    }
    // Those who wait for their turn, or for the end, do not care how it ended.
    runs.running.set(runId, { sessionId, abort, done: run.then(ended, ended) })
    run.then(() => (problem ? reject(problem) : resolve()), reject)
  })
}

interface TurnOf {
  sessionId: string
  runId: string
  history: readonly Message[]
  assistantId: string | undefined
}

async function answer(
  runs: Runs,
  options: DirectOptions,
  host: RuntimeHost,
  { sessionId, signal }: DispatchContext,
  question: Question,
) {
  const { messageId, runId } = question
  makeWay(runs, sessionId, question)
  await turn(runs, sessionId, signal)
  const earlier = host.answers(sessionId, runId)
  // Sent before, and answered or being answered: the row only had not left the outbox yet.
  if (earlier.some(({ status }) => status !== 'pending')) return
  const assistantId = earlier[0]?.id
  if (runs.cancelled.has(runId)) {
    if (assistantId)
      await host.append(sessionId, [
        { type: 'message.interrupted', id: assistantId },
        { type: 'run.finished', runId, outcome: 'interrupted' },
      ])
    return
  }
  const history = await host.history(sessionId, messageId)
  const asked = history.at(-1)
  if (asked?.id !== messageId)
    throw new TidemarkError('not-found', `messageId: no message ${messageId} is stored in this session`)
  // The question takes its place before its answer does.
  if (asked.seq === undefined) await host.append(sessionId, [{ type: 'message.updated', message: asked }])
  await begin(runs, options, host, { sessionId, runId, history, assistantId }, signal)
}

/**
 * This client owns the truth and calls the model itself. A request counts as accepted once the model has begun to answer,
 * or has failed for another reason than a missing network: until then it stays in the outbox and is tried again.
 */
export function direct(options: DirectOptions): Runtime {
  expectOption(
    hasMethod(options?.model, 'stream'),
    'model: expected a model, such as openaiChat(name, options)',
  )
  let host: RuntimeHost | undefined
  const runs: Runs = { running: new Map(), cancelled: new Set() }

  async function dispatch(request: OutboxRequest, context: DispatchContext): Promise<Accepted> {
    if (!host)
      throw new TidemarkError('invalid-request', 'runtime: expected it to be passed to createChat first')
    if (request.type === 'command' && request.body.type === 'cancel') {
      const { runId } = request.body
      runs.cancelled.add(runId)
      runs.running.get(runId)?.abort.abort()
    }
    if (request.type === 'deleteSession')
      for (const run of runs.running.values()) if (run.sessionId === context.sessionId) run.abort.abort()
    const question = questionOf(request)
    if (question) await answer(runs, options, host, context, question)
    return {}
  }

  return {
    truth: 'client',
    open(lent) {
      host = lent
    },
    dispatch,
    follow() {
      throw new TidemarkError('not-found', 'a direct chat has no feed')
    },
    page: () => Promise.resolve({ page: { messages: [] }, malformed: 0 }),
    sessions: () => Promise.resolve({ sessions: [], hasMore: false }),
    async close() {
      const running = [...runs.running.values()]
      for (const { abort } of running) abort.abort()
      await Promise.allSettled(running.map(({ done }) => done))
    },
  }
}
