import type { Adapter } from '../../src/adapters/adapter.ts'
import type { AssistantDraft, ModelEvent, RawResponse } from '../../src/adapters/contract.ts'
import { hear } from '../../src/adapters/hear.ts'
import type { ErrorData } from '../../src/lib/error-data.ts'

/** A response whose body comes in the given pieces, and then breaks with `failure`, if there is one. */
export function responseOf(
  pieces: readonly (Uint8Array | string)[],
  {
    status = 200,
    headers = {},
    failure,
  }: { status?: number; headers?: Record<string, string>; failure?: unknown } = {},
): RawResponse {
  const encoder = new TextEncoder()
  return {
    status,
    headers: { get: (name) => headers[name.toLowerCase()] ?? null },
    body: (async function* () {
      for (const piece of pieces) yield typeof piece === 'string' ? encoder.encode(piece) : piece
      if (failure !== undefined) throw failure
    })(),
  }
}

export interface Heard {
  events: ModelEvent[]
  message: AssistantDraft
  error?: ErrorData
}

/** All events of an answer, and what its last one says. */
export const hearAll = (adapter: Adapter, response: RawResponse): Promise<Heard> =>
  allOf(hear(adapter, response))

/** The same of events that are there already. */
export async function allOf(stream: AsyncIterable<ModelEvent>): Promise<Heard> {
  const events: ModelEvent[] = []
  for await (const event of stream) events.push(event)
  const last = events.at(-1)
  if (last?.type === 'done') return { events, message: last.message }
  if (last?.type === 'error') return { events, message: last.message, error: last.error }
  throw new Error(`the last event is ${last?.type}`)
}

export const textIn = (message: AssistantDraft, type: 'text' | 'thinking' = 'text'): string =>
  message.content.map((block) => (block.type === type ? block.text : '')).join('')

export const callsIn = (message: AssistantDraft) =>
  message.content.filter((block) => block.type === 'toolCall')
