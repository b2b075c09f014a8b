import * as z from 'zod/mini'
import { familyOf } from '../../src/context/families.ts'
import type { Message } from '../../src/message/schema.ts'
import { readFixture } from '../adapters/fixtures.ts'
import { assistantMessage, systemMessage, userMessage } from '../support/messages.ts'

/** A request that was sent, as far as it costs tokens, and what the provider counted. */
export interface RecordedRequest {
  file: string
  provider: string
  api: string
  model: string
  messages: Message[]
  system?: string
  tools: unknown[]
  /** Whether the model was told to. */
  thinks: boolean
  actual: number
}

const Expected = z.record(
  z.string(),
  z.looseObject({
    provider: z.string(),
    api: z.string(),
    model: z.nullable(z.string()),
    request: z.nullish(z.string()),
    usageAmbiguous: z.optional(z.boolean()),
    usage: z.nullish(z.looseObject({ input: z.number(), cacheRead: z.number(), cacheWrite: z.number() })),
  }),
)
type Json = { [name: string]: unknown }
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const listOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]

/** Kinds of parts that cost something else than text, or that say what only the provider knows. */
const OPAQUE =
  /image|audio|video|file|document|inline_?data|input_file|web_search|code_execution|server_tool|mcp|computer|reasoning|redacted/i

/** All text in a piece of a request, in every dialect. Undefined where there is more than text in it. */
function textIn(piece: unknown): string | undefined {
  if (typeof piece === 'string') return piece
  if (Array.isArray(piece)) {
    const texts = piece.map(textIn)
    return texts.includes(undefined) ? undefined : texts.join('\n')
  }
  if (!isObject(piece)) return ''
  if (OPAQUE.test(String(piece.type ?? '')) || Object.keys(piece).some((key) => OPAQUE.test(key)))
    return undefined
  if (typeof piece.text === 'string') return piece.text
  if (piece.type === 'thinking') return textIn(piece.thinking)
  if (isObject(piece.functionCall))
    return `${piece.functionCall.name}${JSON.stringify(piece.functionCall.args)}`
  if (isObject(piece.functionResponse)) return JSON.stringify(piece.functionResponse.response)
  if (piece.type === 'tool_use') return `${piece.name}${JSON.stringify(piece.input)}`
  if (piece.type === 'function_call') return `${piece.name}${piece.arguments}`
  if (piece.type === 'function_call_output') return textIn(piece.output)
  if (isObject(piece.function)) return `${piece.function.name}${textOrJson(piece.function.arguments)}`
  const own = [textIn(piece.content ?? piece.parts ?? ''), textIn(piece.tool_calls ?? '')]
  return own.includes(undefined) ? undefined : own.join('')
}

/** Fields that put something before the model that is not in the request, or not as it stands there. */
const HIDDEN = [
  'previous_response_id',
  'plugins',
  'response_format',
  'output_config',
  'output_format',
  'mcp_servers',
  'container',
  'context_management',
  'web_search_options',
  'cachedContent',
  'format',
]

const textOrJson = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function messagesIn(body: Json): Message[] | undefined {
  const pieces = listOf(body.messages ?? body.contents ?? body.input)
  const messages: Message[] = []
  for (const [at, piece] of pieces.entries()) {
    const text = textIn(piece)
    if (text === undefined) return undefined
    const role = isObject(piece) ? piece.role : 'user'
    const create =
      role === 'system' || role === 'developer'
        ? systemMessage
        : role === 'assistant' || role === 'model'
          ? assistantMessage
          : userMessage
    messages.push(create(`m${at}`, text))
  }
  return messages.length ? messages : undefined
}

/** What a model is told of a tool: all else is for its provider. */
const shownOf = (tool: unknown): unknown =>
  isObject(tool)
    ? Object.fromEntries(Object.entries(tool).filter(([name]) => /name|description|param|schema/i.test(name)))
    : tool

/** Tools of ours, in whatever dialect; undefined where the provider has some of its own. */
function toolsIn(body: Json): unknown[] | undefined {
  const tools = listOf(body.tools ?? body.functions).flatMap((tool) =>
    isObject(tool) && Array.isArray(tool.functionDeclarations) ? tool.functionDeclarations : [tool],
  )
  const own = tools.every(
    (tool) =>
      isObject(tool) &&
      (tool.type === undefined || tool.type === 'function' || tool.type === 'custom') &&
      ('name' in tool || 'function' in tool),
  )
  return own
    ? tools
        .map((tool) => (isObject(tool) && isObject(tool.function) && !tool.name ? tool.function : tool))
        .map(shownOf)
    : undefined
}

const Asked = z.looseObject({
  thinking: z.optional(z.looseObject({ type: z.optional(z.string()) })),
  reasoning: z.optional(z.nullable(z.looseObject({ effort: z.optional(z.nullable(z.string())) }))),
  reasoning_effort: z.optional(z.nullable(z.string())),
})

/** Told by any of the names that providers have for it. */
function isToThink(body: Json): boolean {
  const { thinking, reasoning, reasoning_effort: effort } = Asked.safeParse(body).data ?? {}
  return (
    (thinking !== undefined && thinking.type !== 'disabled') ||
    Object.values(reasoning ?? {}).some((value) => value && value !== 'none') ||
    (typeof effort === 'string' && effort !== 'none')
  )
}

/** Every recorded request of text alone that was counted without contradiction. */
export function* recordedRequests(): Generator<RecordedRequest> {
  for (const [file, { provider, api, model, request, usage, usageAmbiguous }] of Object.entries(
    Expected.parse(JSON.parse(readFixture('expected.json'))),
  )) {
    if (!request || !usage || usageAmbiguous) continue
    const body: unknown = JSON.parse(readFixture(`streams/${file.split('/')[0]}/${request}`))
    if (!isObject(body) || HIDDEN.some((field) => body[field])) continue
    // Another model answered than was asked: whose tokens they are, nobody can tell.
    if (model && typeof body.model === 'string' && familyOf(model) !== familyOf(body.model)) continue
    if (isObject(body.text) && isObject(body.text.format) && body.text.format.type !== 'text') continue
    const messages = messagesIn(body)
    const tools = toolsIn(body)
    const system = textIn(
      body.system ?? body.instructions ?? body.systemInstruction ?? body.system_instruction ?? '',
    )
    const actual = usage.input + usage.cacheRead + usage.cacheWrite
    if (!messages || !tools || system === undefined || actual === 0) continue
    yield {
      file,
      provider,
      api,
      model: model ?? String(body.model),
      messages,
      ...(system && { system }),
      tools,
      thinks: isToThink(body),
      actual,
    }
  }
}
