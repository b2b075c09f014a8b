import type { Env } from './env.ts'

/** What a `traceparent` names: the whole of what somebody did, and one step of it. */
export interface TraceIds {
  /** 32 hexadecimal digits. */
  traceId: string
  /** 16 hexadecimal digits. */
  spanId: string
}

// Versions to come may add fields at the end: https://www.w3.org/TR/trace-context/#versioning-of-traceparent
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/

/** The ids in a `traceparent`; undefined where it is none. */
export function traceOf(traceparent: string | null | undefined): TraceIds | undefined {
  const [, traceId, spanId] = TRACEPARENT.exec(traceparent ?? '') ?? []
  return traceId && spanId ? { traceId, spanId } : undefined
}

/** Hexadecimal digits, eight at a time, of which no eight are zero: an id of zeros is none. */
function digits(count: number, random: Env['random']): string {
  let text = ''
  while (text.length < count) text += (Math.floor(random() * (2 ** 32 - 1)) + 1).toString(16).padStart(8, '0')
  return text
}

/**
 * A W3C `traceparent` for a request: the next step of the trace that `parent` is of, or the first of a new one. Whoever
 * began a trace says whether it is sampled; a new one is.
 */
export function traceparentAfter(parent: string | null | undefined, random: Env['random']): string {
  const [, traceId = digits(32, random), , flags = '01'] = TRACEPARENT.exec(parent ?? '') ?? []
  return `00-${traceId}-${digits(16, random)}-${flags}`
}
