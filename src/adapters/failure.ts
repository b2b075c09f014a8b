import type { ErrorCode, ErrorData } from '../lib/errors.ts'
import { count, isRecord, type JsonRecord, list, parseJson, record, string } from './json.ts'
import { isOverflow } from './overflow.ts'

/** What is known of a failed call besides its body. */
export interface FailureContext {
  provider: string
  /** HTTP status of the answer; errors also come inside a 200. */
  status: number
  headers: { get(name: string): string | null }
}

/** Most characters of a provider's words that we repeat. */
const LONGEST = 2_000

const REQUEST_ID_HEADERS = [
  'x-request-id',
  'request-id',
  'apim-request-id',
  'x-amzn-requestid',
  'x-ms-request-id',
]

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'auth',
  402: 'quota',
  403: 'auth',
  404: 'not-found',
  408: 'timeout',
  409: 'conflict',
  410: 'not-found',
  429: 'rate-limit',
  504: 'timeout',
  524: 'timeout',
}

/** Words of providers' `type`, `code` and `status` fields, most telling first. They outrank the HTTP status. */
const BY_WORD: readonly (readonly [RegExp, ErrorCode])[] = [
  [/insufficient_(quota|balance|credits)|current_quota|billing|payment_required|arrearage/i, 'quota'],
  [/rate_?limit|too_many_requests|resource_exhausted|throttl/i, 'rate-limit'],
  [
    /invalid_api_key|authentication|unauthori[sz]ed|unauthenticated|permission|access_denied|forbidden/i,
    'auth',
  ],
  [/content_?filter|content_policy|safety|data_inspection_failed|responsibleai/i, 'refusal'],
  [/model_not_found|not_found|deploymentnotfound/i, 'not-found'],
  [/overloaded|server_error|internal|unavailable|bad_gateway/i, 'server'],
  [/deadline_exceeded|timeout/i, 'timeout'],
  [/invalid|unsupported|tool_use_failed|decommissioned|bad_request/i, 'invalid-request'],
]

/**
 * The error in a piece of JSON, in any of the shapes that providers use: `{ error: { … } }`, `{ error: '…' }`,
 * `{ detail: … }`, `{ message, code }`, a list of such; undefined where there is none. `surely`: the caller already
 * knows that it is one, so a bare message is enough.
 */
export function errorIn(value: unknown, surely = false): JsonRecord | undefined {
  if (Array.isArray(value)) return errorIn(value[0], surely)
  if (!isRecord(value)) return undefined
  const { error } = value
  if (isRecord(error)) return { request_id: value.request_id, ...error }
  if (typeof error === 'string' && error !== '') return { ...value, message: error }
  if (value.choices !== undefined) return undefined
  if (value.object === 'error' || value.type === 'error') return value
  const detail = typeof value.detail === 'string' ? value.detail : record(list(value.detail)[0]).msg
  if (typeof detail === 'string' && detail !== '') return { ...value, message: detail }
  const message = value.message ?? value.msg
  return surely && typeof message === 'string' ? { ...value, message } : undefined
}

/** Whatever a failed call answered, as error data with the provider's own words. */
export function failureOf(body: string, context: FailureContext): ErrorData {
  const found = errorIn(parseJson(body)?.value, true)
  const text = body.trim()
  const plain = text === '' || text.startsWith('<') ? `HTTP ${context.status}` : text
  return failureFrom(found ?? { message: plain }, context)
}

/** An error object that was found in an answer, as error data. */
export function failureFrom(error: JsonRecord, context: FailureContext): ErrorData {
  const message = messageOf(error)
  const inner = count(error.code) ?? count(error.status_code) ?? count(error.http_code) ?? 0
  const status = context.status >= 400 ? context.status : inner >= 400 && inner < 600 ? inner : undefined
  const requestId = string(error.request_id) || headerOf(context, REQUEST_ID_HEADERS)
  return {
    code: codeOf(error, message, status),
    message: message.slice(0, LONGEST),
    provider: context.provider,
    ...(status === undefined ? {} : { status }),
    ...(requestId === '' ? {} : { requestId }),
  }
}

function codeOf(error: JsonRecord, message: string, status: number | undefined): ErrorCode {
  if (isOverflow(message)) return 'context-overflow'
  const words = [error.code, error.type, error.status].filter((word) => typeof word === 'string').join(' ')
  const byStatus =
    status === undefined ? undefined : (BY_STATUS[status] ?? (status < 500 ? 'invalid-request' : 'server'))
  // A status that says little (400, 5xx) yields to a word that says more; a telling one (401, 404) stands.
  const vague =
    byStatus === undefined || byStatus === 'invalid-request' || byStatus === 'server' || status === 429
  const byWord = vague ? BY_WORD.find(([pattern]) => pattern.test(words))?.[1] : undefined
  if (status === 429 && byWord !== 'quota') return 'rate-limit'
  return byWord ?? byStatus ?? 'server'
}

/** The provider's words, with what it put beside them: its code, an upstream's answer, a generation that failed. */
function messageOf(error: JsonRecord): string {
  const { code, metadata, failed_generation: failed } = error
  let message =
    string(error.message) || string(error.code) || string(error.type) || 'the provider reported an error'
  const raw = string(record(metadata).raw)
  if (raw !== '') message += `: ${raw}`
  for (const word of [code, error.type === 'invalid_request_error' ? '' : error.type])
    if (typeof word === 'string' && word !== '' && !message.includes(word)) message += ` (${word})`
  if (typeof failed === 'string' && failed !== '') message += `; failed generation: ${failed}`
  return message
}

function headerOf({ headers }: FailureContext, names: readonly string[]): string {
  for (const name of names) {
    const value = headers.get(name)
    if (value) return value
  }
  return ''
}
