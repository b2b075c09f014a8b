import type { ErrorCode, ErrorData } from '../lib/error-data.ts'
import { errorData, TidemarkError } from '../lib/errors.ts'
import { isRecord } from '../protocol/lenient.ts'
import type { RawResponse } from './contract.ts'
import { count, type JsonRecord, list, parseJson, record, string } from './json.ts'
import { isOverflow, overflowIn } from './overflow.ts'

/** Most characters of a provider's words that we repeat. */
const LONGEST = 2_000

const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'apim-request-id', 'x-amzn-requestid']

/** What `<status> <code> <type>` means; the first row that fits counts. */
const MEANINGS: readonly (readonly [RegExp, ErrorCode])[] = [
  [/^402|quota|balance|billing/i, 'quota'],
  [/^429|rate.?limit|too_many|exhausted|throttl/i, 'rate-limit'],
  [/^40[13]|api.key|authent|permission|denied/i, 'auth'],
  [/content_?(filter|policy)|safety/i, 'refusal'],
  [/^4(04|10)|not_?found/i, 'not-found'],
  [/^(408|504|524)|timeout|deadline/i, 'timeout'],
  [/^5|overload|server|internal|unavailable/i, 'server'],
  [/^4|invalid|unsupported|failed/i, 'invalid-request'],
]

/** What words mean where there is nothing else to go by; none of them is the fault of a request by its sound. */
const IN_WORDS: typeof MEANINGS = [
  [/too many requests|capacity|busy/i, 'rate-limit'],
  [/not (found|exist)|no such/i, 'not-found'],
  ...MEANINGS.slice(0, -1),
]

const meaningOf = (told: string, meanings: typeof MEANINGS): ErrorCode | undefined =>
  meanings.find(([pattern]) => pattern.test(told))?.[1]

/** Where words of an error stand, the best first. Anything of these may be an object, a list, or JSON in a text. */
const WORDS = [
  'message',
  'msg',
  'error_description',
  'detail',
  'error',
  'errors',
  'title',
  'Message',
] as const

/** What an error says in words, wherever they stand; empty where it says nothing. */
function wordsIn(value: unknown): string {
  if (typeof value === 'string') {
    const inner = /^\s*["[{]/.test(value) ? wordsIn(parseJson(value)?.value) : ''
    return inner || value
  }
  if (Array.isArray(value)) return value.map(wordsIn).filter(Boolean).join('; ')
  if (!isRecord(value)) return ''
  for (const key of WORDS) {
    const words = wordsIn(value[key])
    if (words !== '') return words
  }
  return ''
}

/**
 * The error in a piece of JSON, in any of the shapes that providers use: `{ error: { … } }`, `{ error: '…' }`,
 * `{ errors: [ … ] }`, `{ detail: … }`, `{ object: 'error', … }`, a list of such; undefined where there is none. `surely`: the
 * caller already knows that it is one, so a bare message is enough.
 */
export function errorIn(value: unknown, surely = false): JsonRecord | undefined {
  if (Array.isArray(value)) return errorIn(value[0], surely)
  if (!isRecord(value)) return undefined
  const { error, errors, detail, choices, request_id } = value
  const inner = isRecord(error) ? error : list(errors)[0]
  if (isRecord(inner)) return { request_id, ...inner }
  const bare = surely || value.object === 'error' || value.type === 'error'
  const message =
    string(error) || wordsIn(errors) || (choices === undefined && wordsIn(bare ? value : { detail }))
  return message ? { ...value, message: wordsIn(value) } : undefined
}

/** The provider's id of a request; empty where it gives none. */
export const requestIdOf = (headers: RawResponse['headers']): string =>
  REQUEST_ID_HEADERS.map((name) => headers.get(name)).find((id) => id) ?? ''

/** Whatever a failed call answered, or an event that says so, as error data with the provider's own words. */
export function failureOf(body: string, status: number): ErrorData {
  const text = body.trim()
  // A page is of no use to anybody.
  const message = /^(<|$)/.test(text) ? `HTTP ${status}` : text
  return failureFrom(errorIn(parseJson(text)?.value, true) ?? { message }, status)
}

/** An error object that was found in an answer, as error data. Errors also come inside a 200. */
export function failureFrom(error: JsonRecord, outer = 200): ErrorData {
  const codes = [outer, error.code, error.status_code, error.statusCode, error.status].map(Number)
  const status = codes.find((it) => it >= 400 && it < 600)
  const word = string(error.code) || string(error.type)
  let message = wordsIn(error) || word || 'unknown error'
  // What it put beside its words: an upstream's answer, its own code, a generation that failed.
  for (const more of [wordsIn(record(error.metadata).raw), word, string(error.failed_generation)])
    if (!/^(about|https?|urn):/.test(more) && !message.includes(more)) message += ` (${more})`
  const requestId = string(error.request_id)
  // Google puts into details what kind of refusal it is, and how long to wait.
  const details = list(error.details).map(record)
  const of = (name: string) => details.map((detail) => string(detail[name]))
  // xAI says only in words, under a 400, that it does not know the key.
  const aboutKey = /incorrect api key/i.exec(message)
  const told = [status, error.code, error.type, error.status, ...of('reason'), aboutKey].join(' ')
  const seconds = Number.parseFloat(of('retryDelay').join(''))
  // Where nothing else tells, the words do.
  const code = meaningOf(told, MEANINGS) ?? meaningOf(message, IN_WORDS) ?? 'server'
  const overflows = isOverflow(message)
  const tokens = overflows && overflowIn(message)
  return {
    code: overflows ? 'context-overflow' : code,
    message: message.slice(0, LONGEST),
    ...(status && { status }),
    ...(tokens && { tokens }),
    ...(requestId && { requestId }),
    ...(seconds >= 0 && { retryAfter: seconds * 1_000 }),
  }
}

/** What a model threw, though it should not. An SDK's error has the status and the words of the call that failed. */
export function failureThrown(thrown: unknown): ErrorData {
  const data = errorData(thrown, 'protocol')
  const { status, error, requestID } = record(thrown)
  const outer = count(status)
  if (thrown instanceof TidemarkError || outer === undefined) return data
  return failureFrom({ message: data.message, ...errorIn(error, true), request_id: requestID }, outer)
}
