import type { UserBlock } from '../message/schema.ts'
import type { EncodedCall, ReplayCall, ReplayContext } from './adapter.ts'
import type { CallIdRule } from './call-ids.ts'
import type { Effort, OutputFormat, ToolSpec } from './contract.ts'
import type { ChatQuirks } from './openai-chat-quirks.ts'
import {
  argumentsText,
  asUserText,
  isCommonImage,
  nameOf,
  notShown,
  type ReplayAnswer,
  type ReplayEntry,
  type ReplayQuestion,
  shownAfter,
  textOfBlocks,
} from './replay.ts'

/** OpenAI's own bounds; the ids a server gave are taken back by that server as they are. */
export const ANY_CALL_ID: CallIdRule = { own: /./, foreign: /^[\w-]{1,40}$/, prefix: 'call_' }

/** A field that is undefined is not sent. */
type Json = Record<string, unknown>

/** A model call as a Chat Completions request. */
export function encodeChat(context: ReplayContext, options: ReplayCall, quirks: ChatQuirks): EncodedCall {
  const {
    model,
    stream,
    toolChoice: choice,
    maxOutputTokens,
    temperature,
    topP,
    stop,
    cache,
    thinking,
    output,
  } = options
  const { tools } = context
  const { maxTokens = 'max_tokens', sampling = true, streamOptions = true, schemas = true } = quirks
  const body: Json = {
    model,
    messages: messagesOf(output && !schemas ? withSchema(context, output) : context, quirks),
    ...(thinking && (quirks.effort ?? effortFields)(thinking, model)),
    response_format: output && formatOf(output, schemas),
    ...(cache && quirks.cache?.(cache, model)),
    ...(stream ? { stream } : quirks.bodyWhole),
    stream_options: stream && streamOptions ? { include_usage: true } : undefined,
    // An empty list is refused.
    tools: tools[0] && tools.map(toolOf),
    tool_choice: typeof choice === 'object' ? { type: 'function', function: choice } : choice,
    [maxTokens]: maxOutputTokens,
    ...(sampling && { temperature, top_p: topP }),
    stop: sampling && (quirks.stop?.test(model) ?? true) ? stop : undefined,
  }
  return { path: '/chat/completions', body }
}

const effortFields = (thinking: Effort): Json => ({
  reasoning_effort: thinking === 'max' ? 'xhigh' : thinking,
})

const formatOf = ({ name = 'output', schema, strict = false }: OutputFormat, schemas: boolean): Json =>
  schemas ? { type: 'json_schema', json_schema: { name, schema, strict } } : { type: 'json_object' }

/** Some servers want to read of JSON before they answer in it; none of them reads the schema elsewhere. */
const withSchema = ({ system = '', ...context }: ReplayContext, { schema }: OutputFormat): ReplayContext => ({
  ...context,
  system: `${system}\n\nAnswer in JSON that fits this schema:\n${JSON.stringify(schema)}`.trimStart(),
})

const toolOf = ({ name, description, parameters }: ToolSpec): Json => ({
  type: 'function',
  function: { name, description, parameters },
})

function messagesOf({ system, entries }: ReplayContext, quirks: ChatQuirks): Json[] {
  const { turns, instructions: role = 'system' } = quirks
  const said = (turns ? inTurns(entries, turns === 'strict') : entries).flatMap((entry): Json[] => {
    if (entry.role === 'assistant') return answerOf(entry, quirks)
    return [entry.role === 'user' ? userOf(entry) : { role: 'system', content: entry.text }]
  })
  return system ? [{ role, content: system }, ...said] : said
}

const asUser = (text: string): ReplayQuestion => ({ role: 'user', content: [{ type: 'text', text }] })

/** For servers that care who speaks after whom: the last is a user, and none gives instructions right after an answer. */
function inTurns(entries: readonly ReplayEntry[], strict: boolean): ReplayEntry[] {
  const turns: ReplayEntry[] = []
  for (const entry of entries) {
    const before = turns.at(-1)
    const later =
      entry.role === 'system' && before && (strict ? before.role !== 'system' : before.role === 'assistant')
    const next = later && entry.role === 'system' ? asUser(asUserText(entry.text)) : entry
    if (strict && next.role === 'user' && before?.role === 'user')
      turns.splice(-1, 1, { ...before, content: [...before.content, ...next.content] })
    else turns.push(next)
  }
  const last = turns.at(-1)
  if (last?.role === 'assistant' && !last.results[0]) turns.push(asUser('Continue.'))
  return turns
}

/** Text alone goes as a string: not every server knows parts. */
const userOf = ({ role, content, name }: ReplayQuestion): Json => ({
  role,
  name: name && /^[\w-]{1,64}$/.test(name) ? name : undefined,
  content: content.every(({ type }) => type === 'text') ? textOfBlocks(content, '\n\n') : content.map(partOf),
})

function partOf(block: UserBlock): Json {
  if (block.type === 'text') return { type: 'text', text: block.text }
  const { type, mimeType, data, name } = block
  const url = data === undefined ? block.url : `data:${mimeType};base64,${data}`
  if (type === 'image' && url && (!data || isCommonImage(mimeType)))
    return { type: 'image_url', image_url: { url } }
  if (type === 'file' && data && !/^(audio|video)/.test(mimeType))
    return { type, file: { filename: name ?? 'file', file_data: url } }
  return notShown(block)
}

/** An answer, the results of its calls, and the images in both, which take text alone. */
function answerOf(entry: ReplayAnswer, quirks: ChatQuirks): Json[] {
  const { results } = entry
  const text = textOfBlocks(entry.content, '')
  const calls = results.map(({ call }) => ({
    id: call.id,
    type: 'function',
    function: { name: nameOf(call), arguments: argumentsText(call) },
  }))
  const tool_calls = calls[0] && calls
  return [
    ...(text || tool_calls
      ? [{ role: 'assistant', content: text || null, ...quirks.answerFields?.(entry), tool_calls }]
      : []),
    ...results.map(({ call, content }) => ({
      role: 'tool',
      tool_call_id: call.id,
      content: textOfBlocks(content, '\n') || (content[0] ? '(see attached image)' : '(no output)'),
    })),
    ...shownAfter(entry, ...results).map(userOf),
  ]
}
