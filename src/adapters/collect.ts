import type { AssistantDraft, ModelEvent } from './contract.ts'
import { eventStream } from './event-stream.ts'

/** The final message of an answer. Never rejects: `stopReason` tells how it ended. */
export const collect = (events: AsyncIterable<ModelEvent>): Promise<AssistantDraft> =>
  eventStream(events).result()
