import { type ErrorCode, ErrorData } from '../../lib/error-data.ts'
import { errorData, TidemarkError } from '../../lib/errors.ts'

/** The status of an answer that fails by this code, where the error names none. */
const STATUS: Readonly<Record<ErrorCode, number>> = {
  aborted: 499,
  timeout: 504,
  network: 502,
  'rate-limit': 429,
  auth: 401,
  'invalid-request': 400,
  'invalid-output': 422,
  'context-overflow': 400,
  refusal: 422,
  server: 500,
  protocol: 502,
  storage: 503,
  quota: 507,
  conflict: 409,
  'not-found': 404,
}

/** What is told to a caller: our own errors in their words, any other only as having happened. */
export function publicError(thrown: unknown): ErrorData {
  if (!(thrown instanceof TidemarkError)) return { code: 'server', message: 'the server failed', status: 500 }
  const data = errorData(thrown)
  return { ...data, status: data.status ?? STATUS[data.code] }
}

/** An error as an answer: `{ error }`, with `Retry-After` where there is something to wait for. */
export function errorResponse(error: ErrorData, headers: Readonly<Record<string, string>> = {}): Response {
  const status = error.status ?? STATUS[error.code]
  const wait = error.retryAfter
  return jsonResponse({ error: ErrorData.parse(error) }, status, {
    ...(wait !== undefined && { 'retry-after': String(Math.ceil(wait / 1000)) }),
    ...headers,
  })
}

/** JSON that nobody may keep or take for something else. */
export function jsonResponse(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    },
  })
}

/** Whether a failure is the server's own and its operator should hear of it. */
export const isUnexpected = (thrown: unknown): boolean =>
  !(thrown instanceof TidemarkError) || ['storage', 'quota', 'protocol'].includes(thrown.code)
