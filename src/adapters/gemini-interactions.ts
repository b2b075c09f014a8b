import type { Adapter, HearLimits } from './adapter.ts'
import { CALL_ID } from './gemini-encode.ts'
import { interactionsDialect } from './gemini-interactions-decode.ts'
import {
  encodeInteraction,
  encodeInteractionCancel,
  encodeInteractionResume,
} from './gemini-interactions-encode.ts'

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
export const interactionsAdapter = ({
  provider = 'google-interactions',
  background = false,
  limits,
}: InteractionsAdapterOptions = {}): Adapter => ({
  dialect: 'gemini-interactions',
  provider,
  limits,
  callIds: CALL_ID,
  encode: (context, call) => encodeInteraction(context, call, background),
  hears: interactionsDialect(background),
  ...(background && { resume: (id) => encodeInteractionResume(id), cancel: encodeInteractionCancel }),
})
