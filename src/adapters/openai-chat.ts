import type { Adapter, HearLimits } from './adapter.ts'
import { chatDialect } from './openai-chat-decode.ts'
import { ANY_CALL_ID, encodeChat } from './openai-chat-encode.ts'
import { type ChatQuirks, quirksOf } from './openai-chat-quirks.ts'

export interface ChatAdapterOptions {
  /** Who answers, as stored in messages. @default 'openai' */
  provider?: string
  /** What this server does differently, such as a row of `SERVER_QUIRKS`. */
  quirks?: ChatQuirks
  limits?: HearLimits
}

/** OpenAI's Chat Completions, and every server that speaks it. */
export const chatAdapter = ({ provider = 'openai', quirks, limits }: ChatAdapterOptions = {}): Adapter => ({
  dialect: 'openai-chat',
  provider,
  limits,
  callIds: quirks?.callIds ?? ANY_CALL_ID,
  encode: (context, call) => encodeChat(context, call, quirksOf(call.model, quirks)),
  hears: chatDialect,
})
