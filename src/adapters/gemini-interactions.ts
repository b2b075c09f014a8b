import type { Adapter } from './contract.ts'
import { interactionsDialect } from './gemini-interactions-decode.ts'
import {
  encodeInteraction,
  encodeInteractionCancel,
  encodeInteractionResume,
} from './gemini-interactions-encode.ts'
import { type HearLimits, hear } from './hear.ts'

export interface InteractionsAdapterOptions {
  /**
   * Who answers, as stored in messages. Thinking and proofs go back only to the provider that wrote them; those of
   * `generateContent` stand elsewhere, so it is another.
   * @default 'google-interactions'
   */
  provider?: string
  /** Whether the provider writes the answer, and keeps it for a while, without a reader too. Not every model can. @default false */
  background?: boolean
  limits?: HearLimits
}

/** Google's Interactions API. The history goes with each request, and nothing is kept there but what `background` needs. */
export function interactionsAdapter(options: InteractionsAdapterOptions = {}): Adapter {
  const { provider = 'google-interactions', background = false, limits } = options
  const dialect = interactionsDialect(background)
  return {
    dialect: 'gemini-interactions',
    encode: (context, call) => encodeInteraction(context, call, { provider, background }),
    decode: (response) => hear(response, dialect, { provider, limits }),
    ...(background && { resume: (id) => encodeInteractionResume(id), cancel: encodeInteractionCancel }),
  }
}
