import type { Adapter } from './contract.ts'
import { type HearLimits, hear } from './hear.ts'
import { chatDialect } from './openai-chat-decode.ts'

export interface ChatAdapterOptions {
  /** Who answers, as stored in messages. @default 'openai' */
  provider?: string
  limits?: HearLimits
}
export function chatAdapter(options: ChatAdapterOptions = {}): Pick<Adapter, 'decode' | 'dialect'> {
  const { provider = 'openai', limits } = options
  return { dialect: 'openai-chat', decode: (response) => hear(response, chatDialect, { provider, limits }) }
}
