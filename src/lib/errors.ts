import type { ErrorCode, ErrorData } from './error-data.ts'

/** The one error class. Failures of a call are thrown as this; failures inside a stream are events that carry its data. */
export class TidemarkError extends Error {
  readonly code: ErrorCode
  readonly data: ErrorData

  constructor(
    code: ErrorCode,
    message: string,
    details: Omit<ErrorData, 'code' | 'message'> & { cause?: unknown } = {},
  ) {
    const { cause, ...rest } = details
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'TidemarkError'
    this.code = code
    this.data = { code, message, ...rest }
  }
}

/** The error thrown by `new TidemarkError`, made again from its data. */
export const errorFrom = (data: ErrorData): TidemarkError => new TidemarkError(data.code, data.message, data)

/** Any thrown value as error data, also what cannot be looked at; what is not a `TidemarkError` gets `fallback` as its code. */
export function errorData(thrown: unknown, fallback: ErrorCode = 'server'): ErrorData {
  try {
    if (thrown instanceof TidemarkError) return thrown.data
    const message = String((thrown instanceof Error && thrown.message) || thrown)
    return { code: isAbort(thrown) ? 'aborted' : fallback, message }
  } catch {
    return { code: fallback, message: 'something was thrown that has no words' }
  }
}

/** Whether a value was thrown because somebody aborted (`AbortSignal` throws a `DOMException` of this name). */
export const isAbort = (thrown: unknown): boolean =>
  (thrown instanceof TidemarkError && thrown.code === 'aborted') ||
  (typeof thrown === 'object' && thrown !== null && 'name' in thrown && thrown.name === 'AbortError')

const RETRYABLE: Readonly<Record<ErrorCode, boolean>> = {
  aborted: false,
  timeout: true,
  network: true,
  'rate-limit': true,
  auth: false,
  'invalid-request': false,
  'invalid-output': false,
  'context-overflow': false,
  refusal: false,
  server: true,
  protocol: false,
  storage: false,
  quota: false,
  conflict: false,
  'not-found': false,
}

/** Whether the same request may succeed later, unchanged. */
export const isRetryable = (error: { code: ErrorCode }): boolean => RETRYABLE[error.code]
