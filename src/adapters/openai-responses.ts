import type { Adapter } from './contract.ts'
import { type HearLimits, hear } from './hear.ts'
import { responsesDialect } from './openai-responses-decode.ts'
import {
  encodeCancel,
  encodeResponses,
  encodeResume,
  type ResponsesTarget,
} from './openai-responses-encode.ts'
import { type ResponsesQuirks, responsesQuirksOf } from './openai-responses-quirks.ts'

export interface ResponsesAdapterOptions extends Partial<Omit<ResponsesTarget, 'quirks'>> {
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
