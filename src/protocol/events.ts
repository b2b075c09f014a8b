import * as z from 'zod/mini'
import { ErrorData } from '../lib/error-data.ts'
import { AssistantBlock, Id, Message, Session, Status, Usage } from '../message/schema.ts'

const rev = z.number()

export const MessageCreated = z.object({
  type: z.enum(['message.created']),
  message: Message,
  /** The id the client sent, where the server chose another. */
  clientId: z.optional(Id),
})
export const MessageStarted = z.object({
  type: z.enum(['message.started']),
  id: Id,
  runId: z.optional(Id),
  rev: z.optional(rev),
  provider: z.optional(z.string()),
  model: z.optional(z.string()),
  /** The provider's id of the answer, by which it can be heard again. */
  responseId: z.optional(z.string()),
  /** @default 'streaming' */
  status: z.optional(Status),
})
export const MessageDelta = z.object({
  type: z.enum(['message.delta']),
  id: Id,
  /** Which block of the message; the minimal dialect leaves it out and means the first. */
  index: z.number(),
  /** The block as it is before this delta; sent with its first one. Without it a new block is text. */
  block: z.optional(AssistantBlock),
  /** Appended to the block's text, or to a tool call's raw arguments. */
  delta: z.string(),
  /** Length of that text before this delta, in UTF-16 units. */
  offset: z.optional(z.number()),
})
export type MessageDelta = z.infer<typeof MessageDelta>
export const MessageCompleted = z.object({ type: z.enum(['message.completed']), message: Message })
/** How the answer of a minimal server ends: a `message.completed` that does not carry the whole message. Never on the wire. */
export const MessageFinished = z.object({
  type: z.enum(['message.finished']),
  id: Id,
  /** Replaces what was streamed. */
  content: z.optional(z.array(AssistantBlock)),
})
export const MessageFailed = z.object({
  type: z.enum(['message.failed']),
  id: Id,
  rev: z.optional(rev),
  error: ErrorData,
  message: z.optional(Message),
})
export const MessageInterrupted = z.object({
  type: z.enum(['message.interrupted']),
  id: Id,
  rev: z.optional(rev),
  message: z.optional(Message),
})
export const MessageUpdated = z.object({ type: z.enum(['message.updated']), message: Message })
export const MessageDeleted = z.object({ type: z.enum(['message.deleted']), id: Id, rev })
export const SessionUpdated = z.object({ type: z.enum(['session.updated']), session: Session })
export const SessionDeleted = z.object({ type: z.enum(['session.deleted']), id: Id, rev })
export const RunStarted = z.object({ type: z.enum(['run.started']), runId: Id })
export const RunWaiting = z.object({ type: z.enum(['run.waiting']), runId: Id, calls: z.array(z.string()) })
export const RunOutcome = z.enum(['completed', 'failed', 'interrupted'])
export type RunOutcome = z.infer<typeof RunOutcome>
export const RunFinished = z.object({
  type: z.enum(['run.finished']),
  runId: Id,
  outcome: RunOutcome,
  usage: z.optional(Usage),
})
/** What follows is not contiguous: resync. A control frame, without an event id. */
export const Gap = z.object({
  type: z.enum(['gap']),
  from: z.optional(z.number()),
  to: z.optional(z.number()),
  reason: z.enum(['trimmed', 'diverged', 'restarted']),
})

/** An event that this version does not know: only its number counts. Never on the wire. */
export const Unknown = z.object({ type: z.enum(['unknown']) })

/** One fact about a session. */
export const ChatEvent = z.discriminatedUnion('type', [
  MessageCreated,
  MessageStarted,
  MessageDelta,
  MessageCompleted,
  MessageFinished,
  MessageFailed,
  MessageInterrupted,
  MessageUpdated,
  MessageDeleted,
  SessionUpdated,
  SessionDeleted,
  RunStarted,
  RunWaiting,
  RunFinished,
  Gap,
  Unknown,
])
export type ChatEvent = z.infer<typeof ChatEvent>
export type ChatEventType = ChatEvent['type']

/** The SSE `id:` of an event, `<n>.<tag>`: its number in its session and a random tag that tells two histories apart. */
export interface EventId {
  n: number
  tag: string
}

/** An event with its number, where the server gives one. */
export interface Envelope {
  id?: EventId
  event: ChatEvent
}

/** `12.aB3` for `{ n: 12, tag: 'aB3' }`. */
export const formatEventId = (id: EventId): string => `${id.n}.${id.tag}`

const EVENT_ID = /^[1-9]\d{0,15}\.[A-Za-z0-9_-]{1,64}$/

/** The parts of an SSE `id:`; undefined where it is not of the form `<n>.<tag>`. */
export function parseEventId(text: string): EventId | undefined {
  if (!EVENT_ID.test(text)) return undefined
  const dot = text.indexOf('.')
  const n = Number(text.slice(0, dot))
  return Number.isSafeInteger(n) ? { n, tag: text.slice(dot + 1) } : undefined
}

/** A page of messages, as both cursors answer it. */
export const MessagePage = z.object({
  messages: z.array(Message),
  hasMore: z.optional(z.boolean()),
  /** The cursor cannot be proven: the answer is a window, not a continuation. */
  limited: z.optional(z.boolean()),
  /** `<n>.<tag>` as of the same snapshot, or null before the first event. A feed opened from it misses nothing. */
  eventId: z.optional(z.nullable(z.string())),
  rev: z.optional(z.number()),
  /** Tombstones: ids deleted since the asked revision. */
  deleted: z.optional(z.array(z.object({ id: Id, rev }))),
  session: z.optional(Session),
})
export type MessagePage = z.infer<typeof MessagePage>
