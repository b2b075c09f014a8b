import type { Adapter, HearLimits } from './adapter.ts'
import { messagesDialect } from './anthropic-decode.ts'
import { encodeMessages, takesPrefill } from './anthropic-encode.ts'
import { CALL_ID } from './anthropic-turns.ts'

export interface MessagesAdapterOptions {
  /** Who answers, as stored in messages. @default 'anthropic' */
  provider?: string
  limits?: HearLimits
}

/** Anthropic's Messages API, and every server that speaks it. */
export const messagesAdapter = ({
  provider = 'anthropic',
  limits,
}: MessagesAdapterOptions = {}): Adapter => ({
  dialect: 'anthropic',
  provider,
  limits,
  callIds: CALL_ID,
  prefills: takesPrefill,
  encode: encodeMessages,
  hears: messagesDialect,
})
