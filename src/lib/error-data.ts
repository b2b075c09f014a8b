import * as z from 'zod/mini'

/** What kind of failure it is; the only thing code should branch on. */
export const ErrorCode = z.enum([
  'aborted',
  'timeout',
  'network',
  'rate-limit',
  'auth',
  'invalid-request',
  'invalid-output',
  'context-overflow',
  'refusal',
  'server',
  'protocol',
  'storage',
  'quota',
  'conflict',
  'not-found',
])
export type ErrorCode = z.infer<typeof ErrorCode>

/** An error as plain data: what is stored with a message and sent over the wire. Never holds a key. */
export const ErrorData = z.object({
  code: ErrorCode,
  /** For people; where a provider failed, its own words. */
  message: z.string(),
  /** HTTP status, where there was one. */
  status: z.optional(z.number()),
  /** With `invalid-request`: the field of the request that names something which the other side does not have. */
  field: z.optional(z.string()),
  /** Milliseconds to wait before trying again, as asked by the other side. */
  retryAfter: z.optional(z.number()),
  /** The provider's or server's id of the failed request. */
  requestId: z.optional(z.string()),
  /** Of the W3C trace that the failed request was a step of. */
  traceId: z.optional(z.string()),
  provider: z.optional(z.string()),
  /** With `context-overflow`, where they are known: what the request needs, and what there is room for. */
  tokens: z.optional(z.object({ needed: z.number(), available: z.number() })),
})
export type ErrorData = z.infer<typeof ErrorData>
