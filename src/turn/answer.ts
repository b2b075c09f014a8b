import { backoffDelay } from '../lib/backoff.ts'
import { errorData, isRetryable, TidemarkError } from '../lib/errors.ts'
import { traceOf } from '../lib/trace.ts'
import type { AssistantMessage } from '../message/schema.ts'
import type { ChatEvent } from '../protocol/events.ts'
import { asking, contextOf, type Open } from './asking.ts'
import { behind, continuedIn } from './continued.ts'
import { STOPPED } from './gate.ts'
import { type Answer, type Final, listen, soFar, start, stopped } from './listen.ts'
import { outputOf } from './output.ts'
import { contentOf, finalContent, flush, isCaughtUp, newPartial } from './partial.ts'
import { smallerContext } from './refused.ts'
import type { Run } from './run.ts'
import { beginCall, type Call } from './watch.ts'

/** A settled answer, and what there is to write about it. */
export interface Settlement {
  message: AssistantMessage
  events: ChatEvent[]
}

/** An answer whose process ends each time it is asked for is not asked for for ever. */
const MOST_ATTEMPTS = 3

/** A wait longer than this is told, not waited for. Milliseconds. */
const LONGEST_WAIT = 60_000

/** Whether anything was said: then nothing is asked again. */
const hasBegun = ({ partial }: Answer, { message }: Final): boolean =>
  partial.blocks.length > 0 || (message?.content.length ?? 0) > 0

/** Milliseconds to wait before the same request is made again; undefined where it is not. */
function retryDelay(run: Run, answer: Answer, final: Final, attempt: number): number | undefined {
  const { maxRetries = 2, env } = run.options
  if (final.reason !== 'error' || !isRetryable(final.error) || attempt >= maxRetries) return undefined
  if (hasBegun(answer, final)) return undefined
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

/** Asks with less, once, where the model found the context too long; undefined where that is of no use. */
async function askLess(run: Run, answer: Answer, final: Final): Promise<Open | typeof STOPPED | undefined> {
  if (final.reason !== 'error' || answer.refitted || !answer.context || hasBegun(answer, final))
    return undefined
  answer.refitted = true
  const context = await smallerContext(run, answer.context, final.error)
  if (context === undefined || context === STOPPED) return context
  answer.context = context
  return asking(run, context, continuedIn(run)?.text)
}

/** Asks until there is an answer, or no sense in asking again. */
async function ask(run: Run, answer: Answer, opened: Open): Promise<Final> {
  let [open, retries] = [opened, 0]
  for (let attempt = 0; ; attempt++) {
    answer.usage = undefined
    const call = beginCall(run, answer.message, answer.context, attempt)
    const final = traced(await listen(run, answer, open, call), call)
    account(run, answer, final)
    call.end(final, answer.usage)
    const less = await askLess(run, answer, final)
    if (less === STOPPED) return stopped
    if (less) {
      open = less
      continue
    }
    const delay = retryDelay(run, answer, final, retries++)
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
  answer.refitted = true
  const { continues: _, ...anew } = answer.message
  answer.message = anew
  // It is begun anew, and everybody is told so: two answers are never one text.
  if (answer.started) run.writer.push([soFar(answer)])
  return askToFit(run, answer, asking(run, answer.context), true)
}

/** The answer as it is kept: what the model said last, or what was heard of it. */
function settle(run: Run, answer: Answer, final: Final): Settlement {
  const { partial, usage } = answer
  const { attempts: _, ...begun } = answer.message
  const { id } = begun
  const failed = 'error' in final
  // What is heard again and breaks off is shorter than what was known before.
  const said = final.message?.content.length && (!failed || isCaughtUp(partial)) ? final.message : undefined
  const message: AssistantMessage = {
    ...begun,
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
  const { status, responseId = '', continues, content, attempts = 0 } = answer.message
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
  const context = attempts > MOST_ATTEMPTS ? STOPPED : await contextOf(run, continued)
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
