import { wellFormed } from '../lib/text.ts'
import type { AssistantBlock, FileBlock, ImageBlock, UserBlock } from '../message/schema.ts'
import { isRecord } from '../protocol/lenient.ts'
import type { CallIdRule } from './call-ids.ts'
import type { CallOptions, Effort, EncodedRequest, ModelContext } from './contract.ts'
import { reduceSchema } from './gemini-schema.ts'
import { joinJson } from './join-json.ts'
import { type JsonRecord, parseJson } from './json.ts'
import { argumentsText, notShown, type ReplayAnswer, replay, textOfBlocks } from './replay.ts'
import { toolsOf } from './tools.ts'

const CALL_ID: CallIdRule = { own: /./, foreign: /^[\w-]{1,64}$/, prefix: 'call_' }

/**
 * What stands in the place of a proof that there never was, for calls that another model made: "Function call is missing a
 * thought_signature".
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
const NO_PROOF = 'skip_thought_signature_validator'

/** Models before the third generation, which know less. */
const isOld = (model: string): boolean => /gemini-[12]\b|gemma|learnlm/.test(model)

/** A field that is undefined is not sent. */
type Json = Record<string, unknown>

interface Content {
  role: 'user' | 'model'
  parts: JsonRecord[]
}

/**
 * A model call as a `generateContent` request. Throws `invalid-request` for a tool choice that names no tool. `extra` is
 * joined with what is said otherwise: its tools come after ours, its `generationConfig` adds to ours.
 */
export function encodeGemini(
  context: ModelContext,
  options: CallOptions & { model: string; stream?: boolean },
  provider: string,
): EncodedRequest {
  const { model, stream = true, toolChoice, output, stop = [], extra = {} } = options
  const tools = toolsOf(context, toolChoice)
  const { system = '' } = context
  const body: Json = {
    contents: contentsOf(context, provider, isOld(model)),
    systemInstruction: system.trim() === '' ? undefined : { parts: [{ text: wellFormed(system) }] },
    ...(tools.length > 0 && {
      tools: [
        {
          functionDeclarations: tools.map(({ name, description, parameters }) => ({
            name,
            description,
            parametersJsonSchema: reduceSchema(parameters),
          })),
        },
      ],
      toolConfig: toolChoice && { functionCallingConfig: choiceOf(toolChoice) },
    }),
    generationConfig: {
      maxOutputTokens: options.maxOutputTokens,
      temperature: options.temperature,
      topP: options.topP,
      stopSequences: stop.length > 0 ? stop : undefined,
      ...(output && {
        responseMimeType: 'application/json',
        responseJsonSchema: reduceSchema(output.schema),
      }),
      thinkingConfig: options.thinking && thinkingOf(model, options.thinking),
    },
  }
  const name = model.split('/').map(encodeURIComponent).join('/')
  return {
    path: `${model.includes('/') ? '/' : '/models/'}${name}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    headers: { 'content-type': 'application/json' },
    body: joinJson(body, extra),
  }
}

const MODES = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const

const choiceOf = (choice: NonNullable<CallOptions['toolChoice']>): Json =>
  typeof choice === 'object'
    ? { mode: MODES.required, allowedFunctionNames: [choice.name] }
    : { mode: MODES[choice] }

/** Tokens of thinking, where a model wants a number. */
const BUDGETS = { none: 0, minimal: 512, low: 2_048, medium: 8_192, high: 16_384, max: 24_576 } as const

/** The second generation thinks by budget, and its Pro cannot help it; the third by level, of which Pro knows fewer. */
function thinkingOf(model: string, effort: Effort): Json | undefined {
  const isPro = /-pro/.test(model)
  if (/gemini-2\.5/.test(model)) {
    const thinkingBudget = isPro ? Math.max(128, BUDGETS[effort]) : BUDGETS[effort]
    return { thinkingBudget, includeThoughts: effort === 'none' ? undefined : true }
  }
  if (isOld(model)) return undefined
  const [least, middle] = isPro ? ['low', 'high'] : ['minimal', 'medium']
  const levels = { none: least, minimal: least, low: 'low', medium: middle, high: 'high', max: 'high' }
  return { thinkingLevel: levels[effort], includeThoughts: effort === 'none' ? undefined : true }
}

/** Roles alternate, but for what a user says after results: these stand alone. The first and the last to speak is a user. */
function contentsOf({ messages }: ModelContext, provider: string, old: boolean): Content[] {
  const contents: Content[] = []
  const asUser = (parts: JsonRecord[]) => {
    const last = contents.at(-1)
    if (last?.role === 'user' && !last.parts[0]?.functionResponse) last.parts.push(...parts)
    else contents.push({ role: 'user', parts })
  }
  for (const entry of replay(messages, provider, CALL_ID)) {
    if (entry.role === 'user') asUser(entry.content.map(partOf))
    // There is one place for instructions, before everything; here it is said to be what it is.
    else if (entry.role === 'system') asUser([{ text: `<system>\n${entry.text}\n</system>` }])
    else {
      const parts = partsOf(entry, old)
      if (parts.length > 0) contents.push({ role: 'model', parts })
      if (entry.results.length > 0) contents.push({ role: 'user', parts: responsesOf(entry, old) })
      const images = old ? imagesIn(entry) : []
      if (images.length > 0) asUser([{ text: 'Images of the tool results:' }, ...images.map(partOf)])
    }
  }
  if (contents[0]?.role !== 'user') contents.unshift({ role: 'user', parts: [{ text: 'Continue.' }] })
  if (contents.at(-1)?.role === 'model') asUser([{ text: 'Continue.' }])
  return contents
}

function partOf(block: UserBlock): JsonRecord {
  if (block.type === 'text') return { text: block.text }
  return mediaOf(block) ?? { text: notShown(block).text }
}

function mediaOf({ mimeType, data, url }: ImageBlock | FileBlock): JsonRecord | undefined {
  if (data !== undefined) return { inlineData: { mimeType, data } }
  return url ? { fileData: { mimeType, fileUri: url } } : undefined
}

/** An answer's blocks, each with the proof that it came with. */
function partsOf({ content, results }: ReplayAnswer, old: boolean): JsonRecord[] {
  const first = old ? undefined : results[0]?.call
  return content.flatMap((block): JsonRecord[] => {
    const part = partOfAnswer(block)
    const known = 'signature' in block ? block.signature : undefined
    const thoughtSignature = known ?? (block === first ? NO_PROOF : undefined)
    return part ? [thoughtSignature === undefined ? part : { ...part, thoughtSignature }] : []
  })
}

function partOfAnswer(block: AssistantBlock): JsonRecord | undefined {
  if (block.type === 'text') return { text: block.text }
  if (block.type === 'thinking')
    return /\S/.test(block.text) || block.signature ? { text: block.text, thought: true } : undefined
  if (block.type === 'image') return mediaOf(block)
  if (block.type === 'other') return isRecord(block.raw) ? block.raw : undefined
  // What Gemini's own server runs is never a call by us.
  if (block.type === 'source' || block.server) return undefined
  const args = parseJson(argumentsText(block))?.value
  return {
    functionCall: { id: block.id, name: block.name, args: isRecord(args) ? args : { arguments: args } },
  }
}

const imagesIn = ({ results }: ReplayAnswer): ImageBlock[] =>
  results.flatMap(({ content }) => content.filter((block) => block.type === 'image'))

/** As many responses as there are calls, in their order. A list or a bare text is refused. */
const responsesOf = ({ results }: ReplayAnswer, old: boolean): JsonRecord[] =>
  results.map(({ call: { id, name }, content, isError }) => {
    const images = old
      ? []
      : content.flatMap((block) => (block.type === 'image' ? (mediaOf(block) ?? []) : []))
    const text = textOfBlocks(content, '\n') || (content.length > 0 ? '(see attached image)' : '(no output)')
    return {
      functionResponse: {
        id,
        name,
        response: isError ? { error: text } : { output: text },
        parts: images.length > 0 ? images : undefined,
      },
    }
  })
