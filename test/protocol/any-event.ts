import * as fc from 'fast-check'
import { ErrorCode } from '../../src/lib/error-data.ts'
import { Status, StopReason } from '../../src/message/schema.ts'
import { SESSION } from './server-model.ts'

const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/)
const count = fc.nat()
const words = fc.string({ unit: 'binary', maxLength: 12 })
const name = fc.constantFrom('p', 'openai', 'µ', '')

/** JSON as it comes out of a parser: -0 is 0 there. */
const json = fc.jsonValue({ maxDepth: 3 }).map((value): unknown => JSON.parse(JSON.stringify(value)))
const something = json.filter((value) => value !== null)
const metadata = fc.dictionary(
  fc.oneof(fc.constantFrom('constructor', 'toString', 'a'), words).filter((key) => key !== '__proto__'),
  json,
  { maxKeys: 3 },
)

const signature = words
const blocks = {
  text: fc.record({ type: fc.constant('text'), text: words, signature }, { requiredKeys: ['type', 'text'] }),
  thinking: fc.record(
    { type: fc.constant('thinking'), text: words, signature, redacted: fc.boolean() },
    { requiredKeys: ['type', 'text'] },
  ),
  toolCall: fc.record(
    {
      type: fc.constant('toolCall'),
      id: words.filter((text) => text !== ''),
      name,
      arguments: something,
      rawArguments: words,
      server: fc.boolean(),
      signature,
    },
    { requiredKeys: ['type', 'id', 'name'] },
  ),
  image: fc.record(
    { type: fc.constant('image'), mimeType: name, data: words, url: words, attachmentId: id, name: words },
    { requiredKeys: ['type', 'mimeType'] },
  ),
  file: fc.record(
    { type: fc.constant('file'), mimeType: name, data: words, url: words, attachmentId: id, name: words },
    { requiredKeys: ['type', 'mimeType'] },
  ),
  source: fc.record(
    { type: fc.constant('source'), url: words, title: words },
    { requiredKeys: ['type', 'url'] },
  ),
  other: fc.record({ type: fc.constant('other'), provider: name, raw: something }),
}
const userBlock = fc.oneof(blocks.text, blocks.image, blocks.file)
const assistantBlock = fc.oneof(
  blocks.text,
  blocks.thinking,
  blocks.toolCall,
  blocks.image,
  blocks.source,
  blocks.other,
)

const error = fc.record(
  {
    code: fc.constantFrom(...ErrorCode.options),
    message: words,
    status: count,
    retryAfter: count,
    requestId: words,
    provider: name,
  },
  { requiredKeys: ['code', 'message'] },
)
const usage = fc.record(
  { input: count, output: count, cacheRead: count, cacheWrite: count, total: count, reasoning: count },
  { requiredKeys: ['input', 'output', 'cacheRead', 'cacheWrite', 'total'] },
)
const status = fc.constantFrom(...Status.options)

const required = {
  id,
  sessionId: fc.constant(SESSION),
  parentId: fc.option(id),
  status,
  createdAt: count,
  updatedAt: count,
  v: fc.constant(1),
}
const optional = { clientId: id, seq: count, rev: count, tokenCount: count, error, metadata }
const requiredKeys = [...(Object.keys(required) as (keyof typeof required)[]), 'role', 'content'] as const

const few = <T>(items: fc.Arbitrary<T>) => fc.array(items, { maxLength: 3 })
const messages = {
  system: fc.record(
    { ...required, ...optional, role: fc.constant('system'), content: few(blocks.text) },
    { requiredKeys: [...requiredKeys] },
  ),
  user: fc.record(
    { ...required, ...optional, role: fc.constant('user'), content: few(userBlock), name: words },
    { requiredKeys: [...requiredKeys] },
  ),
  assistant: fc.record(
    {
      ...required,
      ...optional,
      role: fc.constant('assistant'),
      content: few(assistantBlock),
      provider: name,
      model: name,
      runId: id,
      responseId: words,
      usage,
      stopReason: fc.constantFrom(...StopReason.options),
    },
    { requiredKeys: [...requiredKeys] },
  ),
  tool: fc.record(
    {
      ...required,
      ...optional,
      role: fc.constant('tool'),
      content: few(fc.oneof(blocks.text, blocks.image)),
      toolCallId: words.filter((text) => text !== ''),
      toolName: name,
      details: something,
      isError: fc.boolean(),
    },
    { requiredKeys: [...requiredKeys, 'toolCallId', 'toolName', 'isError'] },
  ),
}
export const anyMessage = fc.oneof(...Object.values(messages))

const session = fc.record(
  {
    id: fc.constant(SESSION),
    title: words,
    createdAt: count,
    updatedAt: count,
    metadata,
    headId: fc.option(id),
    seq: count,
    rev: count,
    v: fc.constant(1),
  },
  { requiredKeys: ['id', 'createdAt', 'updatedAt', 'metadata', 'headId', 'v'] },
)

const of = <T extends string>(type: T) => fc.constant(type)
/** The event names its message twice. */
const named = <T extends { id: string; message?: { id: string } }>(event: T): T =>
  event.message ? { ...event, id: event.message.id } : event

/** Every event that can be written, with every field that it may have, and without. */
export const anyEvent = {
  'message.created': fc.record(
    { type: of('message.created'), message: anyMessage, clientId: id },
    { requiredKeys: ['type', 'message'] },
  ),
  'message.started': fc.record(
    { type: of('message.started'), id, runId: id, rev: count, provider: name, model: name, status },
    { requiredKeys: ['type', 'id'] },
  ),
  'message.delta': fc.record(
    { type: of('message.delta'), id, index: count, block: assistantBlock, delta: words, offset: count },
    { requiredKeys: ['type', 'id', 'index', 'delta'] },
  ),
  'message.completed': fc.record({ type: of('message.completed'), message: anyMessage }),
  'message.finished': fc.record(
    { type: of('message.finished'), id, content: few(assistantBlock) },
    { requiredKeys: ['type', 'id'] },
  ),
  'message.failed': fc
    .record(
      { type: of('message.failed'), id, rev: count, error, message: anyMessage },
      { requiredKeys: ['type', 'id', 'error'] },
    )
    .map(named),
  'message.interrupted': fc
    .record(
      { type: of('message.interrupted'), id, rev: count, message: anyMessage },
      { requiredKeys: ['type', 'id'] },
    )
    .map(named),
  'message.updated': fc.record({ type: of('message.updated'), message: anyMessage }),
  'message.deleted': fc.record({ type: of('message.deleted'), id, rev: count }),
  'session.updated': fc.record({ type: of('session.updated'), session }),
  'session.deleted': fc.record({ type: of('session.deleted'), id: fc.constant(SESSION), rev: count }),
  'run.started': fc.record({ type: of('run.started'), runId: id }),
  'run.waiting': fc.record({ type: of('run.waiting'), runId: id, calls: few(words) }),
  'run.finished': fc.record(
    {
      type: of('run.finished'),
      runId: id,
      outcome: fc.constantFrom('completed', 'failed', 'interrupted'),
      usage,
    },
    { requiredKeys: ['type', 'runId', 'outcome'] },
  ),
  gap: fc.record(
    {
      type: of('gap'),
      from: count,
      to: count,
      reason: fc.constantFrom('trimmed', 'diverged', 'restarted'),
    },
    { requiredKeys: ['type', 'reason'] },
  ),
}

/** The number of an event, as a server gives it. */
export const anyEventId = fc.record({ n: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), tag: id })

export const anyJson: fc.Arbitrary<unknown> = json
