import type { Adapter } from './contract.ts'
import { type HearLimits, hear } from './hear.ts'
import { responsesDialect } from './openai-responses-decode.ts'
import { encodeCancel, encodeResponses, encodeResume } from './openai-responses-encode.ts'
import { type ResponsesQuirks, responsesQuirksOf } from './openai-responses-quirks.ts'

export interface ResponsesAdapterOptions {
  /** Who answers, as stored in messages. Thinking and proofs go back only to the provider that wrote them. @default 'openai' */
  provider?: string
  /**
   * What the server calls the model in its answers, where that is not what it is asked for by, as with Azure's deployments:
   * proofs of thinking are good for one model only. A date at the end does not count.
   * @default the model that is asked
   */
  modelName?: string
  /** Whether thinking is to be told in a summary; OpenAI wants organisations to prove who they are first. @default no */
  summary?: 'auto' | 'concise' | 'detailed'
  /** Whether the provider writes the answer, and keeps it for a while, without a reader too. @default false */
  background?: boolean
  /** What this server does differently, such as a row of `RESPONSES_QUIRKS`. */
  quirks?: ResponsesQuirks
  limits?: HearLimits
}

/** OpenAI's Responses API, and every server that speaks it. */
export function responsesAdapter(options: ResponsesAdapterOptions = {}): Adapter {
  const { provider = 'openai', quirks, limits, ...more } = options
  return {
    dialect: 'openai-responses',
    encode: (context, call) =>
      encodeResponses(context, call, { ...more, provider, quirks: responsesQuirksOf(call.model, quirks) }),
    decode: (response) => hear(response, responsesDialect, { provider, limits }),
    // Only what is written in the background is kept so that it can be heard again.
    ...(options.background && { resume: encodeResume, cancel: encodeCancel }),
  }
}
