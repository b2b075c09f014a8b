import type { Adapter, AssistantDraft, ModelEvent, RawResponse } from '../../src/adapters/contract.ts'
import type { ErrorData } from '../../src/lib/errors.ts'

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
export async function hearAll(adapter: Pick<Adapter, 'decode'>, response: RawResponse): Promise<Heard> {
  const events: ModelEvent[] = []
  for await (const event of adapter.decode(response)) events.push(event)
  const last = events.at(-1)
  if (last?.type === 'done') return { events, message: last.message }
  if (last?.type === 'error') return { events, message: last.message, error: last.error }
  throw new Error(`the last event is ${last?.type}`)
}

export const textIn = (message: AssistantDraft, type: 'text' | 'thinking' = 'text'): string =>
  message.content.map((block) => (block.type === type ? block.text : '')).join('')

export const callsIn = (message: AssistantDraft) =>
  message.content.filter((block) => block.type === 'toolCall')
