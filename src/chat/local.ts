import type { ErrorData } from '../lib/errors.ts'
import type { Message, Status } from '../message/schema.ts'
import { next, type StatusEvent } from '../message/status.ts'
import { messageOf, putMessages, type SessionState, type Trace } from '../protocol/state.ts'

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
