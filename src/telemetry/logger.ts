import type { CallRecord } from '../context/call-record.ts'
import type { ErrorCode } from '../lib/error-data.ts'
import { expectOption } from '../lib/expect.ts'
import type { WatchCalls } from '../turn/watch.ts'

/** One model call as a line of a log: plain JSON, flat, without content and without keys. */
export interface CallLine {
  session: string
  run: string
  /** The answer that the call was made for, and its role. */
  message: string
  role: 'assistant'
  status: CallRecord['status']
  stopReason: CallRecord['stopReason']
  provider: string
  model: string
  /** 0 for the first of an answer. */
  attempt: number
  /** Tokens of the request as estimated, where somebody did. */
  estimate?: number
  /** Tokens of the request as the provider counted them, cached ones included. */
  actual?: number
  /** Tokens of the answer as the provider counted them. */
  output?: number
  /** Milliseconds to the first that was heard, and to the end. */
  firstByte?: number
  latency: number
  /** Of what went wrong. */
  error?: ErrorCode
  trace: string
}

function lineOf(record: CallRecord): CallLine {
  const { usage, sent, firstByte, error } = record
  return {
    session: record.sessionId,
    run: record.runId,
    message: record.messageId,
    role: 'assistant',
    status: record.status,
    stopReason: record.stopReason,
    provider: record.provider,
    model: record.answeredBy ?? record.model,
    attempt: record.attempt,
    ...(sent?.estimated !== undefined && { estimate: sent.estimated }),
    ...(usage && { actual: usage.input + usage.cacheRead + usage.cacheWrite, output: usage.output }),
    ...(firstByte !== undefined && { firstByte }),
    latency: record.duration,
    ...(error && { error: error.code }),
    trace: record.traceId,
  }
}

/**
 * Logs each model call when it is over, in one line. What `log` throws is ignored, also where it answers with a promise.
 * @example
 * direct({ model, watch: [logger((line) => console.info(JSON.stringify(line)))] })
 */
export function logger(log: (line: CallLine) => void): WatchCalls {
  // What a log throws is ignored: without this nobody would know why nothing is logged.
  expectOption(typeof log === 'function', 'log: expected a function that takes a line')
  return () => ({ end: (record) => log(lineOf(record)) })
}
