import type { HearLimits } from '../adapters/adapter.ts'
import type { Model } from '../adapters/contract.ts'
import { ollamaAdapter } from '../adapters/ollama.ts'
import { httpModel } from './http-model.ts'
import type { ModelOptions } from './model-options.ts'

export interface OllamaOptions extends ModelOptions {
  /**
   * Where `/chat` lives. A page can call it where `OLLAMA_ORIGINS` has the page's origin.
   * @default 'http://localhost:11434/api'
   */
  baseURL?: string
  /**
   * Who answers, stored with each message. Thinking goes back only to the provider that wrote it, by this name.
   * @default 'ollama'
   */
  provider?: string
  /** Bounds on what an answer may make us keep. */
  limits?: HearLimits
}

/**
 * A model behind Ollama's own API. Loading a model takes its time: give `timeouts.firstByte` more than its default where
 * models are big. What goes wrong in a call is the last event of its answer.
 *
 * @example
 * const model = ollama('qwen3')
 * const { content } = await collect(model.stream({ messages }, { extra: { keep_alive: '10m' } }))
 */
export function ollama(model: string, options: OllamaOptions = {}): Model {
  const { baseURL = 'http://localhost:11434/api' } = options
  return httpModel({ ...options, adapter: ollamaAdapter(options), model, baseURL })
}
