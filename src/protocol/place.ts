import type { Message, Session } from '../message/schema.ts'
import { mergeMessage } from './merge.ts'
import { messageOf, messagesOf, putMessages, removeMessage, type SessionState, type Trace } from './state.ts'

/** The newest acknowledged message: what a server that names no parent answers. */
export function newestId(state: SessionState): string | null {
  let newest: Message | undefined
  for (const message of messagesOf(state)) if ((message.seq ?? 0) > (newest?.seq ?? 0)) newest = message
  return newest?.id ?? state.headId
}

/** A message put in: given a place where its owner names none, and made the head where it grew the selected branch. */
export function place(state: SessionState, message: Message, trace: Trace | undefined): SessionState {
  const fresh = !messageOf(state, message.id)
  const placed = message.seq === undefined ? { ...message, seq: state.nextSeq } : message
  const grown = putMessages(state, [placed], trace)
  return fresh && placed.parentId === state.headId ? { ...grown, headId: placed.id } : grown
}

/** Where the selected branch ends once rows have grown it, for servers that do not say where it ends. */
export function grownHead(headId: string | null, fresh: readonly Message[]): string | null {
  let head = headId
  for (const { id, parentId } of fresh.toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0)))
    if (parentId === head) head = id
  return head
}

/** The head after a newer row of the session. One that grew here stands, unless that row knew of it and says another. */
export function headBy(state: SessionState, { headId, rev: known = 0 }: Session): string | null {
  const { rev = Number.POSITIVE_INFINITY } = messageOf(state, state.headId ?? '') ?? {}
  return headId !== null && (headId !== state.session?.headId || rev < known) ? headId : state.headId
}

/** The head after a page: the session's row may have been known before the message with which the branch ends. */
export const headHere = (state: SessionState, session: Session, fresh: readonly Message[]): string | null =>
  state.session?.headId === session.headId && fresh.some(({ id }) => id === session.headId)
    ? headBy(state, session)
    : state.headId

/** Whether a message was deleted later than this version of it. */
export const isBuried = ({ tombstones }: SessionState, { id, rev = 0 }: Message): boolean =>
  (tombstones.get(id) ?? -1) >= rev

/** The state without the tombstones of these messages: later versions of them have come. */
export function withoutTombstones(state: SessionState, messages: readonly Message[]): SessionState {
  const risen = messages.filter(({ id }) => state.tombstones.has(id))
  if (risen.length === 0) return state
  const tombstones = new Map(state.tombstones)
  for (const { id } of risen) tombstones.delete(id)
  return { ...state, tombstones }
}

/** An authoritative row, merged with what is known. */
export function put(state: SessionState, given: Message, trace: Trace | undefined): SessionState {
  if (isBuried(state, given)) return state
  const present = messageOf(state, given.id)
  const merged = mergeMessage(present, given)
  return merged === present ? state : place(withoutTombstones(state, [given]), merged, trace)
}

/**
 * The client's own id of a message gives way to the server's; its children follow. Only what the other side has not spoken
 * of under the client's id is renamed: no row may swallow another message.
 */
export function rename(
  state: SessionState,
  from: string | undefined,
  { id, role }: Message,
  trace: Trace | undefined,
): SessionState {
  const own = from === undefined || from === id ? undefined : messageOf(state, from)
  if (!own || own.role !== role || own.rev !== undefined) return state
  const renamed: Message = { ...(messageOf(state, id) ?? own), id, clientId: own.id }
  const children = [...messagesOf(state)].filter((message) => message.parentId === own.id)
  const moved = children.map((message) => ({ ...message, parentId: id }))
  const headId = state.headId === own.id ? id : state.headId
  return { ...putMessages(removeMessage(state, own.id, trace), [renamed, ...moved], trace), headId }
}
