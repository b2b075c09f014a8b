import type * as z from 'zod/mini'
import { TidemarkError } from '../../lib/errors.ts'
import { withoutNulls } from '../../protocol/lenient.ts'

const invalid = (message: string, status = 400): TidemarkError =>
  new TidemarkError('invalid-request', message, { status })

/** A body's bytes; more than `max` are refused as soon as they are seen, whatever the headers say. */
export async function readBytes(request: Request, max: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => invalid(`the body is larger than ${max} bytes`, 413)
  if (Number(request.headers.get('content-length')) > max) throw tooLarge()
  if (!request.body) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body) {
    size += chunk.byteLength
    // Leaving the loop cancels the rest.
    if (size > max) throw tooLarge()
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

/** Refuses what is nested deeper than `depth`, and keys that name a prototype. */
function assertPlain(value: unknown, depth: number): void {
  const open: { value: unknown; depth: number }[] = [{ value, depth }]
  for (let next = open.pop(); next; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue
    if (next.depth === 0) throw invalid(`the body is nested deeper than ${depth} levels`)
    if (Object.hasOwn(next.value, '__proto__')) throw invalid('the body has a key named __proto__')
    for (const inner of Object.values(next.value)) open.push({ value: inner, depth: next.depth - 1 })
  }
}

export interface JsonLimits {
  /** Bytes. */
  body: number
  /** Levels of nesting. */
  depth: number
}

/** A body that says it is JSON, parsed; what is null is absent. A plain form of another site cannot say so without asking first. */
export async function readJson(request: Request, limits: JsonLimits): Promise<unknown> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw invalid('content-type: expected application/json', 415)
  }
  const bytes = await readBytes(request, limits.body)
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new TidemarkError('invalid-request', 'the body is not JSON', { status: 400, cause })
  }
  assertPlain(value, limits.depth)
  return withoutNulls(value)
}

type Issue = z.core.$ZodIssue

/** What was expected, in words. */
function expectation(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${issue.expected}`
    case 'invalid_value':
      return `expected ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    case 'too_small':
      return `expected at least ${issue.minimum}`
    case 'too_big':
      return `expected at most ${issue.maximum}`
    case 'invalid_format':
      return issue.pattern ? `expected to match ${issue.pattern}` : `expected ${issue.format}`
    case 'invalid_union':
      return issue.discriminator ? `expected a known ${issue.discriminator}` : 'expected another form'
    default:
      return issue.message
  }
}

/** A value by its schema; the error names the first field that does not fit and what was expected there. */
export function parse<T extends z.ZodMiniType>(schema: T, value: unknown): z.output<T> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  if (!issue) throw invalid('the body does not fit')
  const known = issue.code === 'invalid_union' && issue.discriminator ? [...issue.path] : issue.path
  throw invalid(`${known.map(String).join('.') || 'body'}: ${expectation(issue)}`)
}

/** JSON with sorted keys, so that the same content is the same text. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`
}

/** SHA-256 of a JSON value, as hex; the order of keys makes no difference. */
export async function hashOf(value: unknown): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonical(value)))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
