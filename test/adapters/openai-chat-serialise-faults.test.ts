import { describe, expect, test } from 'vitest'
import { SERVER_QUIRKS } from '../../src/adapters/compatible.ts'
import { type ChatAdapterOptions, chatAdapter } from '../../src/adapters/openai-chat.ts'
import { say } from '../../src/adapters/say.ts'
import {
  type ChatBody,
  type ChatMessage,
  callsOf,
  sentBody,
  strictDefects,
  textOfContent,
} from './checkers/openai-chat.ts'
import { saidIn } from './fault-history.ts'
import type { Fault } from './fixtures.ts'
import { serialiseFaults, testFaults } from './serialise-faults.ts'

/** How a target of `faults.json` is spoken to. */
const TARGETS: Readonly<Record<string, ChatAdapterOptions & { model?: string }>> = {
  mistral: { provider: 'mistral', quirks: SERVER_QUIRKS.mistral },
  'openai-completions': {},
  deepseek: { provider: 'deepseek', quirks: SERVER_QUIRKS.deepseek },
  moonshot: { provider: 'moonshot', quirks: SERVER_QUIRKS.moonshot },
  groq: { provider: 'groq' },
  dashscope: { provider: 'alibaba', quirks: SERVER_QUIRKS.alibaba },
  zai: { provider: 'zai', quirks: SERVER_QUIRKS.zai },
  'llama.cpp': { provider: 'llamacpp' },
  any: {},
  'openai:gpt-5': { model: 'gpt-5' },
}

/** Faults of other targets that a Chat Completions server has as well. */
const ALSO = ['S10']

function encodeFault(fault: Fault): ChatBody {
  const { model = 'm', ...adapter } = TARGETS[fault.input.target ?? ''] ?? {}
  const { context, options } = saidIn(fault)
  return sentBody(say(chatAdapter(adapter), context, { model, ...options }).body)
}

const roles = (messages: readonly ChatMessage[]): string => messages.map(({ role }) => role[0]).join('')
const resultIds = (messages: readonly ChatMessage[]) =>
  messages.flatMap((message) => (message.role === 'tool' ? [message.tool_call_id] : []))
const callIds = (messages: readonly ChatMessage[]) => messages.flatMap(callsOf).map(({ id }) => id)
const reasoning = (messages: readonly ChatMessage[]) =>
  messages.flatMap((message) => (message.role === 'assistant' ? [message.reasoning_content] : []))

/** The rule of each fault (its `right`), on the request that we make of its input. */
const RIGHT: Readonly<Record<string, (body: ChatBody) => void>> = {
  S02: ({ messages }) => expect(roles(messages)).toBe('uu'),
  S09: ({ messages }) => {
    expect(resultIds(messages)).toEqual(callIds(messages))
    expect(callIds(messages)).toHaveLength(2)
    for (const id of callIds(messages)) expect(id).toMatch(/^[A-Za-z0-9]{9}$/)
  },
  S10: ({ messages }) => {
    expect(roles(messages)).toBe('uattu')
    expect(messages.slice(2, 4).map(textOfContent)).toEqual(['1', 'Not executed: there is no result.'])
    expect(resultIds(messages)).toEqual(callIds(messages))
  },
  S21: ({ messages }) => {
    expect(roles(messages)).toBe('uattu')
    expect(messages.slice(2, 4).map(({ content }) => content)).toEqual(['done', '(see attached image)'])
    const parts = messages.at(-1)?.content
    expect(Array.isArray(parts) && parts.filter(({ type }) => type === 'image_url')).toHaveLength(2)
  },
  S30: ({ messages }) => expect(reasoning(messages)).toEqual(['r1', 'r2']),
  S31: ({ messages }) => expect(reasoning(messages)).toEqual(['(not recorded)']),
  S32: (body) => expect(JSON.stringify(body)).not.toContain('reasoning'),
  S33: (body) => {
    expect(body).toMatchObject({ enable_thinking: false })
    expect(body.messages.map(textOfContent)).toEqual(['a', 'x', 'b'])
  },
  S34: ({ messages }) => expect(messages[0]).toEqual({ role: 'system', content: 'be brief' }),
  S35: ({ messages }) => expect(roles(messages)).toBe('ua'),
  S41: ({ messages }) => expect(messages.map(textOfContent)).toEqual(['a', 'x\n\ny']),
  S49: ({ messages }) => expect(roles(messages)).toBe('uu'),
  S52: ({ messages }) => {
    expect(new Set(callIds(messages)).size).toBe(2)
    expect(resultIds(messages)).toEqual(callIds(messages))
    expect(messages.filter(({ role }) => role === 'tool').map(textOfContent)).toEqual(['1', '2'])
  },
  S53: (body) => {
    expect(body).not.toHaveProperty('stop')
    expect(body).not.toHaveProperty('temperature')
  },
}

describe('requests do not have the faults reported against other adapters', () => {
  const ours = serialiseFaults((target) => target in TARGETS, ALSO)

  testFaults(ours, RIGHT, (fault) => {
    const body = encodeFault(fault)
    RIGHT[fault.id]?.(body)
    expect(strictDefects(body)).toEqual([])
  })

  test('foreign thinking does not pass for own, even where the field is demanded', () => {
    const fault = ours.find(({ id }) => id === 'S30')
    const foreign = JSON.parse(
      JSON.stringify(fault?.input).replaceAll('"provider":"deepseek"', '"provider":"other"'),
    )
    if (!fault) throw new Error('S30 is gone')
    expect(reasoning(encodeFault({ ...fault, input: foreign }).messages)).toEqual(['', ''])
  })
})
