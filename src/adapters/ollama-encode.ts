import { wellFormed } from '../lib/text.ts'
import type { ImageBlock, UserBlock } from '../message/schema.ts'
import type { CallIdRule } from './call-ids.ts'
import type { CallOptions, Effort, EncodedRequest, ModelContext } from './contract.ts'
import { joinJson } from './join-json.ts'
import { parseJson } from './json.ts'
import {
  argumentsText,
  notShown,
  type ReplayAnswer,
  type ReplayQuestion,
  replay,
  shownAfter,
  textOfBlocks,
} from './replay.ts'
import { toolsOf } from './tools.ts'

const CALL_ID: CallIdRule = { own: /./, foreign: /^[\w-]{1,64}$/, prefix: 'call_' }

/** A field that is undefined is not sent. */
type Json = Record<string, unknown>

/**
 * A model call as the body of an `/api/chat` request. Throws `invalid-request` for a tool choice that names no tool. A choice
 * is only a selection here: there is no way to demand a call. `extra` is joined with what is said otherwise, such as `options`.
 */
export function encodeOllama(
  context: ModelContext,
  options: CallOptions & { model: string; stream?: boolean },
  provider: string,
): EncodedRequest {
  const { model, stream = true, toolChoice: choice, stop = [], thinking, output, extra = {} } = options
  const chosen = toolsOf(context, choice).filter(
    ({ name }) => typeof choice !== 'object' || choice.name === name,
  )
  const tools = choice === 'none' ? [] : chosen
  const body: Json = {
    model,
    messages: messagesOf(context, provider),
    // Unless it is told otherwise, it streams.
    stream,
    tools: tools.length > 0 ? tools.map((tool) => ({ type: 'function', function: tool })) : undefined,
    think: thinking && thinkOf(model, thinking),
    format: output?.schema,
    options: {
      num_predict: options.maxOutputTokens,
      temperature: options.temperature,
      top_p: options.topP,
      stop: stop.length > 0 ? stop : undefined,
    },
  }
  return { path: '/chat', headers: { 'content-type': 'application/json' }, body: joinJson(body, extra) }
}

/** Most models think or do not; gpt-oss cannot help it, but has levels. */
function thinkOf(model: string, effort: Effort): boolean | string {
  if (!/gpt-oss/.test(model)) return effort !== 'none'
  return { none: 'low', minimal: 'low', low: 'low', medium: 'medium', high: 'high', max: 'high' }[effort]
}

function messagesOf({ system = '', messages }: ModelContext, provider: string): Json[] {
  const entries = replay(messages, provider, CALL_ID)
  const said = entries.flatMap((entry): Json[] => {
    if (entry.role === 'assistant') return answerOf(entry)
    return [entry.role === 'user' ? userOf(entry) : { role: 'system', content: entry.text }]
  })
  // Nothing but instructions is taken for the wish to load the model.
  if (!entries.some(({ role }) => role === 'user')) said.unshift({ role: 'user', content: 'Continue.' })
  if (system.trim() !== '') said.unshift({ role: 'system', content: wellFormed(system) })
  return said
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
    function: { name: call.name, arguments: parseJson(argumentsText(call))?.value },
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
