import type { AssistantBlock, FileBlock, ImageBlock, UserBlock } from '../message/schema.ts'
import { isRecord } from '../protocol/lenient.ts'
import type { EncodedCall, ReplayCall, ReplayContext } from './adapter.ts'
import type { CallIdRule } from './call-ids.ts'
import type { CallOptions, Effort } from './contract.ts'
import type { JsonRecord } from './json.ts'
import { argumentsOf, asUserText, notShown, type ReplayEntry, type ReplayResult } from './replay.ts'

export const CALL_ID: CallIdRule = { own: /./, foreign: /^[\w-]{1,64}$/, prefix: 'call_' }

/**
 * What stands in the place of a proof that there never was, for calls that another model made: "Function call is missing a
 * thought_signature".
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export const NO_PROOF = 'skip_thought_signature_validator'

/** Models before the third generation, which know less. */
export const isOld = (model: string): boolean => /gemini-[12]\b|gemma|learnlm/.test(model)

/** A field that is undefined is not sent. */
type Json = Record<string, unknown>

interface Content {
  role: 'user' | 'model'
  parts: Json[]
}

/** A model call as a `generateContent` request. */
export function encodeGemini({ system, entries, tools }: ReplayContext, call: ReplayCall): EncodedCall {
  const { model, stream, toolChoice: choice, thinking, output, stop } = call
  const body: Json = {
    contents: contentsOf(entries, isOld(model)),
    systemInstruction: system && { parts: [{ text: system }] },
    ...(tools.length > 0 && {
      tools: [
        {
          functionDeclarations: tools.map(({ name, description, parameters }) => ({
            name,
            description,
            parametersJsonSchema: schemaOf(parameters),
          })),
        },
      ],
      toolConfig: choice && { functionCallingConfig: choiceOf(choice) },
    }),
    generationConfig: {
      maxOutputTokens: call.maxOutputTokens,
      temperature: call.temperature,
      topP: call.topP,
      stopSequences: stop,
      ...(output && { responseMimeType: 'application/json', responseJsonSchema: schemaOf(output.schema) }),
      thinkingConfig: thinking && thinkingOf(model, thinking),
    },
  }
  const name = model.split('/').map(encodeURIComponent).join('/')
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return {
    path: `${model.includes('/') ? '/' : '/models/'}${name}:${method}`,
    body,
  }
}

/** These fields take any JSON Schema, and pass over what Gemini does not know. It knows no `const`, but a choice of one. */
export const schemaOf = (schema: JsonRecord): unknown =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => {
      if (!isRecord(value) || !('const' in value) || /^(properties|\$defs)$/.test(key)) return value
      const { const: only, ...rest } = value
      return { ...rest, enum: [only] }
    }),
  )

const choiceOf = (choice: NonNullable<CallOptions['toolChoice']>): Json =>
  typeof choice === 'object'
    ? { mode: 'ANY', allowedFunctionNames: [choice.name] }
    : { mode: choice === 'required' ? 'ANY' : choice.toUpperCase() }

/** Tokens of thinking for the second generation; levels for the third, and for its Pro, which knows fewer. */
const EFFORTS = {
  none: [0, 'minimal', 'low'],
  minimal: [512, 'minimal', 'low'],
  low: [2_048, 'low', 'low'],
  medium: [8_192, 'medium', 'high'],
  high: [16_384, 'high', 'high'],
  max: [24_576, 'high', 'high'],
} as const

function thinkingOf(model: string, effort: Effort): Json | undefined {
  const [budget, level, ofPro] = EFFORTS[effort]
  const isPro = /-pro/.test(model)
  const includeThoughts = effort === 'none' ? undefined : true
  // Pro cannot help it.
  if (/gemini-2\.5/.test(model)) return { thinkingBudget: Math.max(budget, isPro ? 128 : 0), includeThoughts }
  return isOld(model) ? undefined : { thinkingLevel: isPro ? ofPro : level, includeThoughts }
}

/** Roles alternate, but for what a user says after results: these stand alone. The first and the last to speak is a user. */
function contentsOf(entries: readonly ReplayEntry[], old: boolean): Content[] {
  const contents: Content[] = []
  const asUser = (parts: Json[]) => {
    const last = contents.at(-1)
    if (last?.role === 'user' && !last.parts[0]?.functionResponse) last.parts.push(...parts)
    else contents.push({ role: 'user', parts })
  }
  for (const entry of entries) {
    if (entry.role === 'user') asUser(entry.content.map(partOf))
    // There is one place for instructions, before everything; here it is said to be what it is.
    else if (entry.role === 'system') asUser([{ text: asUserText(entry.text) }])
    else {
      const { content, results } = entry
      const first = old ? undefined : results[0]?.call
      const parts = content.flatMap((block) => partsOf(block, block === first ? NO_PROOF : undefined))
      if (parts.length > 0) contents.push({ role: 'model', parts })
      if (results.length > 0) contents.push({ role: 'user', parts: results.map((it) => responseOf(it, old)) })
      const media = old ? results.flatMap(mediaIn) : []
      if (media.length > 0) asUser([{ text: 'Images from above:' }, ...media])
    }
  }
  if (contents[0]?.role !== 'user') contents.unshift({ role: 'user', parts: [{ text: 'Continue.' }] })
  if (contents.at(-1)?.role === 'model') asUser([{ text: 'Continue.' }])
  return contents
}

const partOf = (block: UserBlock): Json =>
  block.type === 'text' ? { text: block.text } : (mediaOf(block)[0] ?? { text: notShown(block).text })

function mediaOf({ mimeType, data, url }: ImageBlock | FileBlock): Json[] {
  if (data !== undefined) return [{ inlineData: { mimeType, data } }]
  return url ? [{ fileData: { mimeType, fileUri: url } }] : []
}

/** A block of an answer as it goes back, with the proof that it came with. */
function partsOf(block: AssistantBlock, noProof: string | undefined): Json[] {
  if (block.type === 'other') return isRecord(block.raw) ? [block.raw] : []
  if (block.type === 'source') return []
  const { signature: thoughtSignature = noProof } = block
  if (block.type === 'image') return [{ ...partOf(block), thoughtSignature }]
  if (block.type === 'text') return [{ text: block.text, thoughtSignature }]
  if (block.type === 'thinking')
    return /\S/.test(block.text) || thoughtSignature
      ? [{ text: block.text, thought: true, thoughtSignature }]
      : []
  // What Gemini's own server runs is never a call by us.
  if (block.server) return []
  const { id, name } = block
  return [{ functionCall: { id, name, args: argumentsOf(block) }, thoughtSignature }]
}

const mediaIn = ({ content }: ReplayResult): Json[] =>
  content.map(partOf).filter(({ text }) => text === undefined)

/** A list or a bare text is refused. Since the third generation, pictures are a part of the result. */
function responseOf(result: ReplayResult, old: boolean): Json {
  const { call, content, isError } = result
  const { id, name } = call
  const said = content.flatMap((block) => partOf(block).text ?? []).join('\n')
  const text = said || (content.length > 0 ? '(see attached image)' : '(no output)')
  const parts = old ? [] : mediaIn(result)
  const response = isError ? { error: text } : { output: text }
  return { functionResponse: { id, name, response, parts: parts.length > 0 ? parts : undefined } }
}
