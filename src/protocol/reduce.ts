import {
  type AssistantMessage,
  isSettled,
  type Message,
  SCHEMA_VERSION,
  type Status,
} from '../message/schema.ts'
import { next, type StatusEvent } from '../message/status.ts'
import { applyPiece, decideDelta } from './delta.ts'
import type { ChatEvent, ChatEventType, Envelope } from './events.ts'
import { type Joined, joinFrom } from './join.ts'
import { newerSession } from './merge.ts'
import { isFilled, isStopped, ofRev, order, revOf } from './order.ts'
import { headBy, newestId, place, put, rename } from './place.ts'
import {
  type Missing,
  messageOf,
  removeMessage,
  type SessionState,
  type Trace,
  withGrown,
  withHot,
} from './state.ts'

interface Context {
  /** The event's number is the one after the last applied. */
  proven: boolean
  /** What the number proves once the event is applied. */
  place?: Pick<SessionState, 'cursor' | 'missing'>
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

const delta: Apply<'message.delta'> = (state, event, context) => {
  const present = messageOf(state, event.id)
  if (present && (present.role !== 'assistant' || isSettled(present))) return state
  if (!present && state.tombstones.has(event.id)) return state
  // Behind something missing, only a number proves a place: an offset could fit by chance.
  if (state.missing && !context.proven) return state
  // Told to the trace only once it is known to stand.
  const streaming =
    present?.status === 'streaming'
      ? state
      : move(state, event.id, 'start', {}, { ...context, trace: undefined })
  const message = messageOf(streaming, event.id)
  if (message?.role !== 'assistant') return state
  const decision = decideDelta(message, event, {
    proven: context.proven,
    ignoreOffset: context.proven && state.offsetsIgnored,
    retold: !context.proven || state.ahead,
  })
  if (decision.type === 'gap') return withMissing(state, { reason: 'offset' })
  if (streaming !== state) context.trace?.changed.add(message.id)
  if (decision.type === 'same') return streaming
  context.trace?.pieces.push(decision.piece)
  const live = withGrown(streaming.live, applyPiece(message, decision.piece, decision.block))
  const { rev } = streaming
  const { cursor, missing } = context.place ?? streaming
  const offsetsIgnored = streaming.offsetsIgnored || decision.disagrees
  // Told without a number, it may be told once more with one.
  const ahead = streaming.ahead || !context.proven
  return withHot(streaming, { live, cursor, rev, missing, offsetsIgnored, ahead })
}

/** The whole message at its end. Without a revision to prove that it is news, a terminal status stands. */
function whole(state: SessionState, message: Message, status: Status, { trace }: Context): SessionState {
  const present = messageOf(state, message.id)?.status
  if (message.rev === undefined && (present === 'completed' || present === 'failed')) return state
  return put(state, { ...message, status } as Message, trace)
}

/** The end of a streamed answer whose server sends no more of it than an id: begun here, if nothing was streamed. */
function finish(
  state: SessionState,
  { id, content }: Extract<ChatEvent, { type: 'message.finished' }>,
  context: Context,
): SessionState {
  const begun = move(state, id, 'start', {}, context)
  const isAnswer = messageOf(begun, id)?.role === 'assistant'
  return move(begun, id, 'complete', isAnswer ? { content, stopReason: 'stop' } : {}, context)
}

const APPLY: { readonly [T in ChatEventType]: Apply<T> } = {
  'message.created': (state, { message, clientId }, { trace }) =>
    put(rename(state, clientId ?? message.clientId, message, trace), message, trace),
  'message.started': (state, { id, type: _, ...fields }, context) => {
    const resumes = context.proven && messageOf(state, id)?.status === 'interrupted'
    return move(state, id, resumes ? 'resume' : 'start', fields, context)
  },
  'message.delta': delta,
  'message.completed': (state, { message }, context) => whole(state, message, 'completed', context),
  'message.finished': finish,
  'message.failed': (state, { id, rev, error, message }, context) =>
    message
      ? whole(state, { ...ofRev(message, rev), error }, 'failed', context)
      : move(state, id, 'fail', { rev, error }, context),
  'message.interrupted': (state, { id, rev, message }, context) =>
    message
      ? whole(state, ofRev(message, rev), 'interrupted', context)
      : move(state, id, 'interrupt', { rev }, context),
  'message.updated': (state, { message }, { trace }) => put(state, message, trace),
  'message.deleted': (state, { id, rev }, { trace }) => {
    if ((state.tombstones.get(id) ?? -1) >= rev || (messageOf(state, id)?.rev ?? 0) > rev) return state
    trace?.removed.add(id) // Not loaded, it may be stored.
    return { ...removeMessage(state, id, trace), tombstones: new Map(state.tombstones).set(id, rev) }
  },
  'session.updated': (state, { session }) => {
    const newer = newerSession(state.session, session)
    if (newer === state.session) return state
    return { ...state, session: newer, headId: headBy(state, newer) }
  },
  'session.deleted': (state) => ({ ...state, deleted: true }),
  'run.started': (state, { runId }) =>
    state.runs.has(runId) ? state : { ...state, runs: new Set(state.runs).add(runId) },
  'run.waiting': (state) => state,
  'run.finished': (state, { runId }) =>
    state.runs.has(runId) ? { ...state, runs: new Set([...state.runs].filter((id) => id !== runId)) } : state,
  gap: (state, { type: _, ...gap }) => withMissing(state, gap as Missing),
  unknown: (state) => state,
}

const apply = <T extends ChatEventType>(
  state: SessionState,
  event: Extract<ChatEvent, { type: T }>,
  context: Context,
) => (state.deleted ? state : (APPLY[event.type] as Apply<T>)(state, event, context))

/**
 * Folds one event into a session. Total: every event in every state has an outcome. Idempotent: what is known, late or
 * unknown returns the very same object. An event behind a hole is not applied; `missing` says what to fetch. Only an event
 * with the next number moves the cursors `cursor` and `rev`: they stand for everything before them.
 * @param now milliseconds since the epoch, for rows that the server does not date
 * @param trace collects what changed
 */
export function reduce(state: SessionState, envelope: Joined, now = 0, trace?: Trace): SessionState {
  const { id, event } = envelope
  if (!id || state.deleted) return apply(state, event, { proven: false, now, trace })
  const { missing, cursor, rev } = state
  const standing = order(cursor, id, envelope.first ?? id.n)
  if (standing === 'known' || (missing && isStopped(missing))) return state
  if (standing === 'diverged') return withMissing(state, { reason: 'diverged' })
  if (standing === 'hole')
    return withMissing(state, { from: (cursor?.n ?? 0) + 1, to: id.n - 1, reason: 'hole' })
  const open = missing && !isFilled(missing, id) ? missing : null
  const context = { proven: true, place: { cursor: id, missing: open }, now, trace }
  const applied = apply(missing ? { ...state, missing: null } : state, event, context)
  // A delta has moved the cursor with its text: one copy of the state, not two.
  if (applied.cursor === id) return applied
  // An event that proves something missing is not passed over: the cursor stays before it.
  if (applied.missing) return missing ? state : applied
  const { live, offsetsIgnored, ahead } = applied
  return withHot(applied, {
    live,
    offsetsIgnored,
    ahead: ahead && live.size > 0,
    cursor: id,
    rev: Math.max(rev, revOf(event)),
    missing: open,
  })
}

/** Folds events in, in their order. */
export function reduceAll(
  state: SessionState,
  envelopes: readonly Envelope[],
  now = 0,
  trace?: Trace,
): SessionState {
  let folded = state
  for (let at = 0; at < envelopes.length; ) {
    const head = envelopes[at]
    if (!head) break
    const [joined, next] = joinFrom(folded, envelopes, at, head)
    folded = reduce(folded, joined, now, trace)
    at = next
  }
  return folded
}
