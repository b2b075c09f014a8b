import type { UserBlock } from '../message/schema.ts'
import { isRecord } from '../protocol/lenient.ts'
import type { EncodedCall, ReplayCall, ReplayContext } from './adapter.ts'
import type { CallOptions, Effort, EncodedRequest } from './contract.ts'
import { isOld, NO_PROOF, schemaOf } from './gemini-encode.ts'
import {
  argumentsOf,
  asUserText,
  notShown,
  type ReplayAnswer,
  type ReplayEntry,
  type ReplayResult,
  shownAfter,
} from './replay.ts'

/** A field that is undefined is not sent. */
type Json = Record<string, unknown>

/** A model call as an Interactions request: the whole history, as steps. */
export function encodeInteraction(
  { system, entries, tools }: ReplayContext,
  call: ReplayCall,
  background: boolean,
): EncodedCall {
  const { model, stream, toolChoice: choice, thinking, output, stop } = call
  const body: Json = {
    model,
    input: stepsOf(entries, model),
    system_instruction: system,
    // An empty list is refused.
    tools:
      tools[0] &&
      tools.map(({ name, description, parameters }) => {
        return { type: 'function', name, description, parameters: schemaOf(parameters) }
      }),
    response_format: output && [
      { type: 'text', mime_type: 'application/json', schema: schemaOf(output.schema) },
    ],
    generation_config: {
      max_output_tokens: call.maxOutputTokens,
      temperature: call.temperature,
      top_p: call.topP,
      stop_sequences: stop,
      thinking_level: thinking && levelOf(model, thinking),
      thinking_summaries: thinking && (thinking === 'none' ? 'none' : 'auto'),
      tool_choice: choice && choiceOf(choice),
    },
    // What is written in the background has to be kept; else, everything that we need comes with the answer.
    store: background,
    background: background || undefined,
    stream: stream || undefined,
  }
  return { path: '/interactions', body }
}

/** The request for a stored answer, from its beginning or from what comes after an event. */
export const encodeInteractionResume = (id: string, after = ''): EncodedRequest => ({
  method: 'GET',
  path: `/interactions/${encodeURIComponent(id)}?stream=true${after && `&last_event_id=${encodeURIComponent(after)}`}`,
  headers: {},
  body: {},
})

/** The request to stop writing an answer in the background. */
export const encodeInteractionCancel = (id: string): EncodedRequest => ({
  path: `/interactions/${encodeURIComponent(id)}/cancel`,
  headers: { 'content-type': 'application/json' },
  body: {},
})

const choiceOf = (choice: NonNullable<CallOptions['toolChoice']>): unknown => {
  if (typeof choice === 'object') return { allowed_tools: { mode: 'any', tools: [choice.name] } }
  return choice === 'required' ? 'any' : choice
}

/**
 * Only some models know the lowest level, and the first of the third generation's Pro knows no middle. None can be told not to
 * think.
 * @see https://ai.google.dev/gemini-api/docs/thinking
 */
function levelOf(model: string, effort: Effort): string {
  if (effort === 'none' || effort === 'minimal') return /-pro|gemini-2/.test(model) ? 'low' : 'minimal'
  return effort === 'max' || (effort === 'medium' && /gemini-3-pro/.test(model)) ? 'high' : effort
}

/** The history as steps. What follows each other by one speaker is one step; the first and the last to speak is a user. */
function stepsOf(entries: readonly ReplayEntry[], model: string): Json[] {
  const steps: Json[] = []
  let [speaker, said]: [string, Json[]] = ['', []]
  const say = (type: 'user_input' | 'model_output', ...content: Json[]) => {
    if (content.length > 0 && type !== speaker) {
      said = []
      speaker = type
      steps.push({ type, content: said })
    }
    said.push(...content)
  }
  const add = (step: Json) => {
    speaker = ''
    steps.push(step)
  }
  const old = isOld(model)
  for (const entry of entries) {
    if (entry.role === 'user') say('user_input', ...entry.content.map(contentOf))
    // There is one place for instructions, before everything; here it is said to be what it is.
    else if (entry.role === 'system') say('user_input', textOf(asUserText(entry.text)))
    else {
      addAnswer(entry, add, (content) => say('model_output', content))
      for (const result of entry.results) add(resultOf(result, old))
      for (const { content } of shownAfter(...(old ? entry.results : [])))
        say('user_input', ...content.map(contentOf))
    }
  }
  if (steps[0]?.type !== 'user_input') steps.unshift({ type: 'user_input', content: [textOf('Continue.')] })
  if (!/^(user_input|function_result)$/.test(String(steps.at(-1)?.type)))
    say('user_input', textOf('Continue.'))
  return steps
}

/**
 * The steps of an answer. A thought without its proof is refused, and so is a call that no thought came before.
 * @see https://github.com/googleapis/js-genai/issues/1735
 */
function addAnswer({ content }: ReplayAnswer, add: (step: Json) => void, say: (content: Json) => void): void {
  let proven = false
  const prove = (step: Json) => {
    proven = true
    add(step)
  }
  for (const block of content) {
    if (block.type === 'text' || block.type === 'image') say(contentOf(block))
    else if (block.type === 'thinking') {
      const { text, signature } = block
      if (signature) prove({ type: 'thought', signature, summary: text ? [textOf(text)] : undefined })
    } else if (block.type === 'other') {
      const { raw } = block
      if (isRecord(raw) && raw.type && (raw.type !== 'thought' || raw.signature)) add({ ...raw })
    } else if (block.type === 'toolCall' && !block.server) {
      const { id, name, signature } = block
      if (!proven && !signature) prove({ type: 'thought', signature: NO_PROOF })
      prove({ type: 'function_call', id, name, arguments: argumentsOf(block), signature })
    }
  }
}

const textOf = (text: string): Json => ({ type: 'text', text })

/** What a user, a model or a tool says. What is not there for the server to see is named instead. */
function contentOf(block: UserBlock): Json {
  if (block.type === 'text') return textOf(block.text)
  const { type, mimeType, data, url = '' } = block
  const kind = type === 'image' ? type : (/^(audio|video)(?=\/)/.exec(mimeType)?.[0] ?? 'document')
  const place = data ? { data } : /^(https?|gs):/.test(url) && { uri: url }
  // A type that is only half known is not told.
  const known = mimeType.endsWith('*') ? undefined : mimeType
  return place ? { type: kind, ...place, mime_type: known } : contentOf(notShown(block))
}

/** "Multimodal function responses are not supported for this model": before the third generation, pictures come after. */
function resultOf({ call, content, isError }: ReplayResult, old: boolean): Json {
  const shown = content.filter(({ type }) => !old || type === 'text')
  const nothing = textOf(content.length > 0 ? '(see attached image)' : '(no output)')
  return {
    type: 'function_result',
    call_id: call.id,
    name: call.name,
    result: shown.length > 0 ? shown.map(contentOf) : [nothing],
    is_error: isError || undefined,
  }
}
