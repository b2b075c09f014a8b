import type { RuntimeHost } from '../chat/runtime-port.ts'
import type { ErrorData } from '../lib/error-data.ts'
import { errorFrom, TidemarkError } from '../lib/errors.ts'
import { traceparentAfter } from '../lib/trace.ts'
import type { ChatEvent } from '../protocol/events.ts'
import { callLog } from '../turn/call-log.ts'
import { type RunLog, type RunOptions, runTurn } from '../turn/run-turn.ts'
import { storedExecutions } from '../turn/stored-executions.ts'
import { type Bell, createBell } from './bell.ts'
import type { DirectOptions } from './direct.ts'
import { recordsOf } from './records.ts'
import { decision, standOf, type TurnOf } from './stored-turn.ts'

const BEGINNINGS: ReadonlySet<ChatEvent['type']> = new Set([
  'message.started',
  'message.failed',
  'message.interrupted',
])

/** What the provider goes on with when this tab is gone. */
interface Kept {
  /** It writes an answer that has an id. */
  writing: boolean
  /** It waits for somebody's word about a call. */
  waiting: boolean
  /** The run was left: it writes nothing any more, and whoever comes next goes on with it. */
  left: TidemarkError | undefined
}

/** Whether nobody was reached: what was answered, however badly, has a status. */
const isUnreachable = ({ code, status }: ErrorData): boolean => code === 'network' && status === undefined

/**
 * The log of one run. A run that the model never heard of is not failed but put off: nothing is written, and `putOff` is
 * told why. So is one that could not be gone on with: what is known of its answer stands.
 */
function logOf(
  host: RuntimeHost,
  { sessionId, runId, resumed, trail = [] }: TurnOf,
  { began, putOff, kept }: { began(): void; putOff(error: TidemarkError): void; kept: Kept },
): RunLog {
  let isHeardOf = false
  return {
    async append(events) {
      if (kept.left) throw kept.left
      for (const event of events)
        if (event.type === 'message.started') kept.writing = event.responseId !== undefined
        else if (event.type === 'message.completed') kept.writing = false
      const failure = events.find((event) => event.type === 'message.failed')
      const isKept = resumed?.status === 'interrupted'
      if (!isHeardOf && failure && (isKept || isUnreachable(failure.error))) {
        const error = errorFrom(failure.error)
        putOff(error)
        // It may have been the last try: nobody is to wait for the end of this run.
        if (isKept) await host.append(sessionId, [{ type: 'run.finished', runId, outcome: 'interrupted' }])
        // What nobody heard of was no attempt.
        else if (resumed) await host.append(sessionId, [{ type: 'message.updated', message: resumed }])
        throw error
      }
      const goesOn = !resumed && trail.length > 0
      const begins = !isHeardOf && (goesOn || events.some(({ type }) => BEGINNINGS.has(type)))
      // At once: it may fail before its beginning is written.
      isHeardOf ||= begins
      const standing = await host.append(sessionId, events)
      if (begins) began()
      return standing
    },
  }
}

/** A run under way in this tab. */
interface Running {
  sessionId: string
  abort: AbortController
  /** Somebody wants it to make way before its next model call. */
  yields: boolean
  /** Somebody said something about a call. */
  wake(): void
  /** Ends it here: without a word where the provider keeps the answer, as by `abort` elsewhere. */
  leave(): void
  done: Promise<unknown>
}

/** What this tab runs, and what was cancelled before it ran. */
export interface Runs {
  readonly options: DirectOptions
  readonly running: Map<string, Running>
  readonly cancelled: Set<string>
  /** Runs that have interrupted another. */
  readonly heeded: Set<string>
  /** Sessions that were deleted: nothing derived from them is kept any more. */
  readonly deleted: Set<string>
  /** Records of calls on their way into the storage. */
  readonly keeping: Set<Promise<void>>
}

export const newRuns = (options: DirectOptions): Runs => ({
  options,
  running: new Map(),
  cancelled: new Set(),
  heeded: new Set(),
  deleted: new Set(),
  keeping: new Set(),
})

/** Runs of a session come one after another. Throws `aborted` for who does not want to wait any longer. */
export async function turn({ running }: Runs, sessionId: string, signal: AbortSignal): Promise<void> {
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

interface Given {
  runs: Runs
  host: RuntimeHost
  turnOf: TurnOf
  abort: AbortController
  kept: Kept
}

/** What a run gets besides what its user chose. */
type Lent = Pick<RunOptions, 'log' | 'env' | 'signal' | 'records' | 'shared' | 'watch'> & {
  traceparent: string
}

/** A run to its end, however often it has to wait for somebody on the way. */
async function toTheEnd(given: Given, bell: Bell, lent: Lent): Promise<void> {
  const { runs, host, kept } = given
  const { sessionId } = given.turnOf
  const yields = () => runs.running.get(given.turnOf.runId)?.yields ?? false
  const fixed = { ...lent, yields, executions: storedExecutions(host.storage, sessionId) }
  let { turnOf } = given
  let reached = ''
  for (;;) {
    const { runId, history, assistantId, resumed, trail, continues } = turnOf
    const own = {
      ...(assistantId !== undefined && { assistantId }),
      ...(resumed && { resumed }),
      ...(trail && { trail }),
      ...(continues && { continues }),
    }
    const outcome = await runTurn({ ...runs.options, ...fixed, ...own, runId, sessionId, history })
    if (outcome !== 'waiting') return
    kept.waiting = true
    const { resumed: _, ...rest } = turnOf
    turnOf = await decision({ ...given, turnOf: rest }, bell)
    kept.waiting = false
    const { trail: heard = [] } = turnOf
    // The session was deleted elsewhere: there is nothing that could be gone on with.
    if (heard.length === 0) return
    // Each word is a step further. Where what was written of it is lost, the next would be, too, and so on for ever.
    const came = standOf(heard)
    if (came === reached) given.abort.abort()
    reached = came
  }
}

/** Starts a run; resolves when the model has begun to answer, or will not. `signal` ends it until then. */
export function begin(runs: Runs, host: RuntimeHost, turnOf: TurnOf, signal: AbortSignal): Promise<void> {
  const { sessionId, runId } = turnOf
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
    const kept: Kept = { writing: false, waiting: false, left: undefined }
    const log = logOf(host, turnOf, { began, putOff, kept })
    const bell = createBell()
    if (runs.cancelled.has(runId)) abort.abort()
    const records = recordsOf(host.storage, sessionId, () => runs.deleted.has(sessionId))
    const calls = callLog(records, { keep: runs.options.keepCalls })
    const watch = [calls.watch, ...(runs.options.watch ?? [])]
    const traceparent = traceparentAfter(runs.options.traceparent?.(), host.env.random)
    const shared = recordsOf(host.storage, null)
    const lent = { log, env: host.env, signal: abort.signal, records, shared, watch, traceparent }
    const run = toTheEnd({ runs, host, turnOf, abort, kept }, bell, lent)
    const ended = () => {
      const kept = calls.flush().then(() => void runs.keeping.delete(kept))
      runs.keeping.add(kept)
      runs.running.delete(runId)
      signal.removeEventListener('abort', leave)
    }
    // Those who wait for their turn, or for the end, do not care how it ended.
    const leaveIt = () => {
      if (kept.waiting || (kept.writing && runs.options.model.resume))
        kept.left = new TidemarkError('conflict', 'the chat was closed')
      abort.abort(kept.left)
    }
    const done = run.then(ended, ended)
    runs.running.set(runId, { sessionId, abort, yields: false, wake: bell.ring, leave: leaveIt, done })
    run.then(() => (problem ? reject(problem) : resolve()), reject)
  })
}
