import { describe, expect, test } from 'vitest'
import { type CompatibleServer, SERVERS } from '../../src/adapters/compatible.ts'
import type { CallOptions, Effort } from '../../src/adapters/contract.ts'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import { say } from '../../src/adapters/say.ts'
import { userMessage } from '../support/messages.ts'

type ServerName = keyof typeof SERVERS

/** What is said beside the messages, as it goes over the line. */
function said(call: CallOptions, model = 'm', server?: ServerName, system?: string): Record<string, unknown> {
  const row: CompatibleServer | undefined = server && SERVERS[server]
  const adapter = chatAdapter(row?.quirks ? { quirks: row.quirks } : {})
  const context = { messages: [userMessage('1', 'Hi')], ...(system !== undefined && { system }) }
  const body: unknown = JSON.parse(JSON.stringify(say(adapter, context, { model, ...call }).body))
  const { model: _, stream: __, stream_options: ___, messages, ...rest } = Object(body)
  return call.output ? { ...rest, messages } : rest
}

const schema = { type: 'object', properties: { n: { type: 'number' } } }
const asked = [{ role: 'user', content: 'Hi' }]

describe('how hard to think', () => {
  test.each<[Effort, string]>([
    ['none', 'none'],
    ['minimal', 'minimal'],
    ['medium', 'medium'],
    ['max', 'xhigh'],
  ])('%s is %s to OpenAI', (thinking, reasoning_effort) => {
    expect(said({ thinking }, 'gpt-5.2')).toEqual({ reasoning_effort })
  })

  test.each(['gpt-4o-mini', 'gpt-3.5-turbo', 'gpt-5-chat-latest', 'chatgpt-4o-latest'])(
    'nothing is said of it to %s, which does not think',
    (model) => expect(said({ thinking: 'low' }, model)).toEqual({}),
  )

  const on = { enable_thinking: true, thinking: true }
  const off = { enable_thinking: false, thinking: false }
  test.each<[ServerName, string, Effort, object]>([
    ['alibaba', 'qwen3-max', 'high', { enable_thinking: true }],
    ['alibaba', 'qwen3-max', 'none', { enable_thinking: false }],
    ['azure', 'gpt-5', 'low', { reasoning_effort: 'low' }],
    ['cerebras', 'gpt-oss-120b', 'max', { reasoning_effort: 'high' }],
    ['deepseek', 'deepseek-flash', 'none', { thinking: { type: 'disabled' } }],
    ['deepseek', 'deepseek-flash', 'max', { thinking: { type: 'enabled' }, reasoning_effort: 'max' }],
    ['google', 'gemini-3-flash', 'max', { reasoning_effort: 'high' }],
    ['google', 'gemini-3-flash', 'minimal', { reasoning_effort: 'minimal' }],
    ['gpustack', 'qwen3', 'medium', { reasoning_effort: 'medium', chat_template_kwargs: on }],
    ['groq', 'openai/gpt-oss-20b', 'minimal', { reasoning_effort: 'low' }],
    ['groq', 'qwen/qwen3-32b', 'high', { reasoning_effort: 'default', reasoning_format: 'parsed' }],
    ['groq', 'qwen/qwen3-32b', 'none', { reasoning_effort: 'none' }],
    ['huggingface', 'm', 'max', { reasoning_effort: 'high' }],
    ['llamacpp', 'openai/gpt-oss-20b', 'high', { reasoning_effort: 'high', chat_template_kwargs: on }],
    ['lmstudio', 'm', 'none', { chat_template_kwargs: off }],
    ['mistral', 'mistral-small-latest', 'low', { reasoning_effort: 'high' }],
    ['mistral', 'mistral-small-latest', 'none', { reasoning_effort: 'none' }],
    ['mistral', 'magistral-small-latest', 'low', { prompt_mode: 'reasoning' }],
    ['mistral', 'magistral-small-latest', 'none', {}],
    ['moonshot', 'kimi-k2.5', 'none', { thinking: { type: 'disabled' } }],
    ['ollama', 'qwen3', 'minimal', { reasoning_effort: 'low' }],
    ['openrouter', 'z-ai/glm-4.5-air', 'max', { reasoning: { effort: 'xhigh' } }],
    ['perplexity', 'sonar-reasoning-pro', 'medium', { reasoning_effort: 'medium' }],
    ['snowflake', 'claude-sonnet-4-6', 'low', { reasoning: { effort: 'low' } }],
    ['together', 'openai/gpt-oss-20b', 'max', { reasoning_effort: 'high' }],
    ['together', 'zai-org/GLM-4.7', 'none', { reasoning: { enabled: false } }],
    ['vercel-gateway', 'openai/gpt-5', 'low', { reasoning: { effort: 'low' } }],
    ['vllm', 'Qwen/Qwen3-8B', 'none', { chat_template_kwargs: off }],
    ['xai', 'grok-3-mini', 'high', { reasoning_effort: 'high' }],
    ['xai', 'grok-4.3', 'none', { reasoning_effort: 'none' }],
    ['xai', 'grok-4-1-fast-reasoning', 'high', {}],
    ['xai', 'grok-code-fast-1', 'low', {}],
    ['zai', 'glm-4.6', 'low', { thinking: { type: 'enabled' } }],
  ])('%s, of %s: %s', (server, model, thinking, expected) => {
    expect(said({ thinking }, model, server)).toEqual(expected)
  })

  test('a whole answer of Qwen comes without thinking, whatever is wanted: it refuses that', () => {
    const adapter = chatAdapter({ quirks: SERVERS.alibaba.quirks })
    const context = { messages: [userMessage('1', 'Hi')] }
    const { body } = say(adapter, context, { model: 'qwen3-max', thinking: 'high', stream: false })
    expect(body.enable_thinking).toBe(false)
  })
})

describe('the shape of an answer', () => {
  test('is said as a schema', () => {
    expect(said({ output: { schema, name: 'count', strict: true } })).toEqual({
      messages: asked,
      response_format: { type: 'json_schema', json_schema: { name: 'count', schema, strict: true } },
    })
    expect(said({ output: { schema } }, 'm', 'vllm')).toMatchObject({
      response_format: { json_schema: { name: 'output', strict: false } },
    })
  })

  test.each<[ServerName]>([['alibaba'], ['deepseek'], ['moonshot'], ['zai']])(
    'is any JSON to %s, whose model is shown the schema',
    (server) => {
      const { messages, response_format } = said({ output: { schema } }, 'm', server, 'Be brief.')
      expect(response_format).toEqual({ type: 'json_object' })
      const content = `Be brief.\n\nAnswer in JSON that fits this schema:\n${JSON.stringify(schema)}`
      expect(messages).toEqual([{ role: 'system', content }, ...asked])
    },
  )
})

describe('what is to be kept', () => {
  test('is said to those that keep nothing by themselves', () => {
    const claude = 'anthropic/claude-sonnet-4.5'
    expect(said({ cache: 'short' }, claude, 'openrouter')).toEqual({ cache_control: { type: 'ephemeral' } })
    expect(said({ cache: 'long' }, claude, 'openrouter')).toEqual({
      cache_control: { type: 'ephemeral', ttl: '1h' },
    })
    expect(said({ cache: 'long' }, 'openai/gpt-5', 'openrouter')).toEqual({})
    expect(said({ cache: 'short' }, 'gpt-5')).toEqual({})
    expect(said({ cache: 'long' }, 'gpt-5')).toEqual({ prompt_cache_retention: '24h' })
    expect(said({ cache: 'long' }, 'gpt-4o')).toEqual({})
  })
})

describe('where to stop', () => {
  test.each([
    ['grok-4', false],
    ['grok-4-fast-reasoning', false],
    ['grok-3-mini', false],
    ['grok-code-fast-1', false],
    ['grok-4-fast-non-reasoning', true],
    ['grok-2-vision', true],
  ])('%s takes it: %s', (model, takes) => {
    expect(said({ stop: ['X'], temperature: 0 }, model, 'xai')).toEqual({
      temperature: 0,
      ...(takes && { stop: ['X'] }),
    })
  })
})

test('every server that was promised has a row', () => {
  const promised = [
    ...[
      'deepseek',
      'alibaba',
      'mistral',
      'groq',
      'xai',
      'openrouter',
      'moonshot',
      'zai',
      'together',
      'cerebras',
    ],
    ...['perplexity', 'azure', 'cloudflare', 'databricks', 'snowflake', 'huggingface', 'vllm', 'llamacpp'],
    ...['gpustack', 'lmstudio', 'bedrock'],
  ]
  expect(promised.filter((name) => !(name in SERVERS))).toEqual([])
})
