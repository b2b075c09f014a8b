import { TidemarkError } from '../lib/errors.ts'
import type { Adapter } from './adapter.ts'
import type { CallOptions, EncodedRequest, ModelContext } from './contract.ts'
import { joinJson } from './join-json.ts'
import { mended } from './json.ts'
import { replay } from './replay.ts'

/**
 * A model call as a request to one provider: its history made fit to be sent again, its tools' schemas complete, since some
 * servers refuse one without type or properties, and no half of a surrogate pair anywhere. `extra` is joined with what is
 * said otherwise: its records and lists add to ours, anything else of it outranks ours. Throws `invalid-request` for a tool
 * choice that names no tool.
 *
 * @example
 * const { path, headers, body } = say(messagesAdapter(), { messages }, { model: 'claude-sonnet-4-5' })
 */
export function say(
  adapter: Adapter,
  { system = '', messages, tools: given = [] }: ModelContext,
  options: CallOptions & { model: string; stream?: boolean },
): EncodedRequest {
  const { toolChoice: choice, stop, extra = {}, stream = true, ...more } = options
  if (typeof choice === 'object' && !given.some(({ name }) => name === choice.name))
    throw new TidemarkError('invalid-request', `toolChoice: there is no tool "${choice.name}"`)
  // An empty text ends nothing, and is refused.
  const ends = stop?.filter((text) => text !== '')
  const entries = replay(messages, adapter, more.model)
  // Some servers refuse a conversation in which no user ever spoke, or take it for something else.
  if (!entries.some(({ role }) => role === 'user'))
    entries.unshift({ role: 'user', content: [{ type: 'text', text: 'Continue.' }] })
  const tools = given.map((tool) => ({
    ...tool,
    parameters: { type: 'object', properties: {}, ...tool.parameters },
  }))
  const { path, headers, body } = adapter.encode(
    {
      ...(system.trim() !== '' && { system }),
      entries,
      tools,
    },
    { ...more, stream, toolChoice: tools[0] && choice, stop: ends?.length ? ends : undefined },
  )
  return {
    path,
    headers: { 'content-type': 'application/json', ...headers },
    body: mended(joinJson(body, extra)),
  }
}
