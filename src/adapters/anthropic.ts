import { messagesDialect } from './anthropic-decode.ts'
import { encodeMessages } from './anthropic-encode.ts'
import type { Adapter } from './contract.ts'
import { type HearLimits, hear } from './hear.ts'

export interface MessagesAdapterOptions {
  /** Who answers, as stored in messages. @default 'anthropic' */
  provider?: string
  limits?: HearLimits
}

/** Anthropic's Messages API, and every server that speaks it. */
export function messagesAdapter({ provider = 'anthropic', limits }: MessagesAdapterOptions = {}): Adapter {
  return {
    dialect: 'anthropic',
    encode: (context, options) => encodeMessages(context, options, provider),
    decode: (response) => hear(response, messagesDialect, { provider, limits }),
  }
}
