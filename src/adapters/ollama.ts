import type { Adapter } from './contract.ts'
import { type HearLimits, hear } from './hear.ts'
import { ollamaDialect } from './ollama-decode.ts'
import { encodeOllama } from './ollama-encode.ts'

export interface OllamaAdapterOptions {
  /** Who answers, as stored in messages. @default 'ollama' */
  provider?: string
  limits?: HearLimits
}

/** Ollama's own API. (What it has under `/v1` is `openai-chat`.) */
export function ollamaAdapter({ provider = 'ollama', limits }: OllamaAdapterOptions = {}): Adapter {
  return {
    dialect: 'ollama',
    encode: (context, options) => encodeOllama(context, options, provider),
    decode: (response) => hear(response, ollamaDialect, { provider, limits }),
  }
}
