import type { Adapter, HearLimits } from './adapter.ts'
import { ollamaDialect } from './ollama-decode.ts'
import { CALL_ID, encodeOllama } from './ollama-encode.ts'

export interface OllamaAdapterOptions {
  /** Who answers, as stored in messages. @default 'ollama' */
  provider?: string
  limits?: HearLimits
}

/** Ollama's own API. (What it has under `/v1` is `openai-chat`.) */
export const ollamaAdapter = ({ provider = 'ollama', limits }: OllamaAdapterOptions = {}): Adapter => ({
  dialect: 'ollama',
  provider,
  limits,
  callIds: CALL_ID,
  encode: encodeOllama,
  hears: ollamaDialect,
})
