import type { Adapter, HearLimits } from './adapter.ts'
import { responsesDialect } from './openai-responses-decode.ts'
import { CALL_ID, encodeCancel, encodeResponses, encodeResume } from './openai-responses-encode.ts'
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
export const responsesAdapter = ({
  provider = 'openai',
  modelName,
  quirks,
  limits,
  summary,
  background,
}: ResponsesAdapterOptions = {}): Adapter => ({
  dialect: 'openai-responses',
  provider,
  limits,
  callIds: CALL_ID,
  trusts: (writer, model) => undated(writer) === undated(modelName ?? model),
  encode: (context, call) =>
    encodeResponses(context, call, { summary, background, quirks: responsesQuirksOf(call.model, quirks) }),
  hears: responsesDialect,
  // Only what is written in the background is kept so that it can be heard again.
  ...(background && { resume: encodeResume, cancel: encodeCancel }),
})

/** Asked for by its name, a model answers as the version of a day. */
const undated = (model = ''): string => model.replace(/-\d{4}-\d\d-\d\d$/, '')
