import type { ImageBlock, UserBlock } from '../message/schema.ts'
import type { EncodedCall, ReplayCall, ReplayContext } from './adapter.ts'
import type { CallIdRule } from './call-ids.ts'
import type { Effort } from './contract.ts'
import {
  argumentsOf,
  notShown,
  type ReplayAnswer,
  type ReplayQuestion,
  shownAfter,
  textOfBlocks,
} from './replay.ts'

export const CALL_ID: CallIdRule = { own: /./, foreign: /^[\w-]{1,64}$/, prefix: 'call_' }

/** A field that is undefined is not sent. */
type Json = Record<string, unknown>

/** A model call as an `/api/chat` request. A choice is only a selection here: there is no way to demand a call. */
export function encodeOllama(context: ReplayContext, call: ReplayCall): EncodedCall {
  const { model, stream, toolChoice: choice, stop, thinking, output } = call
  const chosen = context.tools.filter(({ name }) => typeof choice !== 'object' || choice.name === name)
  const tools = choice === 'none' ? [] : chosen
  const body: Json = {
    model,
    messages: messagesOf(context),
    // Unless it is told otherwise, it streams.
    stream,
    tools: tools[0] && tools.map((tool) => ({ type: 'function', function: tool })),
    think: thinking && thinkOf(model, thinking),
    format: output?.schema,
    options: {
      num_predict: call.maxOutputTokens,
      temperature: call.temperature,
      top_p: call.topP,
      stop,
    },
  }
  return { path: '/chat', body }
}

/** Most models think or do not; gpt-oss cannot help it, but has levels. */
function thinkOf(model: string, effort: Effort): boolean | string {
  if (!/gpt-oss/.test(model)) return effort !== 'none'
  return { none: 'low', minimal: 'low', low: 'low', medium: 'medium', high: 'high', max: 'high' }[effort]
}

function messagesOf({ system, entries }: ReplayContext): Json[] {
  const said = entries.flatMap((entry): Json[] => {
    if (entry.role === 'assistant') return answerOf(entry)
    return [entry.role === 'user' ? userOf(entry) : { role: 'system', content: entry.text }]
  })
  return system ? [{ role: 'system', content: system }, ...said] : said
}

/** Text is one string; pictures stand beside it, as they are, never by address. */
function userOf({ role, content: blocks }: ReplayQuestion): Json {
  const content = blocks.map((block) => (block.type === 'text' || isImage(block) ? block : notShown(block)))
  const images = content.flatMap((block) => (isImage(block) ? [block.data] : []))
  return {
    role,
    content: textOfBlocks(content, '\n\n'),
    images: images.length > 0 ? images : undefined,
  }
}

const isImage = (block: UserBlock): block is ImageBlock & { data: string } =>
  block.type === 'image' && block.data !== undefined

/** An answer, the results of its calls, and the pictures in both, which take text alone. */
function answerOf(entry: ReplayAnswer): Json[] {
  const { role, content, own, results } = entry
  const text = textOfBlocks(content, '')
  const calls = results.map(({ call }) => ({
    id: call.id,
    function: { name: call.name, arguments: argumentsOf(call) },
  }))
  const answer = {
    role,
    content: text,
    thinking: (own && textOfBlocks(content, '', 'thinking')) || undefined,
    tool_calls: calls[0] && calls,
  }
  return [
    ...(text || calls[0] ? [answer] : []),
    ...results.map(({ call, content: result }) => ({
      role: 'tool',
      tool_name: call.name,
      tool_call_id: call.id,
      content: textOfBlocks(result, '\n') || (result[0] ? '(see attached image)' : '(no output)'),
    })),
    ...shownAfter(entry, ...results).map(userOf),
  ]
}
