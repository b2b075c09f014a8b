import type { HearLimits } from '../adapters/adapter.ts'
import type { Model } from '../adapters/contract.ts'
import { geminiAdapter } from '../adapters/gemini.ts'
import { httpModel } from './http-model.ts'
import { type KeyOptions, usableKey } from './key.ts'
import type { ModelOptions } from './model-options.ts'

export interface GeminiOptions extends KeyOptions, ModelOptions {
  /**
   * Where `/models` lives. In a page, a path of its own origin that a proxy serves, such as `/llm/gemini`. For Vertex AI, its
   * regional address to the end of `/publishers/google`, with an access token by `headers`.
   * @default 'https://generativelanguage.googleapis.com/v1beta'
   */
  baseURL?: string
  /**
   * Who answers, stored with each message. Thinking and proofs go back only to the provider that wrote them, by this name.
   * @default 'google'
   */
  provider?: string
  /** Bounds on what an answer may make us keep. */
  limits?: HearLimits
}

/**
 * A model behind Google's Gemini API, or Vertex AI's. The key goes in a header, never in the address. Throws
 * `invalid-request` for an `apiKey` in a browser, unless `dangerouslyAllowBrowser` is set. What goes wrong in a call is the
 * last event of its answer.
 *
 * @example
 * const model = gemini('gemini-2.5-flash', { baseURL: '/llm/gemini' })
 * const { content } = await collect(model.stream({ messages }))
 */
export function gemini(model: string, options: GeminiOptions = {}): Model {
  const { baseURL = 'https://generativelanguage.googleapis.com/v1beta', headers = {} } = options
  const key = usableKey(options)
  return httpModel({
    ...options,
    adapter: geminiAdapter(options),
    model,
    baseURL,
    headers: async () => ({
      ...(key !== undefined && { 'x-goog-api-key': key }),
      ...(typeof headers === 'function' ? await headers() : headers),
    }),
  })
}
