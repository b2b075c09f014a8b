import type { AssistantBlock, UserBlock } from '../message/schema.ts'
import type { EncodedCall, ReplayCall, ReplayContext } from './adapter.ts'
import type { CallIdRule } from './call-ids.ts'
import type { EncodedRequest, OutputFormat } from './contract.ts'
import { type JsonRecord, parseJson, record, string } from './json.ts'
import { retention } from './openai-chat-quirks.ts'
import type { ResponsesQuirks } from './openai-responses-quirks.ts'
import {
  argumentsText,
  isCommonImage,
  nameOf,
  notShown,
  type ReplayAnswer,
  type ReplayQuestion,
  type ReplayResult,
  shownAfter,
  textOfBlocks,
} from './replay.ts'

/** Who is asked, and how it wants to be spoken to. */
export interface ResponsesTarget {
  quirks: ResponsesQuirks
  summary?: 'auto' | 'concise' | 'detailed' | undefined
  background?: boolean | undefined
}

/** A field that is undefined is not sent. */
type Json = Record<string, unknown>

/** At most 64 characters; an underscore at the end is refused. */
export const CALL_ID: CallIdRule = { own: /^.{0,63}[^_]$/s, foreign: /^[\w-]{0,63}[^\W_]$/, prefix: 'call_' }

/** "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16" */
const FEWEST_TOKENS = 16

/** A model call as a Responses request. What should stop the model cannot be said here. */
export function encodeResponses(
  { system, entries, tools }: ReplayContext,
  call: ReplayCall,
  { quirks, background, summary }: ResponsesTarget,
): EncodedCall {
  const { model, stream, toolChoice: choice, maxOutputTokens: most, thinking, output } = call
  const { proof = true, sampling = true, strict = true, thinking: thinks = true } = quirks
  const effort = thinking === 'max' ? 'xhigh' : thinking
  const body: Json = {
    model,
    instructions: system,
    input: entries.flatMap((entry): Json[] => {
      if (entry.role === 'assistant') return answerOf(entry, quirks)
      return [entry.role === 'user' ? userOf(entry) : { role: 'system', content: entry.text }]
    }),
    stream: stream || undefined,
    // What is written in the background has to be kept; else, everything that we need comes with the answer.
    store: background === true,
    background,
    ...retention(call.cache, model),
    include: proof ? ['reasoning.encrypted_content'] : undefined,
    // An empty list is refused.
    tools:
      tools[0] &&
      tools.map(({ name, description, parameters, strict: isStrict = false }) => {
        return { type: 'function', name, description, parameters, strict: strict ? isStrict : undefined }
      }),
    tool_choice: typeof choice === 'object' ? { type: 'function', ...choice } : choice,
    max_output_tokens: most === undefined ? undefined : Math.max(most, FEWEST_TOKENS),
    ...(sampling && { temperature: call.temperature, top_p: call.topP }),
    reasoning: thinks && (effort || summary) ? { effort, summary } : undefined,
    text: output && { format: formatOf(output) },
  }
  return { path: '/responses', body }
}

const formatOf = ({ name = 'output', schema, strict = false }: OutputFormat): Json => {
  return { type: 'json_schema', name, schema, strict }
}

/** The request for a stored answer, from its beginning or from what comes after an event. */
export const encodeResume = (id: string, after?: number): EncodedRequest => ({
  method: 'GET',
  path: `/responses/${encodeURIComponent(id)}?stream=true${after === undefined ? '' : `&starting_after=${after}`}`,
  headers: {},
  body: {},
})

/** The request to stop writing an answer in the background. */
export const encodeCancel = (id: string): EncodedRequest => ({
  path: `/responses/${encodeURIComponent(id)}/cancel`,
  headers: { 'content-type': 'application/json' },
  body: {},
})

const userOf = ({ role, content }: ReplayQuestion): Json => ({
  role,
  content: content.every(({ type }) => type === 'text') ? textOfBlocks(content, '\n\n') : content.map(partOf),
})

function partOf(block: UserBlock): Json {
  if (block.type === 'text') return { type: 'input_text', text: block.text }
  const { type, mimeType, data, name = 'file' } = block
  const url = data === undefined ? string(block.url) : `data:${mimeType};base64,${data}`
  const isKnown = type === 'image' ? !data || isCommonImage(mimeType) : !/^(audio|video)/.test(mimeType)
  const isTaken = isKnown && /^(https?|data):/.test(url)
  if (!isTaken) return partOf(notShown(block))
  if (type === 'image') return { type: 'input_image', image_url: url }
  const file = data === undefined ? { file_url: url } : { filename: name, file_data: url }
  return { type: 'input_file', ...file }
}

/** An answer, the results of its calls, and the pictures that have no place in either. */
function answerOf(answer: ReplayAnswer, quirks: ResponsesQuirks): Json[] {
  const { content, results } = answer
  const { resultImages = true, plainThinking = false } = quirks
  const exact = plainThinking ? undefined : exactItems(content)
  const said = exact ?? plainItems(content, plainThinking)
  const outputs = results.map((result) => outputOf(result, resultImages))
  const unshown = shownAfter(...(exact ? [] : [answer]), ...(resultImages ? [] : results))
  return [...said, ...outputs, ...unshown.map(userOf)]
}

/** What an item said of itself when it came. */
const proofOf = (block: AssistantBlock): JsonRecord =>
  record('signature' in block ? parseJson(block.signature ?? '')?.value : undefined)

/**
 * The items of an answer as they came, with the ids that tie them together. Undefined where one is missing, since
 * reasoning is refused without the item that followed it, and an item without the reasoning before it: "Item 'msg_…' of
 * type 'message' was provided without its required 'reasoning' item: 'rs_…'."
 */
function exactItems(content: readonly AssistantBlock[]): Json[] | undefined {
  const items: Json[] = []
  for (const block of content) {
    const { type, ...proof } = proofOf(block)
    const item = exactItem(block, proof) ?? rawItem(block, content)
    if (!item || (block.type !== 'other' && item.type !== type)) return undefined
    const last = items.at(-1)
    // A message has its parts in blocks of their own.
    if (block.type === 'text' && last?.type === 'message' && last.id === item.id)
      last.content = [last.content, item.content].flat()
    else items.push(item)
  }
  const named = items.filter(({ id }) => id !== undefined).length
  const isWhole = items.at(-1)?.type !== 'reasoning' && (named === 0 || named === items.length)
  return isWhole && content.some(isThinking) ? items : undefined
}

const isThinking = ({ type }: AssistantBlock): boolean => type === 'thinking'

function exactItem(block: AssistantBlock, proof: JsonRecord): Json | undefined {
  if (block.type === 'toolCall') return callItem(block, proof)
  if (block.type === 'text') {
    const part = block.refusal
      ? { type: 'refusal', refusal: block.text }
      : { type: 'output_text', text: block.text, annotations: [] }
    return { ...proof, type: 'message', role: 'assistant', status: 'completed', content: [part] }
  }
  if (block.type === 'image' && block.data)
    return { ...proof, type: 'image_generation_call', status: 'completed', result: block.data }
  if (block.type !== 'thinking' || !proof.encrypted_content) return undefined
  const summary = block.text === '' ? [] : [{ type: 'summary_text', text: block.text }]
  return { ...proof, type: 'reasoning', summary }
}

/** The same without anything that ties them: what was said, then the calls, since some refuse a word between calls. */
function plainItems(content: readonly AssistantBlock[], plainThinking: boolean): Json[] {
  const said: Json[] = []
  const called: Json[] = []
  const isTied = content.some(isThinking)
  for (const block of content) {
    const { id, phase, namespace } = proofOf(block)
    const last = said.at(-1)
    const call = callItem(block, { namespace })
    const raw = isTied ? undefined : rawItem(block, content)
    if (call) called.push(call)
    else if (raw) said.push(raw)
    else if (block.type === 'text' && typeof last?.content === 'string' && last.phase === phase)
      last.content += block.text
    else if (block.type === 'text') said.push({ role: 'assistant', phase, content: block.text })
    else if (block.type === 'thinking' && plainThinking && block.text !== '') {
      const thought = { type: 'reasoning_text', text: block.text }
      said.push({ type: 'reasoning', id, summary: [], content: [thought] })
    }
  }
  return [...said, ...called]
}

/** A call that is ours to make. A custom tool takes a text, and no JSON. */
function callItem(block: AssistantBlock, proof: JsonRecord): Json | undefined {
  if (block.type !== 'toolCall' || block.server) return undefined
  const { id: call_id } = block
  const name = nameOf(block)
  if (proofOf(block).type === CUSTOM)
    return { ...proof, type: CUSTOM, call_id, name, input: string(block.arguments) }
  return { ...proof, type: 'function_call', call_id, name, arguments: argumentsText(block) }
}

/** A call whose input is a text: as arguments, that is a JSON string. */
export const CUSTOM = 'custom_tool_call'

/** An item as it came. Refused are open calls ("No tool output found for …") and kinds of another API (`reasoning.text`). */
function rawItem(block: AssistantBlock, content: readonly AssistantBlock[]): Json | undefined {
  if (block.type !== 'other') return undefined
  const raw = record(block.raw)
  const kind = string(raw.type)
  const isAnswer = (other: AssistantBlock): boolean => {
    const { type, call_id: id } = record(other.type === 'other' ? other.raw : undefined)
    return id === raw.call_id && /_output$/.test(string(type))
  }
  const isOpen = /_call$/.test(kind) && raw.call_id && !content.some(isAnswer)
  return isOpen || /\W|^$/.test(kind) ? undefined : { ...raw }
}

function outputOf({ call, content }: ReplayResult, withImages: boolean): Json {
  const hasImages = content.some(({ type }) => type === 'image')
  const text = textOfBlocks(content, '\n') || (hasImages ? '(see attached image)' : '(no output)')
  return {
    type: `${proofOf(call).type === CUSTOM ? CUSTOM : 'function_call'}_output`,
    call_id: call.id,
    output: hasImages && withImages ? content.map(partOf) : text,
  }
}
