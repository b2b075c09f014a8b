import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { SERVER_QUIRKS } from '../../src/adapters/compatible.ts'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import type { ChatQuirks } from '../../src/adapters/openai-chat-quirks.ts'
import { say } from '../../src/adapters/say.ts'
import type { AssistantBlock, FileBlock, Message, UserBlock } from '../../src/message/schema.ts'
import { assistantMessage, systemMessage, toolMessage, userMessage } from '../support/messages.ts'
import {
  ChatBody,
  type ChatMessage,
  callsOf,
  chatDefects,
  sentBody,
  textOfContent,
} from './checkers/openai-chat.ts'
import { readFixture } from './fixtures.ts'

const Entry = z.object({ file: z.string(), api: z.string(), provider: z.string(), status: z.number() })
const recorded = z
  .array(Entry)
  .parse(JSON.parse(readFixture('requests/index.json')))
  .filter(({ api }) => api === 'openai-chat')
  .map((entry) => ({ ...entry, body: ChatBody.parse(JSON.parse(readFixture(`requests/${entry.file}`))) }))
const accepted = recorded.filter(({ status }) => status === 200)
const rejected = recorded.filter(({ status }) => status !== 200)

const quirksOf = (provider: string): { quirks?: ChatQuirks } =>
  provider in SERVER_QUIRKS
    ? { quirks: new Map<string, ChatQuirks>(Object.entries(SERVER_QUIRKS)).get(provider) ?? {} }
    : {}

/** A part of a user's message in our words. Addresses of files stand for those that we cannot send. */
function blocksOf(message: ChatMessage): UserBlock[] {
  const { content } = message
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return (content ?? []).map((part): UserBlock => {
    if (part.type === 'text') return { type: 'text', text: z.string().parse(part.text) }
    if (part.type !== 'image_url') return fileOf(part)
    const { url } = z.looseObject({ url: z.string() }).parse(part.image_url)
    const [, mimeType = 'image/*', data] = /^data:([^;]+);base64,(.*)$/s.exec(url) ?? []
    return data === undefined ? { type: 'image', mimeType, url } : { type: 'image', mimeType, data }
  })
}

function fileOf(part: object): FileBlock {
  const found = z
    .looseObject({ file: z.looseObject({ file_data: z.string(), filename: z.string() }) })
    .safeParse(part)
  if (!found.success) return { type: 'file', mimeType: 'application/octet-stream', attachmentId: 'elsewhere' }
  const [, mimeType = '', data = ''] = /^data:([^;]+);base64,(.*)$/s.exec(found.data.file.file_data) ?? []
  return { type: 'file', mimeType, data, name: found.data.file.filename }
}

function canonical(message: ChatMessage, at: number, provider: string): Message {
  const id = `m${at}`
  const text = textOfContent(message)
  if (message.role === 'assistant')
    return assistantMessage(id, '', { content: answerOf(message, provider), provider })
  if (message.role === 'user') return userMessage(id, '', { content: blocksOf(message) })
  if (message.role === 'tool')
    return toolMessage(id, message.tool_call_id, { content: [{ type: 'text', text }] })
  return systemMessage(id, text)
}

function answerOf(message: Extract<ChatMessage, { role: 'assistant' }>, provider: string): AssistantBlock[] {
  const thoughts = (message.reasoning_details ?? []).map((raw): AssistantBlock => {
    if (raw.type !== 'reasoning.text') return { type: 'other', provider, raw }
    return { type: 'thinking', text: z.string().parse(raw.text) }
  })
  const thought = message.reasoning_content ?? ''
  if (thoughts.length === 0 && thought !== '') thoughts.push({ type: 'thinking', text: thought })
  const calls = callsOf(message).map(({ id, function: { name, arguments: args } }): AssistantBlock => {
    return { type: 'toolCall', id, name, arguments: JSON.parse(args) }
  })
  return [...thoughts, { type: 'text', text: textOfContent(message) }, ...calls]
}

/** Images, and files that are in the request. */
const isSent = (part: { type: string; file?: unknown }): boolean =>
  part.type === 'image_url' || (part.type === 'file' && JSON.stringify(part.file).includes('file_data'))

/** What a request means, whatever its spelling: empty messages, roles of one meaning, the order of results aside. */
function meaning(messages: readonly ChatMessage[], hasReasoning: boolean): unknown[] {
  return messages
    .map((message) => ({
      role: message.role === 'developer' ? 'system' : message.role,
      // A file that lives at the provider, or at an address, is said to be missing.
      text: textOfContent(message)
        .replace(/\[file [^\]]* not shown\]/g, '')
        .trim(),
      calls: callsOf(message).map((call) => [
        call.id,
        call.function.name,
        JSON.parse(call.function.arguments),
      ]),
      result: message.role === 'tool' ? message.tool_call_id : '',
      media: Array.isArray(message.content) ? message.content.filter(isSent) : [],
      thinking: hasReasoning && message.role === 'assistant' ? (message.reasoning_content ?? '') : '',
      proof:
        message.role === 'assistant'
          ? (message.reasoning_details ?? []).map(({ text, data, signature }) => ({ text, data, signature }))
          : [],
    }))
    .filter(
      ({ text, calls, media, role }) =>
        text !== '' || calls.length > 0 || media.length > 0 || role === 'tool',
    )
    .sort((a, b) => (a.role === 'tool' && b.role === 'tool' ? a.result.localeCompare(b.result) : 0))
}

describe('a request that a provider accepted', () => {
  test.each(accepted.map((entry) => [entry.file, entry] as const))(
    'comes out meaning the same: %s',
    (_file, entry) => {
      const { provider, body } = entry
      const messages = body.messages.map((message, at) => canonical(message, at, provider))
      const adapter = chatAdapter({ provider, ...quirksOf(provider) })
      const encoded = sentBody(say(adapter, { messages }, { model: body.model }).body)
      const reasons = ['deepseek', 'zai', 'moonshot'].includes(provider)
      expect(meaning(encoded.messages, reasons)).toEqual(meaning(body.messages, reasons))
      expect(chatDefects(encoded)).toEqual([])
    },
  )

  test('is accepted by our checker', () => {
    const refused = accepted.filter(({ body }) => chatDefects(body).length > 0)
    expect(refused.map(({ file, body }) => [file, chatDefects(body)])).toEqual([])
  })
})

/** Why a request was refused: by its shape, which a checker can see, or for a reason that is not in it. */
const REASONS: readonly (readonly [RegExp, 'shape' | string])[] = [
  [/reqllm-gpt_5_chat_latest/, 'shape'],
  [/test_multimodal_tool_returns/, 'shape'],
  [
    /reqllm-x_ai_grok_4-object/,
    'the tool chosen by name is there; the router changed the request on its way',
  ],
  [/tool_use_failed/, 'the model did not do what it was told'],
  [/o1_mini_system_role/, 'the model knows no instructions'],
  [/web_search_tool_model/, 'the model cannot search'],
  [/test_vision/, 'the image could not be fetched'],
  [/handles_contex/, 'too long for the window'],
  [/llama3_70b|mistral_saba/, 'the model is gone'],
  [/openai_gpt_4_1-usage/, 'the output limit is below what the upstream allows'],
  [/grok_code_fast/, 'the model takes no such option'],
]

describe('a request that a provider rejected', () => {
  test.each(rejected.map((entry) => [entry.file, entry] as const))('%s', (file, { body, provider }) => {
    const [, reason] = REASONS.find(([pattern]) => pattern.test(file)) ?? []
    expect(reason).toBeDefined()
    const defects = chatDefects(body)
    expect(defects.length > 0).toBe(reason === 'shape')
    const messages = body.messages.map((message, at) => canonical(message, at, provider))
    const encoded = say(chatAdapter({ provider }), { messages }, { model: body.model, maxOutputTokens: 100 })
    expect(chatDefects(sentBody(encoded.body))).toEqual([])
  })
})
