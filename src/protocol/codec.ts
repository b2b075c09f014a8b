import { ErrorCode } from '../lib/errors.ts'
import type { SseFrame } from '../lib/sse.ts'
import { AssistantBlock, Message } from '../message/schema.ts'
import { ChatEvent, type Envelope, formatEventId, MessagePage, parseEventId } from './events.ts'
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

/** The frame of an event: its type as `event:`, the rest as `data:`, its number as `id:`. */
export function frameOf({ id, event }: Envelope): { id?: string; event: string; data: string } {
  const { type, ...data } = event
  return { ...(id && { id: formatEventId(id) }), event: type, data: JSON.stringify(data) }
}

const KNOWN: ReadonlySet<string> = new Set(
  ChatEvent.def.options.flatMap((option) => [...option.def.shape.type.def.values]),
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
    if (!isWhole(message)) delete event.message
  } else if (isRecord(message)) event.message = completeMessage({ role: 'assistant', ...message }, defaults)
  return event
}

/** A delta is checked by hand: it is most of what comes, and a schema would cost more than the parsing. */
function decodeDelta(data: Record<string, unknown>): ChatEvent | undefined {
  const { id, delta, index = 0, offset, block } = data
  if (typeof id !== 'string' || typeof delta !== 'string') return undefined
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0) return undefined
  const event: Extract<ChatEvent, { type: 'message.delta' }> = { type: 'message.delta', id, index, delta }
  if (typeof offset === 'number') event.offset = offset
  if (block !== undefined && block !== null) {
    const parsed = AssistantBlock.safeParse(withoutNulls(block))
    if (!parsed.success) return undefined
    event.block = parsed.data
  }
  return event
}

function decodeEvent(
  type: string,
  data: Record<string, unknown>,
  defaults: MessageDefaults,
): Decoded | ChatEvent {
  if (type === 'message.delta') {
    return decodeDelta(data) ?? { type: 'malformed', event: type, problem: 'expected { id, delta }' }
  }
  try {
    const parsed = ChatEvent.safeParse(
      canonical(type, withoutNulls(data) as Record<string, unknown>, defaults),
    )
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    return {
      type: 'malformed',
      event: type,
      problem: `${issue?.path.join('.') || 'data'}: ${issue?.message}`,
    }
  } catch (error) {
    if (error instanceof RangeError) return { type: 'malformed', event: type, problem: error.message }
    throw error
  }
}

/**
 * A frame as an event. Event names may be spelt with underscores; a frame without a name says its type in the data.
 * @param defaults what a minimal server leaves out of its messages
 */
export function decodeFrame(frame: SseFrame, defaults: MessageDefaults): Decoded {
  const named = frame.event?.replace('_', '.')
  if (named !== undefined && !KNOWN.has(named)) return IGNORED
  let data: unknown
  try {
    data = JSON.parse(frame.data)
  } catch {
    return named ? { type: 'malformed', event: named, problem: 'data is not JSON' } : IGNORED
  }
  if (!isRecord(data))
    return named ? { type: 'malformed', event: named, problem: 'data is not an object' } : IGNORED
  const type = named ?? (typeof data.type === 'string' ? data.type.replace('_', '.') : '')
  if (!KNOWN.has(type)) return IGNORED
  const event = decodeEvent(type, data, defaults)
  if (event.type === 'malformed' || event.type === 'ignored' || event.type === 'event') return event
  const id = frame.id === undefined ? undefined : parseEventId(frame.id)
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
  const envelope = MessagePage.safeParse({ ...(withoutNulls(rest) as object), messages: [] })
  if (!envelope.success) return undefined
  const page: MessagePage = { ...envelope.data, messages: [] }
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

/** One message of an answer, or undefined where it is not one. */
export function decodeMessage(value: unknown, defaults: MessageDefaults): Message | undefined {
  try {
    const parsed = Message.safeParse(completeMessage(withoutNulls(value), defaults))
    return parsed.success ? parsed.data : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
