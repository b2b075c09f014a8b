import type { Adapter, HearLimits } from './adapter.ts'
import { geminiDialect } from './gemini-decode.ts'
import { CALL_ID, encodeGemini } from './gemini-encode.ts'

export interface GeminiAdapterOptions {
  /** Who answers, as stored in messages. @default 'google' */
  provider?: string
  limits?: HearLimits
}

/** Google's Gemini API, its own and Vertex AI's. */
export const geminiAdapter = ({ provider = 'google', limits }: GeminiAdapterOptions = {}): Adapter => ({
  dialect: 'gemini',
  provider,
  limits,
  callIds: CALL_ID,
  encode: encodeGemini,
  hears: geminiDialect,
})
