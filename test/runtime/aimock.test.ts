import { LLMock } from '@copilotkit/aimock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Model, ModelContext, ModelEvent } from '../../src/adapters/contract.ts'
import { anthropic } from '../../src/anthropic.ts'
import { gemini } from '../../src/gemini.ts'
import { collect } from '../../src/index.ts'
import { ollama } from '../../src/ollama.ts'
import { openai } from '../../src/openai.ts'
import { openaiChat } from '../../src/openai-chat.ts'
import { assistantMessage, toolMessage, userMessage } from '../support/messages.ts'

/**
 * A second opinion on what the providers say over the wire, from another project's server. Where it departs from them: Ollama
 * tells errors as OpenAI does (in truth as a bare string), Gemini ends calls with a reason of its own, and no request is
 * refused for its shape, nor for its key.
 */
const mock = new LLMock({ port: 0, logLevel: 'silent' })
beforeAll(async () => void (await mock.start()))
afterAll(() => mock.stop())

const MODELS: Readonly<Record<string, (url: string) => Model>> = {
  'OpenAI, Chat Completions': (url) => openaiChat('gpt-4o', { baseURL: `${url}/v1`, apiKey: 'k' }),
  'OpenAI, Responses': (url) => openai('gpt-4o', { baseURL: `${url}/v1`, apiKey: 'k' }),
  Anthropic: (url) => anthropic('claude-sonnet-4-5', { baseURL: `${url}/v1`, apiKey: 'k' }),
  Gemini: (url) => gemini('gemini-2.5-flash', { baseURL: `${url}/v1beta`, apiKey: 'k' }),
  Ollama: (url) => ollama('llama3.2', { baseURL: `${url}/api` }),
}

const tools = [{ name: 'weather', parameters: { properties: { city: { type: 'string' } } } }]
const asking = (question: string): ModelContext => ({ messages: [userMessage('u', question)], tools })

async function eventsOf(model: Model, context: ModelContext): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.stream(context)) events.push(event)
  return events
}
const errorOf = async (model: Model, question: string) => {
  const last = (await eventsOf(model, asking(question))).at(-1)
  return last?.type === 'error' ? last : undefined
}

const TEXT = 'Hello 你好 👋, this is a plain answer.'
mock.onMessage('plain', { content: TEXT })
// A chunk at a time: what is written in one go before it tears the line never leaves it.
mock.onMessage('cut', { content: TEXT }, { chunkSize: 4, truncateAfterChunks: 6, latency: 2 })
mock.on({ userMessage: 'weather', hasToolResult: true }, { content: 'Sunny, then rain.' })
const toolCalls = ['北京', 'Zürich'].map((city) => ({ name: 'weather', arguments: JSON.stringify({ city }) }))
// Unless it is told otherwise, the mock ends Gemini's calls with FUNCTION_CALL, a reason that Gemini does not have.
mock.on({ userMessage: 'weather', model: /gemini/ }, { toolCalls, finishReason: 'stop' })
mock.onMessage('weather', { toolCalls })
const WRONG = { error: { message: 'this was wrong', type: 'invalid_request_error' } }
for (const status of [400, 401, 403, 404, 500, 503]) mock.onMessage(`fail ${status}`, { ...WRONG, status })
mock.onMessage('fail 429', {
  error: { message: 'slow down', type: 'rate_limit_error' },
  status: 429,
  retryAfter: 7,
})
for (const chaos of ['drop', 'malformed', 'rateLimit', 'disconnect'])
  mock.onMessage(`chaos ${chaos}`, { content: TEXT }, { chaos: { [`${chaos}Rate`]: 1 } })

describe.each(Object.entries(MODELS))('%s, over real HTTP,', (_name, modelAt) => {
  const model = () => modelAt(mock.url)

  test('answers', async () => {
    const events = await eventsOf(model(), asking('plain'))
    expect(events.filter(({ type }) => type === 'text').length).toBeGreaterThan(1)
    expect(events.at(-1)).toMatchObject({
      type: 'done',
      reason: 'stop',
      message: { content: [{ type: 'text', text: TEXT }], provider: model().provider },
    })
  })

  test('calls tools, and goes on with their results', async () => {
    const question = userMessage('u', 'weather')
    const called = await collect(model().stream({ messages: [question], tools }))
    const calls = called.content.flatMap((block) => (block.type === 'toolCall' ? [block] : []))
    expect(called.stopReason).toBe('toolUse')
    expect(calls.map(({ name, arguments: args }) => [name, args])).toEqual([
      ['weather', { city: '北京' }],
      ['weather', { city: 'Zürich' }],
    ])
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
    const results = calls.map(({ id, name }, i) => toolMessage(`t${i}`, id, { toolName: name }))
    const messages = [question, assistantMessage('a', '', called), ...results]
    expect(await collect(model().stream({ messages, tools }))).toMatchObject({
      content: [{ type: 'text', text: 'Sunny, then rain.' }],
      stopReason: 'stop',
    })
  })

  test.each([
    [400, 'invalid-request'],
    [401, 'auth'],
    [403, 'auth'],
    [404, 'not-found'],
    [500, 'server'],
    [503, 'server'],
  ])('tells what %i means, in the provider’s words', async (status, code) => {
    expect(await errorOf(model(), `fail ${status}`)).toMatchObject({
      reason: 'error',
      error: { code, status, message: expect.stringContaining('this was wrong') },
      message: { content: [], stopReason: 'error' },
    })
  })

  test('is told how long to wait after a 429', async () => {
    expect(await errorOf(model(), 'fail 429')).toMatchObject({
      error: { code: 'rate-limit', status: 429, retryAfter: 7_000 },
    })
  })

  test('keeps what came before the line broke, and does not take that for an end', async () => {
    const last = await errorOf(model(), 'cut')
    expect(last).toMatchObject({
      reason: 'error',
      error: { code: 'network' },
      message: { stopReason: 'error' },
    })
    const [block] = last?.message.content ?? []
    const text = block?.type === 'text' ? block.text : ''
    expect(text).not.toBe('')
    expect(text).not.toBe(TEXT)
    expect(TEXT.startsWith(text)).toBe(true)
  })

  // The mock tears the line before it answers at all.
  test.each([
    ['drop', { code: 'server', status: 500 }],
    // Half a JSON object, in a whole answer: it may have been cut on its way.
    ['malformed', { code: 'network' }],
    ['rateLimit', { code: 'rate-limit', status: 429 }],
    ['disconnect', { code: 'network' }],
  ])('makes an error of chaos: %s', async (chaos, error) => {
    expect(await errorOf(model(), `chaos ${chaos}`)).toMatchObject({ error, message: { content: [] } })
  })
})
