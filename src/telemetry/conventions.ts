import type { ModelContext } from '../adapters/contract.ts'
import type { CallRecord } from '../context/call-record.ts'
import type { Block, Message } from '../message/schema.ts'
import { textOf } from '../message/text.ts'
import type { CallStart } from '../turn/watch.ts'

// Names and values: https://github.com/open-telemetry/semantic-conventions/tree/v1.41.0/docs/gen-ai

/** What an attribute may be. */
export type Attributes = Record<string, string | number | boolean | string[]>

/** Providers that the conventions know by another name than we do. */
const PROVIDERS: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  'azure-foundry': 'azure.ai.inference',
  bedrock: 'aws.bedrock',
  google: 'gcp.gemini',
  'google-interactions': 'gcp.gemini',
  mistral: 'mistral_ai',
  xai: 'x_ai',
}

/** Upper borders of the buckets that the conventions ask for: tokens, and seconds. */
export const BUCKETS = {
  tokens: Array.from({ length: 14 }, (_, power) => 4 ** power),
  seconds: Array.from({ length: 14 }, (_, power) => 2 ** power / 100),
}

/** What spans and metrics have in common. */
export const commonOf = ({ provider, model }: Pick<CallStart, 'provider' | 'model'>): Attributes => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': PROVIDERS[provider] ?? provider,
  'gen_ai.request.model': model,
})

/** What is known of a call when it begins. */
export function requestOf(start: CallStart): Attributes {
  const { maxOutputTokens, temperature, topP, stop, output } = start.options ?? {}
  return {
    ...commonOf(start),
    'gen_ai.conversation.id': start.sessionId,
    'gen_ai.request.stream': true,
    ...(maxOutputTokens !== undefined && { 'gen_ai.request.max_tokens': maxOutputTokens }),
    ...(temperature !== undefined && { 'gen_ai.request.temperature': temperature }),
    ...(topP !== undefined && { 'gen_ai.request.top_p': topP }),
    ...(stop && { 'gen_ai.request.stop_sequences': [...stop] }),
    ...(output && { 'gen_ai.output.type': 'json' }),
    // Not of the conventions, and not in their name space.
    'tidemark.run.id': start.runId,
    'tidemark.message.id': start.messageId,
    'tidemark.call.attempt': start.attempt,
    ...(start.sent?.estimated !== undefined && { 'tidemark.request.estimated_tokens': start.sent.estimated }),
  }
}

const FINISH: Readonly<Record<CallRecord['stopReason'], string>> = {
  stop: 'stop',
  length: 'length',
  toolUse: 'tool_call',
  error: 'error',
  aborted: 'error',
}

/** Tokens of the request as the conventions count them: with those that came from a cache, or went there. */
export const inputOf = ({ input, cacheRead, cacheWrite }: NonNullable<CallRecord['usage']>): number =>
  input + cacheRead + cacheWrite

/** What is known of a call when it has ended. */
export function responseOf(record: CallRecord, responseId: string | undefined): Attributes {
  const { usage, answeredBy, stopReason, firstByte } = record
  return {
    'gen_ai.response.finish_reasons': [FINISH[stopReason]],
    ...(responseId && { 'gen_ai.response.id': responseId }),
    ...(answeredBy && { 'gen_ai.response.model': answeredBy }),
    ...(firstByte !== undefined && { 'gen_ai.response.time_to_first_chunk': firstByte / 1_000 }),
    ...(usage && {
      'gen_ai.usage.input_tokens': inputOf(usage),
      'gen_ai.usage.output_tokens': usage.output,
      'gen_ai.usage.cache_read.input_tokens': usage.cacheRead,
      'gen_ai.usage.cache_creation.input_tokens': usage.cacheWrite,
    }),
    ...(usage?.reasoning !== undefined && { 'gen_ai.usage.reasoning.output_tokens': usage.reasoning }),
    ...errorOf(record),
  }
}

/** What spans and metrics of a call have that did not complete: its code. */
export const errorOf = ({ error }: CallRecord): Attributes => (error ? { 'error.type': error.code } : {})

/** A block as a part; of what is not text, that it is there. */
function partOf(block: Block): Record<string, unknown> {
  switch (block.type) {
    case 'text':
      return { type: 'text', content: block.text }
    case 'thinking':
      return { type: 'reasoning', content: block.text }
    case 'toolCall':
      return {
        type: 'tool_call',
        id: block.id,
        name: block.name,
        arguments: block.arguments ?? block.rawArguments ?? null,
      }
    default:
      return { type: block.type }
  }
}

const partsOf = (message: Pick<Message, 'role' | 'content'>): Record<string, unknown>[] =>
  'toolCallId' in message
    ? [{ type: 'tool_call_response', id: message.toolCallId, response: textOf(message) }]
    : message.content.map(partOf)

/** What a model got to see, in words. */
export const contentIn = ({ system, messages }: ModelContext): Attributes => ({
  'gen_ai.input.messages': JSON.stringify(
    messages.map((message) => ({ role: message.role, parts: partsOf(message) })),
  ),
  ...(system !== undefined && {
    'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: system }]),
  }),
})

/** What it said. */
export const contentOut = (
  message: Pick<Message, 'role' | 'content'>,
  { stopReason }: CallRecord,
): Attributes => ({
  'gen_ai.output.messages': JSON.stringify([
    { role: 'assistant', parts: partsOf(message), finish_reason: FINISH[stopReason] },
  ]),
})
