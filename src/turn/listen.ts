import type { AssistantDraft, ModelContext, ModelEvent } from '../adapters/contract.ts'
import { failureThrown } from '../adapters/failure.ts'
import type { ErrorData } from '../lib/error-data.ts'
import type { AssistantMessage, Usage } from '../message/schema.ts'
import type { ChatEvent } from '../protocol/events.ts'
import type { Open } from './asking.ts'
import { STOPPED } from './gate.ts'
import { contentOf, hear, type Partial } from './partial.ts'
import type { Run } from './run.ts'
import type { Call } from './watch.ts'

/** How a model call ended. Without a message where the model did not get, or was not left, to say one. */
export type Final =
  | { reason: 'stop' | 'length' | 'toolUse'; message: AssistantDraft }
  | { reason: 'error' | 'aborted'; error: ErrorData; message?: AssistantDraft }

/** One answer on its way. */
export interface Answer {
  message: AssistantMessage
  partial: Partial
  /** The model accepted the request, and everybody was told. */
  started: boolean
  usage: Usage | undefined
  /** What the model gets to see; undefined where the answer is gone on with. */
  context: ModelContext | undefined
  /** Nothing is left out of its context any more. */
  refitted?: boolean
}

const STOPPED_ERROR: ErrorData = { code: 'aborted', message: 'the run was stopped' }
export const stopped: Final = { reason: 'aborted', error: STOPPED_ERROR }

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
export const soFar = ({ message, partial }: Answer): ChatEvent => ({
  type: 'message.updated',
  message: { ...message, status: 'streaming', content: contentOf(partial) },
})

export function start({ options }: Run, answer: Answer): ChatEvent {
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
export async function listen(run: Run, answer: Answer, open: Open, call: Call): Promise<Final> {
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
