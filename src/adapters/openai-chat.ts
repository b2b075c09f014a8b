import type { Adapter } from './contract.ts'
import { type HearLimits, hear } from './hear.ts'
import { chatDialect } from './openai-chat-decode.ts'
import { encodeChat } from './openai-chat-encode.ts'
import { type ChatQuirks, quirksOf } from './openai-chat-quirks.ts'

export interface ChatAdapterOptions {
  /** Who answers, as stored in messages. @default 'openai' */
  provider?: string
  /** What this server does differently, such as a row of `SERVER_QUIRKS`. */
  quirks?: ChatQuirks
  limits?: HearLimits
}

/** OpenAI's Chat Completions, and every server that speaks it. */
export function chatAdapter({ provider = 'openai', quirks, limits }: ChatAdapterOptions = {}): Adapter {
  return {
    dialect: 'openai-chat',
    encode: (context, options) => encodeChat(context, options, provider, quirksOf(options.model, quirks)),
    decode: (response) => hear(response, chatDialect, { provider, limits }),
  }
}
