import type { ErrorData } from '../lib/error-data.ts'
import type { Message, Status } from '../message/schema.ts'
import { next, type StatusEvent } from '../message/status.ts'
import { leafOf } from '../message/tree.ts'
import {
  emptyState,
  messageOf,
  messagesOf,
  putMessages,
  removeMessage,
  type SessionState,
  type Trace,
} from '../protocol/state.ts'
import { askedAnew, askedId } from './outbox.ts'
import type { OutboxRow } from './ports.ts'

/** A status change that this client makes itself, bound by the table like any other. */
function moved(
  state: SessionState,
  id: string,
  by: StatusEvent,
): { message: Message; status: Status } | undefined {
  const message = messageOf(state, id)
  const status = message && next(message.role, message.status, by)
  return message && status ? { message, status } : undefined
}

/** A message that the other side has accepted: no longer pending, and in its place after those known. */
export function acknowledge(state: SessionState, id: string, now: number, trace: Trace): SessionState {
  const change = moved(state, id, 'complete')
  if (!change) return state
  const { error: _, ...message } = change.message
  const seq = message.seq ?? state.nextSeq
  return putMessages(state, [{ ...message, seq, status: change.status, updatedAt: now }], trace)
}

/** A message that the other side has refused: it stays, and says why. */
export function refuse(
  state: SessionState,
  id: string,
  error: ErrorData,
  now: number,
  trace: Trace,
): SessionState {
  const change = moved(state, id, 'fail')
  if (!change) return state
  return putMessages(state, [{ ...change.message, status: change.status, error, updatedAt: now }], trace)
}

/** A refused message that is to be sent again. */
export function retryLocally(state: SessionState, id: string, now: number, trace: Trace): SessionState {
  const change = moved(state, id, 'retry')
  if (!change) return state
  const { error: _, ...message } = change.message
  return putMessages(state, [{ ...message, status: change.status, updatedAt: now }], trace)
}

/**
 * What waits to be sent is said after all that was said and answered meanwhile: it moves behind every message that follows
 * the one it stood behind, the newest of several. Its request goes on naming the message that was the last when it was
 * written: whoever accepts it knows what follows that one.
 */
export function behindAnswers(state: SessionState, outbox: Iterable<OutboxRow>, trace: Trace): SessionState {
  if (trace.changed.size === 0) return state
  const waiting = [...outbox].filter(({ request }) => request.type === 'send')
  if (waiting.length === 0) return state
  const byParent = new Map<string | null, Message>()
  for (const message of messagesOf(state)) {
    const { parentId, seq } = message
    if (seq !== undefined && seq >= (byParent.get(parentId)?.seq ?? 0)) byParent.set(parentId, message)
  }
  const moved: Message[] = []
  for (const { id } of waiting) {
    const message = messageOf(state, id)
    if (!message || message.seq !== undefined) continue
    let { parentId } = message
    const passed = new Set<string>()
    for (let next = byParent.get(parentId); next && !passed.has(next.id); next = byParent.get(next.id)) {
      passed.add(next.id)
      parentId = next.id
    }
    if (parentId !== message.parentId) moved.push({ ...message, parentId })
  }
  return putMessages(state, moved, trace)
}

/** The head as it was before a new answer was asked for that nobody gives: at the end of the old one. */
export function withHeadBack(state: SessionState, row: OutboxRow): SessionState {
  const asked = askedAnew(row)
  if (!asked || state.headId !== headFor(state, asked)) return state
  const leaf = leafOf(messagesOf(state), asked.messageId)
  return leaf ? { ...state, headId: leaf.id } : state
}

/** Where the branch ends until another answer comes: at the question, or before the answer that is gone on with. */
export const headFor = (state: SessionState, { type, messageId }: { type: string; messageId: string }) =>
  type === 'continue' ? (messageOf(state, messageId)?.parentId ?? messageId) : messageId

/**
 * What becomes of the rows that name a message that is given up: what waits behind it follows what that one would have
 * followed; what was to be done with it is not.
 */
export function withoutMessage(
  outbox: Iterable<OutboxRow>,
  id: string,
  parentId: string | null,
): { followers: OutboxRow[]; gone: string[] } {
  const followers: OutboxRow[] = []
  const gone: string[] = []
  for (const row of outbox) {
    const { request } = row
    if (request.type === 'send' && request.body.parentId === id)
      followers.push({ ...row, request: { ...request, body: { ...request.body, parentId } } })
    else if (
      askedId(row) === id ||
      (request.type === 'command' &&
        request.body.type !== 'edit' &&
        'messageId' in request.body &&
        request.body.messageId === id)
    )
      gone.push(row.id)
  }
  return { followers, gone }
}

/** The state without a message that is given up, and without the answer that was not begun: what followed it follows `end`. */
export function without(
  state: SessionState,
  messageId: string,
  runId: string | undefined,
  end: string | null,
  trace: Trace,
) {
  const all = [...messagesOf(state)]
  const answers = all.filter(({ role, parentId }) => role === 'assistant' && parentId === messageId)
  const gone = [messageId, ...answers.map(({ id }) => id)]
  const followers = all.filter(({ id, parentId }) => gone.includes(parentId ?? '') && !gone.includes(id))
  const moved = followers.map((follower): Message => ({ ...follower, parentId: end }))
  let left = putMessages(state, moved, trace)
  for (const id of gone) left = removeMessage(left, id, trace)
  const headId = gone.includes(state.headId ?? '') ? end : left.headId
  return { ...left, headId, runs: new Set([...left.runs].filter((id) => id !== runId)) }
}

export const DELETED: ErrorData = { code: 'not-found', message: 'the session was deleted' }

/** What is left of a session that was deleted: what nobody had accepted yet, failed. The rest is gone. */
export function withoutSession(state: SessionState, outbox: Iterable<OutboxRow>, trace: Trace): SessionState {
  const waiting = new Set([...outbox].map(askedId))
  const kept: Message[] = []
  for (const message of messagesOf(state)) {
    if (message.seq === undefined && waiting.has(message.id)) kept.push(message)
    else trace.removed.add(message.id)
  }
  const left = putMessages({ ...emptyState(state.sessionId), deleted: true }, kept, trace)
  return kept.reduce((failed, { id, updatedAt }) => refuse(failed, id, DELETED, updatedAt, trace), left)
}

/** What becomes of the rows of a deleted session: those that show in a message are refused, others given up. */
export function withoutQueue(
  state: SessionState,
  outbox: Iterable<OutboxRow>,
): { refused: OutboxRow[]; gone: string[] } {
  const refused: OutboxRow[] = []
  const gone: string[] = []
  for (const row of outbox) {
    if (row.request.type === 'deleteSession') continue
    if (!messageOf(state, askedId(row))) gone.push(row.id)
    else if (row.state === 'waiting') refused.push({ ...row, state: 'refused', error: DELETED })
  }
  return { refused, gone }
}
