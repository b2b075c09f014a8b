import { describe, expect } from 'vitest'
import * as z from 'zod/mini'
import { messagesAdapter } from '../../src/adapters/anthropic.ts'
import { say } from '../../src/adapters/say.ts'
import { anthropic } from '../../src/anthropic.ts'
import { AssistantBlock, type Message, UserBlock } from '../../src/message/schema.ts'
import { assistantMessage, systemMessage, toolMessage, userMessage } from '../support/messages.ts'
import { messagesDefects } from './checkers/anthropic.ts'
import { type MessagesBody, type Part, sentMessages, turnsIn } from './checkers/anthropic-body.ts'
import type { Fault } from './fixtures.ts'
import { serialiseFaults, testFaults } from './serialise-faults.ts'

/** Which model a target of `faults.json` is. */
const TARGETS: Readonly<Record<string, string>> = {
  anthropic: 'claude-sonnet-4-5',
  'anthropic:claude-sonnet-4-6': 'claude-sonnet-4-6',
  'anthropic, google': 'claude-sonnet-4-6',
  any: 'claude-sonnet-4-5',
}
/** Every kind of model there is. */
const MODELS = [
  'claude-3-haiku-20240307',
  'claude-3-7-sonnet-latest',
  'claude-sonnet-4-20250514',
  'claude-haiku-4-5',
  'claude-opus-4-6',
  'claude-opus-4-7',
  'claude-opus-4-8',
  'claude-sonnet-5',
  'claude-fable-5-1',
]

const Block = z.looseObject({ type: z.string() })
const Input = z.looseObject({
  reasoning: z.optional(z.enum(['low', 'medium', 'high'])),
  temperature: z.optional(z.number()),
  maxTokens: z.optional(z.number()),
  messages: z._default(
    z.array(
      z.looseObject({
        role: z.string(),
        content: z.array(Block),
        stopReason: z.optional(z.enum(['stop', 'length', 'toolUse', 'error', 'aborted'])),
        toolCallId: z.optional(z.string()),
        isError: z.optional(z.boolean()),
      }),
    ),
    [],
  ),
})
type InputMessage = z.infer<typeof Input>['messages'][number]

/** A fault's block in our words: citations are a part of the proof of a text. */
function blockOf({ citations, ...block }: z.infer<typeof Block>): unknown {
  if (block.type === 'opaque') return { type: 'other', provider: 'anthropic', raw: block.raw }
  return {
    text: block.thinking,
    ...block,
    ...(citations !== undefined && { signature: JSON.stringify({ citations }) }),
  }
}

function canonical(
  { role, content, stopReason, toolCallId = '', isError = false }: InputMessage,
  at: number,
): Message {
  const id = `m${at}`
  const user = z.array(UserBlock).safeParse(content).data ?? []
  if (role === 'user') return userMessage(id, '', { content: user })
  if (role === 'system')
    return systemMessage(id, '', { content: user.filter((block) => block.type === 'text') })
  const results = user.filter((block) => block.type !== 'file')
  if (role === 'toolResult') return toolMessage(id, toolCallId, { content: results, isError })
  const blocks = z.array(AssistantBlock).parse(content.map(blockOf))
  return assistantMessage(id, '', {
    content: blocks,
    provider: 'anthropic',
    ...(stopReason && { stopReason }),
  })
}

function encodeFault({ input }: Fault, model = TARGETS[input.target ?? ''] ?? ''): MessagesBody {
  const { messages, reasoning, temperature, maxTokens } = Input.parse(input)
  const call = {
    ...(reasoning && { thinking: reasoning }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
  }
  return sentMessages(say(messagesAdapter(), { messages: messages.map(canonical) }, { model, ...call }).body)
}

/** Roles with what their blocks are: text, call, result, thinking, other. */
const shape = (body: MessagesBody): string =>
  turnsIn(body)
    .map(({ role, parts }) => `${role[0]}:${parts.map(({ type }) => letterOf(String(type))).join('')}`)
    .join(' ')
const letterOf = (type: string): string =>
  type === 'tool_use' ? 'c' : type === 'tool_result' ? 'r' : (type[0] ?? '')
const partsIn = (body: MessagesBody, type: string): Part[] =>
  turnsIn(body).flatMap(({ parts }) => parts.filter((part) => part.type === type))

/** The rule of each fault (its `right`), on the request that we make of its input. */
const RIGHT: Readonly<Record<string, (body: MessagesBody, fault: Fault) => void | Promise<void>>> = {
  S01: (body) => {
    expect(shape(body)).toBe('u:t a:c u:rt')
    expect(partsIn(body, 'tool_result')[0]).not.toHaveProperty('content')
  },
  S04: (body) => expect(shape(body)).toBe('u:t a:t u:t'),
  S10: (body) => {
    expect(shape(body)).toBe('u:t a:cc u:rrt')
    expect(partsIn(body, 'tool_result')).toMatchObject([
      { tool_use_id: 't1', content: [{ text: '1' }] },
      { tool_use_id: 't2', is_error: true, content: [{ text: 'Not executed: there is no result.' }] },
    ])
  },
  S11: (body) => expect(shape(body)).toBe('u:t a:tc u:r'),
  S12: (body) => {
    expect(shape(body)).toBe('u:t a:cc u:rrt')
    expect(partsIn(body, 'tool_result').map((part) => part.tool_use_id)).toEqual(['t1', 't2'])
  },
  S44: async () => {
    const headers: Headers[] = []
    const asked: typeof fetch = async (_url, init) => {
      headers.push(new Headers(init?.headers))
      return Response.json({})
    }
    const model = anthropic('claude-sonnet-4-5', { apiKey: 'k', dangerouslyAllowBrowser: true, fetch: asked })
    for await (const _ of model.stream({ messages: [userMessage('1')] }));
    expect(headers[0]?.get('anthropic-dangerous-direct-browser-access')).toBe('true')
    expect(headers[0]?.get('anthropic-version')).toBe('2023-06-01')
  },
  S45: (_body, fault) => {
    for (const model of MODELS)
      expect([model, messagesDefects(encodeFault(fault, model))]).toEqual([model, []])
    expect(encodeFault(fault, 'claude-sonnet-4-5')).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 16_384 },
      max_tokens: 17_384,
    })
    expect(encodeFault(fault, 'claude-opus-4-8')).toMatchObject({
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
      max_tokens: 1000,
    })
  },
  S46: (body, fault) => {
    expect(shape(body)).toBe('u:t a:t u:tt')
    expect(partsIn(body, 'text').at(-1)?.text).toBe('<system>\nFrom now on be brief.\n</system>')
    expect(shape(encodeFault(fault, 'claude-opus-4-8'))).toBe('u:t a:t u:t s:t')
  },
  S47: (body) => expect(shape(body)).toBe('u:t a:c u:r a:t u:t'),
  S49: (body) => expect(shape(body)).toBe('u:tt'),
  S51: (_body, fault) => {
    // The fault shows a result without its call, which would be refused (S47): here is the call.
    const call = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
    const { messages, ...input } = Input.parse(fault.input)
    const answer = {
      ...messages[1],
      content: [{ type: 'opaque', raw: call }, ...(messages[1]?.content ?? [])],
    }
    const whole = { ...fault, input: { ...input, messages: [messages[0], answer, messages[2]] } }
    const body = encodeFault({ ...whole, input: { ...fault.input, ...whole.input } })
    expect(turnsIn(body)[1]?.parts).toEqual([call, messages[1]?.content[0]?.raw, messages[1]?.content[1]])
    expect(messagesDefects(body)).toEqual([])
  },
  S52: (body) => {
    const ids = partsIn(body, 'tool_use').map(({ id }) => id)
    expect(new Set(ids).size).toBe(2)
    expect(partsIn(body, 'tool_result')).toMatchObject([
      { tool_use_id: ids[0], content: [{ text: '1' }] },
      { tool_use_id: ids[1], content: [{ text: '2' }] },
    ])
  },
}

describe('requests do not have the faults reported against other adapters', () => {
  const ours = serialiseFaults((target) => target in TARGETS)

  testFaults(ours, RIGHT, async (fault) => {
    const body = encodeFault(fault)
    await RIGHT[fault.id]?.(body, fault)
    if (fault.input.headers !== true) expect(messagesDefects(body)).toEqual([])
  })
})
