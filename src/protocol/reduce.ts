import {
  type AssistantMessage,
  isSettled,
  type Message,
  SCHEMA_VERSION,
  type Session,
  type Status,
} from '../message/schema.ts'
import { next, type StatusEvent } from '../message/status.ts'
import { applyPiece, decideDelta } from './delta.ts'
import type { ChatEvent, ChatEventType, Envelope, EventId, MessagePage } from './events.ts'
import { mergeMessage } from './merge.ts'
import {
  type Missing,
  messageOf,
  messagesOf,
  putMessages,
  removeMessage,
  type SessionState,
  type Trace,
} from './state.ts'

interface Context {
  /** The event's number is the one after the last applied. */
  proven: boolean
  /** Milliseconds since the epoch, for rows that a server does not date. */
  now: number
  trace: Trace | undefined
}

type Apply<T extends ChatEventType> = (
  state: SessionState,
  event: Extract<ChatEvent, { type: T }>,
  context: Context,
) => SessionState

const withMissing = (state: SessionState, missing: Missing): SessionState =>
  state.missing ? state : { ...state, missing }

/** The newest acknowledged message: what a server that names no parent answers. */
function newestId(state: SessionState): string | null {
  let newest: Message | undefined
  for (const message of messagesOf(state)) if ((message.seq ?? 0) > (newest?.seq ?? 0)) newest = message
  return newest?.id ?? state.headId
}

/** A message put in: given a place where its owner names none, and made the head where it grew the selected branch. */
function place(state: SessionState, message: Message, trace: Trace | undefined): SessionState {
  const fresh = !messageOf(state, message.id)
  const placed = message.seq === undefined ? { ...message, seq: state.nextSeq } : message
  const grown = putMessages(state, [placed], trace)
  return fresh && placed.parentId === state.headId ? { ...grown, headId: placed.id } : grown
}

/** Whether a message was deleted later than this version of it. */
const isBuried = (state: SessionState, message: Message): boolean =>
  (state.tombstones.get(message.id) ?? -1) >= (message.rev ?? 0)

/** An authoritative row, merged with what is known. */
function put(state: SessionState, given: Message, trace: Trace | undefined): SessionState {
  if (isBuried(state, given)) return state
  const present = messageOf(state, given.id)
  const merged = mergeMessage(present, given)
  return merged === present ? state : place(state, merged, trace)
}

/** An answer that a server began without creating it. */
const shell = (state: SessionState, id: string, now: number): AssistantMessage => ({
  id,
  sessionId: state.sessionId,
  role: 'assistant',
  parentId: newestId(state),
  status: 'pending',
  content: [],
  createdAt: now,
  updatedAt: now,
  v: SCHEMA_VERSION,
})

/** A status change by event: bound by the table, and by `rev` where both sides have one. */
function move(
  state: SessionState,
  id: string,
  by: StatusEvent,
  fields: { [K in keyof AssistantMessage]?: AssistantMessage[K] | undefined },
  { now, trace }: Context,
): SessionState {
  if (state.tombstones.has(id)) return state
  const present = messageOf(state, id) ?? shell(state, id, now)
  if (fields.rev !== undefined && present.rev !== undefined && fields.rev <= present.rev) return state
  const status = next(present.role, present.status, by)
  if (!status) return state
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  const moved = { ...present, status, updatedAt: now || present.updatedAt, ...given } as Message
  return place(state, moved, trace)
}

/** The client's own id of a message gives way to the server's. */
function rename(state: SessionState, from: string, given: Message, trace: Trace | undefined): SessionState {
  const own = messageOf(state, from)
  if (!own) return state
  const renamed = mergeMessage({ ...own, id: given.id, clientId: from } as Message, {
    ...given,
    clientId: from,
  })
  const children = [...messagesOf(state)].filter((message) => message.parentId === from)
  const moved = children.map((message) => ({ ...message, parentId: given.id }))
  const headId = state.headId === from ? given.id : state.headId
  return { ...putMessages(removeMessage(state, from, trace), [renamed, ...moved], trace), headId }
}

const delta: Apply<'message.delta'> = (state, event, context) => {
  const present = messageOf(state, event.id)
  if (present && (present.role !== 'assistant' || isSettled(present))) return state
  if (!present && state.tombstones.has(event.id)) return state
  const streaming = present?.status === 'streaming' ? state : move(state, event.id, 'start', {}, context)
  const message = messageOf(streaming, event.id)
  if (message?.role !== 'assistant') return state
  const decision = decideDelta(message, event, {
    proven: context.proven,
    ignoreOffset: context.proven && state.offsetsIgnored,
  })
  if (decision.type === 'same') return streaming
  if (decision.type === 'gap') return withMissing(state, { reason: 'offset' })
  context.trace?.pieces.push(decision.piece)
  const live = new Map(streaming.live)
  live.set(message.id, applyPiece(message, decision.piece, decision.block))
  return { ...streaming, live, offsetsIgnored: streaming.offsetsIgnored || decision.disagrees }
}

/** The whole message at its end. Without a revision to prove that it is news, a terminal status stands. */
function whole(state: SessionState, message: Message, status: Status, { trace }: Context): SessionState {
  const present = messageOf(state, message.id)?.status
  if (message.rev === undefined && (present === 'completed' || present === 'failed')) return state
  return put(state, { ...message, status } as Message, trace)
}

/** The newer of two session rows. */
function newerSession(present: Session | undefined, given: Session): Session {
  if (present && given.rev !== undefined && present.rev !== undefined && given.rev <= present.rev)
    return present
  return given
}

const APPLY: { readonly [T in ChatEventType]: Apply<T> } = {
  'message.created': (state, { message, clientId }, { trace }) => {
    const renamed = clientId && clientId !== message.id ? rename(state, clientId, message, trace) : state
    return put(renamed, message, trace)
  },
  'message.started': (state, { id, type: _, ...fields }, context) => {
    const resumes = context.proven && messageOf(state, id)?.status === 'interrupted'
    return move(state, id, resumes ? 'resume' : 'start', fields, context)
  },
  'message.delta': delta,
  'message.completed': (state, { message }, context) => whole(state, message, 'completed', context),
  'message.finished': (state, { id }, context) =>
    move(state, id, 'complete', { stopReason: 'stop' }, context),
  'message.failed': (state, { id, rev, error, message }, context) =>
    message
      ? whole(state, { ...message, error }, 'failed', context)
      : move(state, id, 'fail', { rev, error }, context),
  'message.interrupted': (state, { id, rev, message }, context) =>
    message ? whole(state, message, 'interrupted', context) : move(state, id, 'interrupt', { rev }, context),
  'message.updated': (state, { message }, { trace }) => put(state, message, trace),
  'message.deleted': (state, { id, rev }, { trace }) => {
    if ((state.tombstones.get(id) ?? -1) >= rev || (messageOf(state, id)?.rev ?? 0) > rev) return state
    return { ...removeMessage(state, id, trace), tombstones: new Map(state.tombstones).set(id, rev) }
  },
  'session.updated': (state, { session }) => {
    const newer = newerSession(state.session, session)
    if (newer === state.session) return state
    const headId =
      newer.headId !== null && newer.headId !== state.session?.headId ? newer.headId : state.headId
    return { ...state, session: newer, headId, rev: Math.max(state.rev, newer.rev ?? 0) }
  },
  'session.deleted': (state) => (state.deleted ? state : { ...state, deleted: true }),
  'run.started': (state, { runId }) =>
    state.runs.has(runId) ? state : { ...state, runs: new Set(state.runs).add(runId) },
  'run.waiting': (state) => state,
  'run.finished': (state, { runId }) =>
    state.runs.has(runId) ? { ...state, runs: new Set([...state.runs].filter((id) => id !== runId)) } : state,
  gap: (state, { type: _, ...gap }) => withMissing(state, gap as Missing),
}

const apply = <T extends ChatEventType>(
  state: SessionState,
  event: Extract<ChatEvent, { type: T }>,
  context: Context,
) => (APPLY[event.type] as Apply<T>)(state, event, context)

/** How an event's number stands to the last applied one. */
function order(cursor: EventId | null, id: EventId): 'known' | 'next' | 'hole' | 'diverged' {
  const last = cursor?.n ?? 0
  if (id.n === last) return id.tag === cursor?.tag ? 'known' : 'diverged'
  return id.n < last ? 'known' : id.n === last + 1 ? 'next' : 'hole'
}

/**
 * Folds one event into a session. Total: every event in every state has an outcome. Idempotent: what is known, late or
 * unknown returns the very same object. An event behind a hole is not applied; `missing` says what to fetch.
 * @param now milliseconds since the epoch, for rows that the server does not date
 * @param trace collects what changed
 */
export function reduce(state: SessionState, envelope: Envelope, now = 0, trace?: Trace): SessionState {
  const { id, event } = envelope
  if (!id) return apply(state, event, { proven: false, now, trace })
  const place = order(state.cursor, id)
  if (place === 'known') return state
  if (place === 'diverged') return withMissing(state, { reason: 'diverged' })
  if (place === 'hole')
    return withMissing(state, { from: (state.cursor?.n ?? 0) + 1, to: id.n - 1, reason: 'hole' })
  const applied = apply(state, event, { proven: true, now, trace })
  // An event that proves something missing is not passed over: the cursor stays before it.
  return applied.missing && !state.missing ? applied : { ...applied, cursor: id }
}

/**
 * Folds a page of rows into a session: merged one by one, deleted ones removed. Cursors are the caller's business,
 * since only it knows whether this was the last page.
 */
export function mergePage(state: SessionState, page: MessagePage, trace?: Trace): SessionState {
  let merged = state
  for (const { id, rev } of page.deleted ?? []) {
    merged = apply(merged, { type: 'message.deleted', id, rev }, { proven: true, now: 0, trace })
  }
  const rows: Message[] = []
  let { nextSeq } = merged
  for (const given of page.messages) {
    if (isBuried(merged, given)) continue
    const present = messageOf(merged, given.id)
    const placed =
      given.seq === undefined && present?.seq === undefined ? { ...given, seq: nextSeq++ } : given
    rows.push(mergeMessage(present, placed))
  }
  merged = putMessages(merged, rows, trace)
  if (page.session)
    merged = apply(
      merged,
      { type: 'session.updated', session: page.session },
      { proven: true, now: 0, trace },
    )
  return merged
}
