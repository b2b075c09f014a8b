import { TidemarkError } from '../lib/errors.ts'
import { wellFormed } from '../lib/text.ts'
import type { FileBlock, ImageBlock, UserBlock } from '../message/schema.ts'
import type { CallOptions, EncodedRequest, ModelContext, ToolSpec } from './contract.ts'
import { isRecord } from './json.ts'
import { ANY_CALL_ID, type ChatQuirks } from './openai-chat-quirks.ts'
import { argumentsText, type ReplayAnswer, type ReplayEntry, replay } from './replay.ts'

type Json = Record<string, unknown>

/** A model call as the body of a Chat Completions request. Throws `invalid-request` for a tool choice that names no tool. */
export function encodeChat(
  context: ModelContext,
  options: CallOptions & { model: string; stream?: boolean },
  provider: string,
  quirks: ChatQuirks,
): EncodedRequest {
  const { model, stream = true, extra } = options
  const body: Json = {
    model,
    messages: messagesOf(context, provider, quirks),
    ...(stream ? { stream } : quirks.bodyWhole),
    ...(stream && quirks.streamOptions !== false ? { stream_options: { include_usage: true } } : {}),
    ...toolsOf(context.tools ?? [], options.toolChoice),
    ...limitsOf(options, quirks),
    ...quirks.body,
    // Spread copies own fields alone, and `__proto__` as a field like any other.
    ...extra,
  }
  return { path: '/chat/completions', headers: { 'content-type': 'application/json' }, body }
}

function limitsOf({ maxOutputTokens, temperature, topP, stop }: CallOptions, quirks: ChatQuirks): Json {
  const { maxTokens = 'max_tokens', sampling = true } = quirks
  return {
    ...(maxOutputTokens === undefined ? {} : { [maxTokens]: maxOutputTokens }),
    ...(sampling && temperature !== undefined ? { temperature } : {}),
    ...(sampling && topP !== undefined ? { top_p: topP } : {}),
    ...(sampling && stop !== undefined && stop.length > 0 ? { stop: [...stop] } : {}),
  }
}

function toolsOf(tools: readonly ToolSpec[], choice: CallOptions['toolChoice']): Json {
  if (typeof choice === 'object' && !tools.some(({ name }) => name === choice.name))
    throw new TidemarkError(
      'invalid-request',
      `toolChoice names "${choice.name}", which is not among the tools`,
    )
  // Without tools, a choice among them is refused.
  if (tools.length === 0) return {}
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: {
        name,
        ...(description === undefined ? {} : { description: wellFormed(description) }),
        parameters: { type: 'object', properties: {}, ...parameters },
      },
    })),
    ...(choice === undefined
      ? {}
      : { tool_choice: typeof choice === 'string' ? choice : { type: 'function', function: choice } }),
  }
}

function messagesOf({ system, messages }: ModelContext, provider: string, quirks: ChatQuirks): Json[] {
  const role = quirks.systemRole ?? 'system'
  const entries = replay(messages, provider, quirks.callIds ?? ANY_CALL_ID)
  const said: Json[] =
    system === undefined || system.trim() === '' ? [] : [{ role, content: wellFormed(system) }]
  const before = said.length
  for (const entry of entries) {
    if (entry.role === 'system') said.push({ role, content: entry.text })
    else if (entry.role === 'user') said.push(userOf(entry, quirks))
    else said.push(...answerOf(entry, quirks))
  }
  // Some servers refuse a conversation in which no user ever spoke.
  if (!entries.some((entry) => entry.role === 'user'))
    said.splice(before, 0, { role: 'user', content: 'Continue.' })
  return said
}

function userOf({ content, name }: Extract<ReplayEntry, { role: 'user' }>, quirks: ChatQuirks): Json {
  const named = name !== undefined && /^[\w-]{1,64}$/.test(name) ? { name } : {}
  return { role: 'user', ...named, content: partsOf(content, quirks) }
}

/** Text alone goes as a string: not every server knows parts. */
function partsOf(content: readonly UserBlock[], quirks: ChatQuirks): unknown {
  if (content.every((block) => block.type === 'text')) return content.map((block) => block.text).join('\n\n')
  return content.map((block) => {
    if (block.type === 'text') return { type: 'text', text: block.text }
    return (block.type === 'image' ? imagePart(block) : filePart(block, quirks)) ?? unsent(block)
  })
}

const dataUrl = ({ mimeType, data }: ImageBlock | FileBlock): string => `data:${mimeType};base64,${data}`

function imagePart(block: ImageBlock): Json | undefined {
  const url = block.data === undefined ? block.url : dataUrl(block)
  return url === undefined ? undefined : { type: 'image_url', image_url: { url } }
}

function filePart(block: FileBlock, quirks: ChatQuirks): Json | undefined {
  const { data, mimeType, name = 'file' } = block
  if (data === undefined) return undefined
  const [, format] = /^audio\/(?:x-)?(wav|mp3|mpeg)/.exec(mimeType) ?? []
  if (format === undefined) return { type: 'file', file: { filename: name, file_data: dataUrl(block) } }
  if (!quirks.audio) return undefined
  return { type: 'input_audio', input_audio: { data, format: format === 'wav' ? 'wav' : 'mp3' } }
}

/** What stands for a block that cannot be sent, so that the model knows that there was one. */
const unsent = ({ type, mimeType, name, url }: ImageBlock | FileBlock): Json => ({
  type: 'text',
  text: `[${type} not shown: ${[name, mimeType, url].filter((word) => word !== undefined).join(', ')}]`,
})

/** An answer, the results of its calls, and the images among them: tool messages take text alone. */
function answerOf(entry: ReplayAnswer, quirks: ChatQuirks): Json[] {
  const { content, results } = entry
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  if (text === '' && results.length === 0) return []
  const answer: Json = { role: 'assistant', content: text === '' ? null : text, ...thinkingOf(entry, quirks) }
  if (results.length > 0)
    answer.tool_calls = results.map(({ call }) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: argumentsText(call) },
    }))
  const images = results.flatMap((result) => result.content.filter((block) => block.type === 'image'))
  return [answer, ...results.map(resultOf), ...(images.length > 0 ? [imagesOf(images)] : [])]
}

function resultOf({ call, content }: ReplayAnswer['results'][number]): Json {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
  const placeholder = content.some((block) => block.type === 'image') ? '(see attached image)' : '(no output)'
  return { role: 'tool', tool_call_id: call.id, content: text.trim() === '' ? placeholder : text }
}

const imagesOf = (images: readonly ImageBlock[]): Json => ({
  role: 'user',
  content: [
    { type: 'text', text: 'The images of the tool results above:' },
    ...images.map((image) => imagePart(image) ?? unsent(image)),
  ],
})

function thinkingOf({ content, own, results }: ReplayAnswer, quirks: ChatQuirks): Json {
  const { thinking: field, thinkingIn = 'none', noThinking = '' } = quirks
  if (field === undefined) return {}
  if (field === 'reasoning_details') return detailsOf(own ? content : [])
  const text = content.map((block) => (own && block.type === 'thinking' ? block.text : '')).join('')
  const required = thinkingIn === 'all' || (thinkingIn === 'calls' && results.length > 0)
  return text === '' && !required ? {} : { [field]: text === '' ? noThinking : text }
}

/** OpenRouter wants back what it sent: thinking with its proof, and the encrypted pieces as they were. */
function detailsOf(content: ReplayAnswer['content']): Json {
  const details: Json[] = []
  for (const block of content) {
    if (block.type === 'other' && isRecord(block.raw) && /^reasoning\./.test(String(block.raw.type)))
      details.push({ ...block.raw })
    else if (block.type === 'thinking' && block.signature !== undefined)
      details.push({
        type: 'reasoning.text',
        text: block.text,
        signature: block.signature,
        index: details.length,
      })
  }
  return details.length > 0 ? { reasoning_details: details } : {}
}
