import { errorData } from '../lib/errors.ts'
import type { ToolCallBlock, ToolMessage } from '../message/schema.ts'
import type { ChatEvent } from '../protocol/events.ts'
import { STOPPED } from './gate.ts'
import { isWaiting } from './next.ts'
import { CUT_OFF, failure, settled, type ToolResult } from './result.ts'
import { created, type PendingCall, pendingResults, putInTrail, type Run } from './run.ts'
import type { Tool } from './tool.ts'

/** What is to be done about a call. */
type Plan =
  | { type: 'answer'; result: ToolResult }
  | { type: 'execute'; tool: Tool; args: unknown }
  /** Somebody else has to decide, or to bring the result: for so many milliseconds, or for ever. */
  | { type: 'wait'; stage: 'approval' | 'client'; timeout: number | undefined }

/** A tool that ends its process each time it is executed is not executed for ever. */
const MOST_ATTEMPTS = 3

const answerWith = (error: string): Plan => ({ type: 'answer', result: failure(error) })
/** What is said of a call that a stop came before. It may have been begun: by whoever crashed, or elsewhere. */
const stoppedBefore = ({ stage }: ToolMessage): string =>
  stage === 'started' || stage === 'client' ? CUT_OFF : 'the run was stopped before the tool was executed'

/** Why a call is not looked at any further. */
function objection(run: Run, { call, message }: PendingCall, tool: Tool | undefined): string | undefined {
  const { stage, expiresAt, attempts = 0 } = message
  // Who remembers what was executed is asked, before it is executed, whether that came to an end.
  const isBegun = stage === 'started' && !run.options.executions
  if (run.gate.signal.aborted) return stoppedBefore(message)
  if (!tool) return `there is no tool named ${JSON.stringify(call.name)}`
  if (stage === 'started' && (attempts >= MOST_ATTEMPTS || (isBegun && !tool.idempotent))) return CUT_OFF
  if (expiresAt === undefined || isWaiting(message, run.readAt)) return undefined
  if (stage === 'approval') return 'nobody allowed the call in time; the tool was not executed'
  return stage === 'client' ? 'no result came in time; the tool may have had its effect' : undefined
}

/** Decides about a call. Never rejects. */
async function plan(run: Run, pending: PendingCall): Promise<Plan> {
  const { call, message } = pending
  const { stage } = message
  const tool = run.options.tools?.find(({ spec }) => spec.name === call.name)
  const objected = objection(run, pending, tool)
  if (objected !== undefined || !tool) return answerWith(objected ?? CUT_OFF)
  const given = message.arguments === undefined ? call : { ...call, arguments: message.arguments }
  const checked = await run.gate.race(tool.check(given))
  if (checked === STOPPED) return answerWith(stoppedBefore(message))
  if ('refused' in checked) return { type: 'answer', result: checked.refused }
  const { args } = checked
  if (stage === undefined) {
    try {
      const asks = await run.gate.race(tool.needsApproval(args))
      if (asks === STOPPED) return answerWith(stoppedBefore(message))
      if (asks) return { type: 'wait', stage: 'approval', timeout: tool.approvalTimeout }
    } catch (thrown) {
      return answerWith(`the call could not be judged: ${errorData(thrown).message}`)
    }
  }
  if (!tool.execute) return { type: 'wait', stage: 'client', timeout: tool.resultTimeout }
  return { type: 'execute', tool, args }
}

/** A call's message once it is decided what is done about it. */
function planned({ options }: Run, { message }: PendingCall, given: Plan): ToolMessage {
  const { expiresAt: _, ...rest } = message
  const updatedAt = options.env.now()
  if (given.type === 'execute')
    return { ...rest, stage: 'started', attempts: (message.attempts ?? 0) + 1, updatedAt }
  if (given.type === 'answer') return message
  const { stage, timeout } = given
  return { ...rest, stage, updatedAt, ...(timeout !== undefined && { expiresAt: updatedAt + timeout }) }
}

/** The result of a call that is to have one; undefined for one that waits. */
async function resultOf(
  run: Run,
  { call, key, message }: PendingCall,
  given: Plan,
): Promise<ToolResult | undefined> {
  if (given.type === 'wait') return undefined
  if (given.type === 'answer') return given.result
  const { gate, options } = run
  const { executions, env } = options
  if (gate.signal.aborted) return failure(stoppedBefore(message))
  const { tool, args } = given
  const known = await executions?.begin(key, tool.idempotent)
  if (known) return known
  const attempt = (message.attempts ?? 0) + 1
  const { sessionId } = options
  // A signal for each: many that listen to one are taken for a leak.
  const own = new AbortController()
  const release = gate.onStop(() => own.abort(gate.signal.reason))
  const context = { signal: own.signal, toolCallId: call.id, key, sessionId, attempt }
  const result = (await tool.execute?.(args, context, env)) ?? failure(CUT_OFF)
  release()
  await executions?.end(key, result)
  return result
}

/**
 * Calls of an answer, in parallel. That they are begun is written before any is executed; results are written in the order
 * of the calls, the last one by whoever goes on. A call that needs somebody's word, or is executed elsewhere, waits.
 */
export async function runTools(
  run: Run,
  calls: readonly ToolCallBlock[],
  due: readonly ChatEvent[],
): Promise<ChatEvent[]> {
  const { writer, trail, options } = run
  const known = new Set(trail.map(({ id }) => id))
  const pending = pendingResults(run, calls)
  const plans = await Promise.all(pending.map((call) => plan(run, call)))
  const begun: ChatEvent[] = []
  const work = pending.map((call, at) => {
    const given = plans[at] ?? answerWith(CUT_OFF)
    const message = planned(run, call, given)
    putInTrail(run, message)
    if (!known.has(message.id)) begun.push(created(message))
    else if (message !== call.message) begun.push({ type: 'message.updated', message })
    return { message, begin: () => resultOf(run, call, given) }
  })
  if (due.length + begun.length > 0) await writer.commit([...due, ...begun])
  const results = work.map(async ({ message, begin }) => ({ message, result: await begin() }))
  const last = plans.findLastIndex(({ type }) => type !== 'wait')
  for (const [at, executed] of results.entries()) {
    const { message: open, result } = await executed
    if (!result) continue
    const message = settled(open, result, options.env.now())
    putInTrail(run, message)
    const events: ChatEvent[] = [{ type: 'message.completed', message }]
    if (at === last) return events
    await writer.commit(events)
  }
  return []
}
