import { ErrorCode } from '../lib/error-data.ts'
import type { SseFrame } from '../lib/sse.ts'
import { AssistantBlock, isId, Message } from '../message/schema.ts'
import { ChatEvent, type Envelope, type EventId, formatEventId, MessagePage, parseEventId } from './events.ts'
import {
  asBlocks,
  completeError,
  completeMessage,
  isRecord,
  type MessageDefaults,
  withoutNulls,
} from './lenient.ts'

/** What became of a frame. Unknown events are `ignored`; a known one that does not parse is something missing. */
export type Decoded =
  | { type: 'event'; envelope: Envelope }
  | { type: 'malformed'; event: string; problem: string }
  | { type: 'ignored' }

const IGNORED: Decoded = { type: 'ignored' }

/**
 * The frame of an event: its type as `event:`, the rest as `data:`, its number as `id:`. The end of a minimal server's
 * answer is written as such a server writes it.
 */
export function frameOf({ id, event }: Envelope): { id?: string; event: string; data: string } {
  const { type, ...data } = event
  const name = type === 'message.finished' ? 'message.completed' : type
  return { ...(id && { id: formatEventId(id) }), event: name, data: JSON.stringify(data) }
}

/** Ours alone: what canonical spelling and unknown names become. */
const INTERNAL: ReadonlySet<string> = new Set(['message.finished', 'unknown'])
const KNOWN: ReadonlySet<string> = new Set(
  ChatEvent.def.options
    .flatMap((option) => [...option.def.shape.type.options])
    .filter((type) => !INTERNAL.has(type)),
)
const isErrorCode = (code: unknown) => ErrorCode.safeParse(code).success

/** Whether a message says enough of itself to stand as an authoritative row. */
const isWhole = (message: unknown) =>
  isRecord(message) && message.v !== undefined && message.parentId !== undefined

/**
 * The spellings of a minimal server in ours, still unchecked. An end that does not carry a whole message only finishes
 * the one that was streamed: defaults must not overwrite what is known of it.
 */
function canonical(
  type: string,
  data: Record<string, unknown>,
  defaults: MessageDefaults,
): Record<string, unknown> {
  const event: Record<string, unknown> = { ...data, type }
  const { message } = data
  if (type === 'message.completed' && !isWhole(message)) {
    const { id, content } = isRecord(message) ? message : data
    return { type: 'message.finished', id, ...(content !== undefined && { content: asBlocks(content) }) }
  }
  if (type === 'message.failed') event.error = completeError(data.error, isErrorCode)
  if (type === 'message.failed' || type === 'message.interrupted') {
    if (!isWhole(message)) {
      delete event.message
      event.id ??= isRecord(message) ? message.id : undefined
    }
  } else if (isRecord(message)) event.message = completeMessage({ role: 'assistant', ...message }, defaults)
  return event
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** A delta is checked by hand: it is most of what comes, and a schema would cost more than the parsing. */
function decodeDelta(data: Record<string, unknown>): ChatEvent | undefined {
  const { id, delta } = data
  const index = data.index ?? 0
  const offset = data.offset ?? undefined
  const block = data.block ?? undefined
  if (typeof id !== 'string' || !isId(id) || typeof delta !== 'string' || !isCount(index)) return undefined
  const event: Extract<ChatEvent, { type: 'message.delta' }> = { type: 'message.delta', id, index, delta }
  if (offset !== undefined) {
    if (!isCount(offset)) return undefined
    event.offset = offset
  }
  if (block !== undefined) {
    const parsed = AssistantBlock.safeParse(withoutNulls(block))
    if (!parsed.success) return undefined
    event.block = parsed.data
  }
  return event
}

/** What an event speaks of that is not of this session, or not of one message. */
function foreign(event: ChatEvent, sessionId: string): string | undefined {
  if ('session' in event && event.session.id !== sessionId) return 'session.id: another session'
  if (event.type === 'session.deleted' && event.id !== sessionId) return 'id: another session'
  if (!('message' in event) || !event.message) return undefined
  if (event.message.sessionId !== sessionId) return 'message.sessionId: another session'
  return 'id' in event && event.id !== event.message.id ? 'message.id: another message' : undefined
}

const malformedEvent = (event: string, problem: string): Decoded => ({ type: 'malformed', event, problem })

function decodeEvent(
  type: string,
  data: Record<string, unknown>,
  defaults: MessageDefaults,
): Decoded | ChatEvent {
  try {
    if (type === 'message.delta') return decodeDelta(data) ?? malformedEvent(type, 'expected { id, delta }')
    const parsed = ChatEvent.safeParse(
      canonical(type, withoutNulls(data) as Record<string, unknown>, defaults),
    )
    if (!parsed.success) {
      const [issue] = parsed.error.issues
      return malformedEvent(type, `${issue?.path.join('.') || 'data'}: ${issue?.message}`)
    }
    const problem = foreign(parsed.data, defaults.sessionId)
    return problem === undefined ? parsed.data : malformedEvent(type, problem)
  } catch (error) {
    if (error instanceof RangeError) return malformedEvent(type, error.message)
    throw error
  }
}

/** An event that nobody here knows still takes its place among the numbered ones. */
const unknown = (id: EventId | undefined): Decoded =>
  id ? { type: 'event', envelope: { id, event: { type: 'unknown' } } } : IGNORED

/** Some servers spell names with an underscore, or name every frame `message`, which is what no name means. */
const nameOf = (name: unknown): string | undefined =>
  typeof name === 'string' && name !== 'message' ? name.replace('_', '.') : undefined

/**
 * A frame as an event. Event names may be spelt with underscores; a frame without a name says its type in the data.
 * @param defaults what a minimal server leaves out of its messages
 */
export function decodeFrame(frame: SseFrame, defaults: MessageDefaults): Decoded {
  const id = frame.id === undefined ? undefined : parseEventId(frame.id)
  const named = nameOf(frame.event)
  if (named !== undefined && !KNOWN.has(named)) return unknown(id)
  let data: unknown
  try {
    data = JSON.parse(frame.data)
  } catch {
    return named === undefined ? unknown(id) : malformedEvent(named, 'data is not JSON')
  }
  if (!isRecord(data))
    return named === undefined ? unknown(id) : malformedEvent(named, 'data is not an object')
  const type = named ?? nameOf(data.type)
  if (type === undefined || !KNOWN.has(type)) return unknown(id)
  const event = decodeEvent(type, data, defaults)
  if (event.type === 'malformed' || event.type === 'ignored' || event.type === 'event') return event
  return { type: 'event', envelope: id ? { id, event } : { event } }
}

/**
 * A page of messages from a server's answer; a bare array is one, too. Rows that do not parse are counted, not fatal:
 * the rest of the page stands. Undefined where nothing of it is a page.
 */
export function decodePage(
  value: unknown,
  defaults: MessageDefaults,
): { page: MessagePage; malformed: number } | undefined {
  const given = Array.isArray(value) ? { messages: value } : value
  if (!isRecord(given) || !Array.isArray(given.messages)) return undefined
  const { messages, ...rest } = given
  const page = shallow(() => MessagePage.safeParse({ ...(withoutNulls(rest) as object), messages: [] }).data)
  if (!page || (page.session && page.session.id !== defaults.sessionId)) return undefined
  let malformed = 0
  let { parentId } = defaults
  for (const row of messages) {
    const message = decodeMessage(row, { ...defaults, parentId })
    if (message) {
      page.messages.push(message)
      parentId = message.id
    } else malformed++
  }
  return { page, malformed }
}

/** One message of an answer, or undefined where it is not one of this session. */
export function decodeMessage(value: unknown, defaults: MessageDefaults): Message | undefined {
  const message = shallow(() => Message.safeParse(completeMessage(withoutNulls(value), defaults)).data)
  return message?.sessionId === defaults.sessionId ? message : undefined
}

/** What is nested too deeply to be read is not there. */
function shallow<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
