import type { HearLimits } from '../adapters/adapter.ts'
import type { Model } from '../adapters/contract.ts'
import { chatAdapter } from '../adapters/openai-chat.ts'
import type { ChatQuirks } from '../adapters/openai-chat-quirks.ts'
import { httpModel } from './http-model.ts'
import { bearerHeaders, type KeyOptions } from './key.ts'
import type { ModelOptions } from './model-options.ts'

export interface OpenAIChatOptions extends KeyOptions, ModelOptions {
  /**
   * Where `/chat/completions` lives. In a page, a path of its own origin that a proxy serves, such as `/llm/openai`.
   * @default 'https://api.openai.com/v1'
   */
  baseURL?: string
  /**
   * Who answers, stored with each message. Thinking and proofs go back only to the provider that wrote them, by this name.
   * @default 'openai'
   */
  provider?: string
  /** Where this server departs from what the others take, such as `SERVER_QUIRKS.mistral`. */
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
 * const { content } = await collect(model.stream({ messages }))
 */
export function openaiChat(model: string, options: OpenAIChatOptions = {}): Model {
  const { baseURL = 'https://api.openai.com/v1' } = options
  const adapter = chatAdapter(options)
  return httpModel({ ...options, adapter, model, baseURL, headers: bearerHeaders(options) })
}
