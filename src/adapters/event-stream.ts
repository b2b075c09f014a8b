import { errorData } from '../lib/errors.ts'
import type { AssistantDraft, ModelEvent } from './contract.ts'
import { failedWith, gather, gathered, gathering } from './gather.ts'

/** A model's answer as it comes, to be read once: event by event, or by its result alone. */
export interface EventStream extends AsyncIterable<ModelEvent> {
  /**
   * The final message, for `done` and `error` alike: its `stopReason` tells which. Never rejects. Reads the stream, if
   * nobody does; where its reader left before the end, what had come by then, with the reason `aborted`.
   */
  result(): Promise<AssistantDraft>
}

/**
 * A source of model events, held to its contract: it ends in exactly one `done` or `error` and never throws, whatever the
 * source does. Nothing is read before somebody asks.
 */
export function eventStream(source: AsyncIterable<ModelEvent>): EventStream {
  let settle: (message: AssistantDraft) => void
  const final = new Promise<AssistantDraft>((resolve) => {
    settle = resolve
  })
  const events = toTheEnd(source, (message) => settle(message))
  let read = false
  return {
    [Symbol.asyncIterator]() {
      read = true
      return events
    },
    async result() {
      if (!read) for await (const _ of this);
      return final
    },
  }
}

async function* toTheEnd(
  source: AsyncIterable<ModelEvent>,
  settle: (message: AssistantDraft) => void,
): AsyncGenerator<ModelEvent, void, void> {
  const soFar = gathering()
  let last: Extract<ModelEvent, { type: 'done' | 'error' }> | undefined
  try {
    for await (const event of source) {
      if (event.type === 'done' || event.type === 'error') {
        last = event
        break
      }
      gather(soFar, event)
      yield event
    }
    last ??= failedWith(soFar, { code: 'protocol', message: 'the answer ended without saying so' })
  } catch (thrown) {
    last ??= failedWith(soFar, errorData(thrown))
  } finally {
    // Without a last event, the reader left.
    settle(last?.message ?? gathered(soFar, 'aborted'))
  }
  if (last) yield last
}
