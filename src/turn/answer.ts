import type { AssistantDraft, ModelContext, ModelEvent } from '../adapters/contract.ts'
import { failureThrown } from '../adapters/failure.ts'
import { backoffDelay } from '../lib/backoff.ts'
import { type ErrorData, errorData, isRetryable, TidemarkError } from '../lib/errors.ts'
import { traceOf } from '../lib/trace.ts'
import type { AssistantMessage, Usage } from '../message/schema.ts'
import type { ChatEvent } from '../protocol/events.ts'
import { asking, contextOf, type Open } from './asking.ts'
import { behind, continuedIn } from './continued.ts'
import { STOPPED } from './gate.ts'
import { outputOf } from './output.ts'
import { contentOf, finalContent, flush, hear, isCaughtUp, newPartial, type Partial } from './partial.ts'
import type { Run } from './run.ts'
import { beginCall, type Call } from './watch.ts'

/** How a model call ended. Without a message where the model did not get, or was not left, to say one. */
type Final =
  | { reason: 'stop' | 'length' | 'toolUse'; message: AssistantDraft }
  | { reason: 'error' | 'aborted'; error: ErrorData; message?: AssistantDraft }

/** One answer on its way. */
interface Answer {
  message: AssistantMessage
  partial: Partial
  /** The model accepted the request, and everybody was told. */
  started: boolean
  usage: Usage | undefined
  /** What the model gets to see; undefined where the answer is gone on with. */
  context: ModelContext | undefined
}

/** A settled answer, and what there is to write about it. */
export interface Settlement {
  message: AssistantMessage
  events: ChatEvent[]
}

/** A wait longer than this is told, not waited for. Milliseconds. */
const LONGEST_WAIT = 60_000

const STOPPED_ERROR: ErrorData = { code: 'aborted', message: 'the run was stopped' }
const stopped: Final = { reason: 'aborted', error: STOPPED_ERROR }

/** What the log is told of one event of a model. */
function eventsFor(run: Run, answer: Answer, event: ModelEvent): ChatEvent[] {
  const events: ChatEvent[] = []
  if (event.type === 'start') {
    const { model, responseId } = event
    const isOther = answer.started && responseId !== undefined && responseId !== answer.message.responseId
    answer.message = { ...answer.message, ...(model && { model }), ...(responseId && { responseId }) }
    // It was asked for twice: the second answer is the one to hear again.
    if (isOther) events.push(soFar(answer))
  }
  if (event.type === 'usage') answer.usage = event.usage
  if (!answer.started) events.push(start(run, answer))
  const { partial } = answer
  const delta = hear(partial, event)
  if (partial.torn) events.push(soFar(answer))
  else if (delta) events.push(delta)
  partial.torn = false
  return events
}

/** The whole answer as far as it was heard. */
const soFar = ({ message, partial }: Answer): ChatEvent => ({
  type: 'message.updated',
  message: { ...message, status: 'streaming', content: contentOf(partial) },
})

function start({ options }: Run, answer: Answer): ChatEvent {
  answer.started = true
  const { id, provider, model, responseId } = answer.message
  return {
    type: 'message.started',
    id,
    runId: options.runId,
    ...(provider && { provider }),
    ...(model && { model }),
    ...(responseId && { responseId }),
  }
}

/** Closes a model's doors. Neither waited for nor heard: what happens on the way out cannot change a settled answer. */
function leave(events: AsyncIterator<ModelEvent> | undefined): void {
  const left = async () => events?.return?.()
  left().catch(() => undefined)
}

/** One model call, told as it comes. Never throws. */
async function listen(run: Run, answer: Answer, open: Open, call: Call): Promise<Final> {
  const { gate, writer } = run
  let events: AsyncIterator<ModelEvent> | undefined
  try {
    events = open(call.traceparent)[Symbol.asyncIterator]()
    for (;;) {
      const next = await gate.race(events.next())
      if (next === STOPPED) return stopped
      if (next.done) break
      call.heard()
      const event = next.value
      if (event.type === 'done' || event.type === 'error') return event
      const room = writer.push(eventsFor(run, answer, event))
      if (room && (await gate.race(room)) === STOPPED) return stopped
    }
    return { reason: 'error', error: { code: 'protocol', message: 'the model ended without saying so' } }
  } catch (thrown) {
    const error = failureThrown(thrown)
    return { reason: error.code === 'aborted' ? 'aborted' : 'error', error }
  } finally {
    leave(events)
  }
}

/** Milliseconds to wait before the same request is made again; undefined where it is not. */
function retryDelay(run: Run, answer: Answer, final: Final, attempt: number): number | undefined {
  const { maxRetries = 2, env } = run.options
  if (final.reason !== 'error' || !isRetryable(final.error) || attempt >= maxRetries) return undefined
  if (answer.partial.blocks.length > 0 || (final.message?.content.length ?? 0) > 0) return undefined
  const delay = backoffDelay(attempt, env.random(), final.error.retryAfter)
  return delay <= LONGEST_WAIT ? delay : undefined
}

/** Adds up what was spent; once a call that was accepted does not say, nobody knows the sum. */
function account(run: Run, answer: Answer, final: Final): void {
  const { usage, usageRaw } = final.message ?? {}
  answer.usage = usage ?? (usageRaw === undefined ? answer.usage : undefined)
  if (answer.usage) run.usages.push(answer.usage)
  else if (answer.started || !('error' in final)) run.usages.push(undefined)
}

/** A failure says of which trace it is: whoever reads of it can find what happened elsewhere. */
const traced = (final: Final, { traceparent }: Call): Final =>
  'error' in final ? { ...final, error: { traceId: traceOf(traceparent)?.traceId, ...final.error } } : final

/** Asks until there is an answer, or no sense in asking again. */
async function ask(run: Run, answer: Answer, open: Open): Promise<Final> {
  for (let attempt = 0; ; attempt++) {
    answer.usage = undefined
    const call = beginCall(run, answer.message, answer.context, attempt)
    const final = traced(await listen(run, answer, open, call), call)
    account(run, answer, final)
    call.end(final, answer.usage)
    const delay = retryDelay(run, answer, final, attempt)
    if (delay === undefined) return final
    const { env } = run.options
    if ((await run.gate.race(env.sleep(delay, run.gate.signal))) === STOPPED) return stopped
  }
}

/**
 * Asks until there is an answer that has the shape that was asked for, where one was: the model is shown once what is wrong,
 * if its user wants that. What does not fit fails the answer, with its text kept.
 */
async function askToFit(run: Run, answer: Answer, open: Open, repaired = false): Promise<Final> {
  const final = await ask(run, answer, open)
  const shape = outputOf(run)
  if (!shape || 'error' in final) return final
  const { reason, message } = final
  const misfit = await run.options.structured?.(shape, answer.message, message, reason === 'length')
  if (!misfit) return final
  const failed: Final = {
    reason: 'error',
    error: { code: 'invalid-output', message: misfit.problem },
    message,
  }
  if (!shape.repair || repaired || reason === 'length') return failed
  const context = answer.context ?? (await contextOf(run))
  if (context === STOPPED) return failed
  answer.context = { ...context, messages: [...context.messages, ...misfit.shown] }
  answer.partial = newPartial(answer.message.id)
  const { continues: _, ...anew } = answer.message
  answer.message = anew
  // It is begun anew, and everybody is told so: two answers are never one text.
  if (answer.started) run.writer.push([soFar(answer)])
  return askToFit(run, answer, asking(run, answer.context), true)
}

/** The answer as it is kept: what the model said last, or what was heard of it. */
function settle(run: Run, answer: Answer, final: Final): Settlement {
  const { partial, usage } = answer
  const { id } = answer.message
  const failed = 'error' in final
  // What is heard again and breaks off is shorter than what was known before.
  const said = final.message?.content.length && (!failed || isCaughtUp(partial)) ? final.message : undefined
  const message: AssistantMessage = {
    ...answer.message,
    ...(final.message?.model && { model: final.message.model }),
    ...(final.message?.responseId && { responseId: final.message.responseId }),
    content: said ? finalContent(said.content) : contentOf(partial),
    status: failed ? (final.reason === 'aborted' ? 'interrupted' : 'failed') : 'completed',
    stopReason: final.reason,
    updatedAt: run.options.env.now(),
    ...(usage && { usage }),
    ...(final.message?.usageRaw !== undefined && { usageRaw: final.message.usageRaw }),
    // Of an answer that begins with another's text, its own usage counts the rest alone.
    ...(usage && !failed && answer.message.continues === undefined && { tokenCount: usage.output }),
  }
  const events: ChatEvent[] = said ? flush(partial) : []
  if (!failed) {
    if (!answer.started) events.unshift(start(run, answer))
    events.push({ type: 'message.completed', message })
  } else if (final.reason === 'aborted') {
    events.push({ type: 'message.interrupted', id, message })
  } else {
    message.error = final.error
    events.push({ type: 'message.failed', id, error: final.error, message })
  }
  return { message, events }
}

/** How to hear this answer: by asking, or, where it has begun, by asking for it once more. */
async function openerOf(run: Run, answer: Answer): Promise<Open | typeof STOPPED> {
  const { status, responseId = '', continues, content } = answer.message
  const { model } = run.options
  const { signal } = run.gate
  const { resume } = model
  if (status === 'interrupted') {
    if (!resume) throw new TidemarkError('invalid-request', 'model: expected one with resume')
    const [first] = content
    const text = continues !== undefined && first?.type === 'text' ? first.text : undefined
    return (traceparent) => behind(text, resume.call(model, responseId, { signal, traceparent }))
  }
  const continued = continuedIn(run)
  const context = await contextOf(run, continued)
  if (context === STOPPED) return STOPPED
  answer.context = context
  return asking(run, context, continued?.text)
}

/**
 * Lets the model answer into `message`, which is pending, or go on with it, where it was interrupted. Everything but its
 * end is written when this resolves; the events that end it are given back, so that they are written together with what
 * follows from them. Never throws.
 */
export async function answer(run: Run, message: AssistantMessage): Promise<Settlement> {
  const partial = newPartial(message.id, message.content)
  const state: Answer = { message, partial, started: false, usage: undefined, context: undefined }
  try {
    const open = await openerOf(run, state)
    return settle(run, state, open === STOPPED ? stopped : await askToFit(run, state, open))
  } catch (thrown) {
    // Only the assembling of the context throws: what the model does wrong is in its answer.
    return settle(run, state, { reason: 'error', error: errorData(thrown, 'invalid-request') })
  }
}
