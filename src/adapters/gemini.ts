import type { Adapter } from './contract.ts'
import { geminiDialect } from './gemini-decode.ts'
import { encodeGemini } from './gemini-encode.ts'
import { type HearLimits, hear } from './hear.ts'

export interface GeminiAdapterOptions {
  /** Who answers, as stored in messages. @default 'google' */
  provider?: string
  limits?: HearLimits
}

/** Google's Gemini API, its own and Vertex AI's. */
export function geminiAdapter({ provider = 'google', limits }: GeminiAdapterOptions = {}): Adapter {
  return {
    dialect: 'gemini',
    encode: (context, options) => encodeGemini(context, options, provider),
    decode: (response) => hear(response, geminiDialect, { provider, limits }),
  }
}
