import { responsesAdapter } from '../../src/adapters/openai-responses.ts'
import { hearAll, responseOf } from './answers.ts'

export type Json = Record<string, unknown>

export const sse = (events: Json[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

/** What comes of a stream's events; `response.` before each type goes without saying. */
export const hear = (...events: Json[]) =>
  hearAll(
    responsesAdapter(),
    responseOf([sse(events.map((event) => ({ ...event, type: `response.${event.type}` })))]),
  )

export const hearWhole = (response: Json, options = {}) =>
  hearAll(responsesAdapter(), responseOf([JSON.stringify({ object: 'response', ...response })], options))

export const added = (place: number, item: Json): Json => ({
  type: 'output_item.added',
  output_index: place,
  item,
})
export const done = (place: number, item: Json): Json => ({
  type: 'output_item.done',
  output_index: place,
  item,
})
export const ended = (status: string, more: Json = {}): Json => ({
  type: status,
  response: { id: 'r', status, ...more },
})
export const completed = ended('completed')
export const cut = ended('incomplete', { incomplete_details: { reason: 'max_output_tokens' } })

export const message = (id: string, ...texts: string[]): Json => ({
  type: 'message',
  id,
  content: texts.map((text) => ({ type: 'output_text', text })),
})
export const call = (id: string, args: string, more: Json = {}): Json => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'f',
  arguments: args,
  ...more,
})
export const written = (place: number, part: number, delta: string): Json => ({
  type: 'output_text.delta',
  output_index: place,
  content_index: part,
  delta,
})
