import type { HearLimits } from '../adapters/adapter.ts'
import { messagesAdapter } from '../adapters/anthropic.ts'
import type { Model } from '../adapters/contract.ts'
import { httpModel } from './http-model.ts'
import { type KeyOptions, usableKey } from './key.ts'
import type { ModelOptions } from './model-options.ts'

export interface AnthropicOptions extends KeyOptions, ModelOptions {
  /**
   * Where `/messages` lives. In a page, a path of its own origin that a proxy serves, such as `/llm/anthropic`.
   * @default 'https://api.anthropic.com/v1'
   */
  baseURL?: string
  /**
   * Who answers, stored with each message. Thinking and proofs go back only to the provider that wrote them, by this name.
   * @default 'anthropic'
   */
  provider?: string
  /** Bounds on what an answer may make us keep. */
  limits?: HearLimits
}

/**
 * A model behind Anthropic's Messages API, or any server that speaks it. Throws `invalid-request` for an `apiKey` in a
 * browser, unless `dangerouslyAllowBrowser` is set; then the API is also told that a page calls it. What goes wrong in a
 * call is the last event of its answer.
 *
 * @example
 * const model = anthropic('claude-sonnet-4-5', { baseURL: '/llm/anthropic' })
 * const { content } = await collect(model.stream({ messages }))
 */
export function anthropic(model: string, options: AnthropicOptions = {}): Model {
  const { baseURL = 'https://api.anthropic.com/v1', headers = {} } = options
  const key = usableKey(options)
  return httpModel({
    ...options,
    adapter: messagesAdapter(options),
    model,
    baseURL,
    headers: async () => ({
      ...(key !== undefined && { 'x-api-key': key }),
      // "CORS requests must set 'anthropic-dangerous-direct-browser-access' header"
      ...(options.dangerouslyAllowBrowser && { 'anthropic-dangerous-direct-browser-access': 'true' }),
      ...(typeof headers === 'function' ? await headers() : headers),
    }),
  })
}
