import { describe, expect, test } from 'vitest'
import { messagesAdapter } from '../../src/adapters/anthropic.ts'
import type { CallOptions, ModelContext } from '../../src/adapters/contract.ts'
import { say } from '../../src/adapters/say.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import { deepFreeze, userMessage } from '../support/messages.ts'
import { messagesDefects } from './checkers/anthropic.ts'
import { type MessagesBody, sentMessages } from './checkers/anthropic-body.ts'

const hi = { messages: [userMessage('1', 'Hi')] }
const tools = [
  { name: 'clock', description: 'Tells the time', parameters: { properties: { zone: { type: 'string' } } } },
  { name: 'stop', parameters: {} },
]
const encode = (context: ModelContext, options: CallOptions & { model?: string; stream?: boolean } = {}) =>
  say(messagesAdapter(), deepFreeze(context), { model: 'claude-sonnet-4-5', ...options })

/** What is sent, which is never refused. */
function sent(context: ModelContext, options: CallOptions & { model?: string } = {}): MessagesBody {
  const { body } = encode(context, options)
  expect(messagesDefects(JSON.parse(JSON.stringify(body)))).toEqual([])
  return sentMessages(body)
}

describe('a request', () => {
  test('asks for a stream, in the version of the API that we know', () => {
    const { path, headers } = encode(hi)
    expect(path).toBe('/messages')
    expect(headers).toEqual({ 'content-type': 'application/json', 'anthropic-version': '2023-06-01' })
    expect(sent(hi)).toEqual({
      model: 'claude-sonnet-4-5',
      max_tokens: 32_000,
      stream: true,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    })
  })

  test('or for a whole answer', () => {
    expect(sentMessages(encode(hi, { stream: false }).body)).not.toHaveProperty('stream')
  })

  test.each([
    ['claude-3-opus-20240229', 4_096],
    ['claude-3-5-sonnet-latest', 8_192],
    ['claude-3-7-sonnet@20250219', 32_000],
    ['us.anthropic.claude-sonnet-4-20250514-v1:0', 32_000],
    ['claude-opus-5', 32_000],
    ['MiniMax-M2', 32_000],
  ])('always has a limit of output, which %s takes', (model, most) => {
    expect(sent(hi, { model }).max_tokens).toBe(most)
    expect(sent(hi, { model, maxOutputTokens: 99 }).max_tokens).toBe(99)
  })

  test('says options in the words of the provider', () => {
    expect(sent(hi, { temperature: 0.5, stop: ['X', ' \n'] })).toMatchObject({
      temperature: 0.5,
      stop_sequences: ['X'],
    })
    expect(sent(hi, { topP: 0.5, stop: [' '] })).toMatchObject({ top_p: 0.5 })
    expect(sent(hi, { stop: [' '] })).not.toHaveProperty('stop_sequences')
  })

  test('never says two ways of sampling, nor a temperature that only others know', () => {
    const body = sent(hi, { temperature: 1.5, topP: 0.5 })
    expect(body.temperature).toBe(1)
    expect(body).not.toHaveProperty('top_p')
  })

  test('does not say to a model how to sample when it does not take that', () => {
    for (const model of ['claude-opus-4-7', 'claude-sonnet-5', 'claude-mythos-preview']) {
      const body = sent(hi, { model, temperature: 0, topP: 0.5 })
      expect(body).not.toHaveProperty('temperature')
      expect(body).not.toHaveProperty('top_p')
    }
  })

  test('takes a model of a later number for a newer one, and one of another maker for an older one', () => {
    const asked = { temperature: 0.5, thinking: 'none' } as const
    expect(sent(hi, { model: 'claude-opus-4-10', ...asked })).not.toHaveProperty('temperature')
    expect(sent(hi, { model: 'glm-5', ...asked })).toMatchObject({ temperature: 0.5 })
    expect(sent(hi, { model: 'glm-5', thinking: 'low' }).thinking).toMatchObject({ type: 'enabled' })
  })

  test('ends with what the caller wants beside it, own fields alone', () => {
    const extra = Object.assign(
      Object.create({ inherited: 1 }),
      JSON.parse('{"model":"other","top_k":5,"__proto__":{"x":1}}'),
    )
    const { body } = encode(hi, { extra })
    expect(body).toMatchObject({ model: 'other', top_k: 5 })
    expect(body).not.toHaveProperty('inherited')
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype)
    expect(Reflect.get({}, 'x')).toBeUndefined()
  })
})

describe('tools', () => {
  const context = { ...hi, tools }

  test('have whole schemas', () => {
    expect(sent(context).tools).toEqual([
      {
        name: 'clock',
        description: 'Tells the time',
        input_schema: { type: 'object', properties: { zone: { type: 'string' } } },
      },
      { name: 'stop', input_schema: { type: 'object', properties: {} } },
    ])
  })

  test.each([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [{ name: 'clock' }, { type: 'tool', name: 'clock' }],
  ] as const)('are chosen by %o', (toolChoice, choice) => {
    expect(sent(context, { toolChoice }).tool_choice).toEqual(choice)
    expect(sent(context)).not.toHaveProperty('tool_choice')
  })

  test('are not chosen where there are none, and never one that does not exist', () => {
    expect(sent({ ...hi, tools: [] }, { toolChoice: 'required' })).not.toHaveProperty('tool_choice')
    expect(sent({ ...hi, tools: [] })).not.toHaveProperty('tools')
    expect(() => encode(hi, { toolChoice: { name: 'clock' } })).toThrow(TidemarkError)
  })
})

describe('thinking', () => {
  const thinking = (model: string, effort: CallOptions['thinking'], more: CallOptions = {}) => {
    const {
      thinking: said,
      output_config: output,
      max_tokens: most,
    } = sent(
      { ...hi, tools },
      {
        model,
        ...(effort && { thinking: effort }),
        temperature: 0,
        ...more,
      },
    )
    return [said, output?.effort, most]
  }

  test('is a budget for older models, and their limit is above it', () => {
    expect(thinking('claude-sonnet-4-5', 'minimal')).toEqual([
      { type: 'enabled', budget_tokens: 1_024 },
      undefined,
      32_000,
    ])
    expect(thinking('claude-3-7-sonnet-latest', 'max', { maxOutputTokens: 500 })).toEqual([
      { type: 'enabled', budget_tokens: 24_576 },
      undefined,
      25_076,
    ])
  })

  test('is an effort for newer ones, and shown', () => {
    const adaptive = { type: 'adaptive', display: 'summarized' }
    expect(thinking('claude-opus-4-6', 'minimal')).toEqual([adaptive, 'low', 32_000])
    expect(thinking('claude-opus-4-8', 'high')).toEqual([adaptive, 'high', 32_000])
    expect(thinking('claude-fable-5-1', 'max')).toEqual([adaptive, 'max', 32_000])
  })

  test('is not asked of a model that cannot, nor forbidden to one that must', () => {
    expect(thinking('claude-3-5-haiku-latest', 'high')).toEqual([undefined, undefined, 8_192])
    expect(thinking('claude-fable-5', 'none')).toEqual([undefined, undefined, 32_000])
  })

  test('is left to the model where nothing is said, and ended where that is said', () => {
    for (const model of ['claude-sonnet-4-5', 'claude-sonnet-5'])
      expect(thinking(model, undefined)).toEqual([undefined, undefined, 32_000])
    expect(thinking('claude-sonnet-4-5', 'none')).toEqual([undefined, undefined, 32_000])
    expect(thinking('claude-sonnet-5', 'none')).toEqual([{ type: 'disabled' }, undefined, 32_000])
  })

  test('gives way to a call that is forced', () => {
    for (const toolChoice of ['required', { name: 'clock' }] as const) {
      expect(thinking('claude-sonnet-4-5', 'high', { toolChoice })).toEqual([undefined, undefined, 32_000])
      expect(thinking('claude-sonnet-5', undefined, { toolChoice })[0]).toEqual({ type: 'disabled' })
    }
    expect(thinking('claude-sonnet-5', 'high', { toolChoice: 'auto' })[0]).toMatchObject({ type: 'adaptive' })
  })
})

describe('what else can be asked for', () => {
  test('an answer of a certain shape, beside an effort', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false }
    const format = { type: 'json_schema', schema }
    expect(sent(hi, { output: { schema, name: 'x', strict: true } }).output_config).toEqual({ format })
    expect(sent(hi, { model: 'claude-opus-5', output: { schema }, thinking: 'low' }).output_config).toEqual({
      effort: 'low',
      format,
    })
    expect(sent(hi)).not.toHaveProperty('output_config')
  })

  test('a cache of tools, instructions, and all up to the last question', () => {
    const context = { ...hi, tools, system: 'Be brief.' }
    const hint = (cache: 'short' | 'long') => {
      const { tools: told, system, messages } = sent(context, { cache })
      return { told: told?.map((tool) => tool.cache_control), system, messages }
    }
    const short = { cache_control: { type: 'ephemeral' } }
    expect(hint('short')).toEqual({
      told: [undefined, short.cache_control],
      system: [{ type: 'text', text: 'Be brief.', ...short }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', ...short }] }],
    })
    expect(hint('long').told?.[1]).toEqual({ type: 'ephemeral', ttl: '1h' })
    expect(JSON.stringify(sent(context))).not.toContain('cache_control')
    expect(JSON.stringify(sent({ messages: [] }, { cache: 'short' }))).toContain('cache_control')
  })
})
