import type { HearLimits } from '../adapters/hear.ts'
import { chatAdapter } from '../adapters/openai-chat.ts'
import type { ChatQuirks } from '../adapters/openai-chat-quirks.ts'
import { type HttpModel, type HttpModelOptions, httpModel } from './http-model.ts'
import { type KeyOptions, usableKey } from './key.ts'

export interface OpenAIChatOptions
  extends KeyOptions,
    Pick<HttpModelOptions, 'headers' | 'fetch' | 'timeouts' | 'env'> {
  /**
   * Where `/chat/completions` lives. In a page, a path of its own origin that a proxy serves, such as `/llm/openai`.
   * @default 'https://api.openai.com/v1'
   */
  baseURL?: string
  /**
   * Who answers: stored with each message, and picks what is known of the server (`mistral`, `deepseek`, `openrouter`, …).
   * Thinking goes back only to the provider of this name.
   * @default 'openai'
   */
  provider?: string
  /** Where this server departs from what the others take; outranks what is known of it. */
  quirks?: ChatQuirks
  /** Bounds on what an answer may make us keep. */
  limits?: HearLimits
}

/**
 * A model behind OpenAI's Chat Completions API, or any server that speaks it: Ollama, vLLM, llama.cpp, Groq, Mistral, …
 * Throws `invalid-request` for an `apiKey` in a browser, unless `dangerouslyAllowBrowser` is set. What goes wrong in a
 * call is the last event of its answer.
 *
 * @example
 * const model = openaiChat('gpt-4o-mini', { baseURL: '/llm/openai' })
 * const { content } = await model.stream({ messages }).result()
 */
export function openaiChat(model: string, options: OpenAIChatOptions = {}): HttpModel {
  const { baseURL = 'https://api.openai.com/v1', provider = 'openai', quirks, limits, headers: own } = options
  const { fetch, timeouts, env } = options
  const key = usableKey(options)
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` }
  return httpModel({
    adapter: chatAdapter({ provider, ...(quirks && { quirks }), ...(limits && { limits }) }),
    provider,
    model,
    baseURL,
    headers: async () => ({ ...authorization, ...(typeof own === 'function' ? await own() : own) }),
    ...(fetch && { fetch }),
    ...(timeouts && { timeouts }),
    ...(env && { env }),
  })
}
