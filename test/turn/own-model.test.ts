import { APIError as AnthropicError } from '@anthropic-ai/sdk'
import { APIError as OpenAIError } from 'openai'
import { describe, expect, test } from 'vitest'
import { collect } from '../../src/adapters/collect.ts'
import type { Model } from '../../src/adapters/contract.ts'
import { play } from './stage.ts'

/** A model around an official SDK, by somebody who left the SDK's errors to us. */
const throwing = (thrown: unknown): Model & { calls: number } => {
  const model = {
    provider: 'own',
    id: 'm',
    calls: 0,
    // biome-ignore lint/correctness/useYield: it fails before its first word
    async *stream() {
      model.calls++
      throw thrown
    },
  }
  return model
}

const headers = new Headers({ 'request-id': 'req_1', 'x-request-id': 'req_1' })
const openai = (status: number, error: object) => OpenAIError.generate(status, { error }, undefined, headers)
const anthropic = (status: number, type: string, message: string) =>
  AnthropicError.generate(status, { type: 'error', error: { type, message } }, undefined, headers)

const errors = [
  [openai(429, { message: 'Slow down', code: 'rate_limit_exceeded' }), 'rate-limit', 'Slow down', 3],
  [openai(401, { message: 'Wrong key', code: 'invalid_api_key' }), 'auth', 'Wrong key', 1],
  [
    openai(400, { message: "This model's maximum context length is 8192 tokens", type: 'x' }),
    'context-overflow',
    'maximum context length',
    1,
  ],
  [anthropic(529, 'overloaded_error', 'Overloaded'), 'server', 'Overloaded', 3],
  [anthropic(400, 'invalid_request_error', 'prompt is too long'), 'context-overflow', 'too long', 1],
] as const

describe("an SDK's error that a model of one's own lets out", () => {
  test.each(errors)('is understood by its status and words: %s', async (thrown, code, words, calls) => {
    const model = throwing(thrown)
    const { messages } = await play({ model })
    const error = { code, message: expect.stringContaining(words), status: thrown.status, requestId: 'req_1' }
    expect(messages).toMatchObject([{ status: 'failed', error }])
    expect(model.calls).toBe(calls)
    expect(await collect(model.stream({ messages: [] }))).toMatchObject({ stopReason: 'error' })
  })

  test('keeps its words where there is no status', async () => {
    const { messages } = await play({
      model: throwing(OpenAIError.generate(undefined, undefined, 'No line', undefined)),
    })
    expect(messages).toMatchObject([{ error: { code: 'protocol', message: 'No line' } }])
  })
})
