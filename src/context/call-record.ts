import * as z from 'zod/mini'
import { ErrorData } from '../lib/error-data.ts'
import { type Message, StopReason, Usage } from '../message/schema.ts'

const tokens = z.optional(z.number())
const Decision = z.object({ id: z.string(), reason: z.optional(z.string()), tokens })

/** What a model call was given to see. No content: ids, reasons and numbers. */
export const SentContext = z.object({
  /** Messages in it, in their order, with the reason and the estimate of each. */
  included: z.array(Decision),
  /** Messages that stayed out, the newest 200. */
  dropped: z.array(Decision),
  /** How many messages stayed out. */
  left: z.number(),
  /** Names of the policies that changed something, in their order. */
  policies: z.optional(z.array(z.string())),
  /** Tokens as estimated, everything together. */
  estimated: tokens,
  /** The same before anything was cut. */
  before: tokens,
  /** Estimated tokens by part: `system`, `tools`, `history` and so on. A list, since records are dear in zod. */
  sections: z.optional(z.array(z.object({ name: z.string(), tokens: z.number() }))),
  /** How many secrets were replaced. */
  redacted: z.optional(z.number()),
})
export type SentContext = z.infer<typeof SentContext>

/** One model call: what went in, and what came back. Plain JSON without content and without keys. */
export const CallRecord = z.object({
  id: z.string(),
  sessionId: z.string(),
  runId: z.string(),
  /** The answer it was made for. */
  messageId: z.string(),
  /** 0 for the first of an answer; more where it was tried again. */
  attempt: z.number(),
  provider: z.string(),
  /** The model that was asked for. */
  model: z.string(),
  /** The model that answered, where the provider says so. */
  answeredBy: z.optional(z.string()),
  /** Milliseconds since the epoch; for display. */
  startedAt: z.number(),
  /** Of the W3C trace that the request is a step of. */
  traceId: z.string(),
  spanId: z.string(),
  /** Absent where an answer was gone on with: then nothing new was sent. */
  sent: z.optional(SentContext),
  status: z.enum(['completed', 'failed', 'interrupted']),
  stopReason: StopReason,
  /** As the provider counted. */
  usage: z.optional(Usage),
  /** Milliseconds from the request to the first that was heard. */
  firstByte: z.optional(z.number()),
  /** Milliseconds from the request to its end. */
  duration: z.number(),
  /** Of a call that did not complete. */
  error: z.optional(ErrorData),
})
export type CallRecord = z.infer<typeof CallRecord>

/** What a context says of itself, as far as it does. */
export interface Account {
  messages: readonly Pick<Message, 'id'>[]
  included?: readonly { id: string; reason?: string; tokens?: number }[]
  dropped?: readonly { id: string; reason?: string; tokens?: number }[]
  tokens?: number
  before?: number
  sections?: Readonly<Record<string, number>>
  policies?: readonly string[]
  redacted?: number
}

/** Of a long history, most is left out of every call: the record names the newest of that, and counts the rest. */
const MOST_DROPPED = 200

const decision = ({ id, reason, tokens }: z.infer<typeof Decision>) => ({
  id,
  ...(reason !== undefined && { reason }),
  ...(tokens !== undefined && { tokens }),
})

/** What the record of a call keeps of its context. */
export function sentOf(context: Account): SentContext {
  const {
    messages,
    included = messages,
    dropped = [],
    tokens,
    before,
    sections,
    policies,
    redacted,
  } = context
  return {
    included: included.map(decision),
    dropped: dropped.slice(-MOST_DROPPED).map(decision),
    left: dropped.length,
    ...(policies && { policies: [...policies] }),
    ...(tokens !== undefined && { estimated: tokens }),
    ...(before !== undefined && { before }),
    ...(sections && { sections: Object.entries(sections).map(([name, tokens]) => ({ name, tokens })) }),
    ...(redacted !== undefined && { redacted }),
  }
}
