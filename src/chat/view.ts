import { isSettled, type Message } from '../message/schema.ts'
import { pathBy } from '../message/tree.ts'
import { messageOf, type SessionState } from '../protocol/state.ts'

/** What a list shows: the selected branch as far as it is known, then what was not accepted yet. */
export interface View {
  messages: readonly Message[]
  /** Whether the oldest shown message has a parent that is not loaded, or the message with which the branch ends is not. */
  hasOlder: boolean
}

/** Messages without a place yet, in local order: a map keeps the order in which rows were put in. */
function unacknowledged(state: SessionState, path: readonly Message[]): Message[] {
  const rows: Message[] = []
  for (const message of state.rest.values()) if (message.seq === undefined) rows.push(message)
  if (rows.length === 0) return rows
  const shown = new Set(path.map(({ id }) => id))
  return rows.filter(({ id }) => !shown.has(id))
}

/**
 * The view of a state. While an answer grows only its own entry changes, so the last view and the state it was made from
 * save walking the branch again.
 * @param shown replaces a message in the view: what a stopped answer looked like
 */
export function viewOf(
  state: SessionState,
  shown: ReadonlyMap<string, Message>,
  last?: { state: SessionState; view: View },
): View {
  if (
    last &&
    last.state.rest === state.rest &&
    last.state.headId === state.headId &&
    sameKeys(last.state, state)
  ) {
    const messages = last.view.messages.map(
      (message) => shown.get(message.id) ?? state.live.get(message.id) ?? message,
    )
    return sameItems(messages, last.view.messages) ? last.view : { ...last.view, messages }
  }
  const path = pathBy((id) => messageOf(state, id), state.headId)
  const hasOlder = (path[0] ? path[0].parentId : state.headId) !== null
  const own = unacknowledged(state, path)
  const messages = [...path, ...own].map((message) => shown.get(message.id) ?? message)
  const same = last && last.view.hasOlder === hasOlder && sameItems(messages, last.view.messages)
  return same ? last.view : { messages, hasOlder }
}

const sameItems = (a: readonly Message[], b: readonly Message[]): boolean =>
  a.length === b.length && a.every((message, at) => message === b[at])

function sameKeys(a: SessionState, b: SessionState): boolean {
  if (a.live === b.live) return true
  if (a.live.size !== b.live.size) return false
  for (const id of a.live.keys()) if (!b.live.has(id)) return false
  return true
}

/**
 * The newest message such that it and everything before it, over all branches, is settled and acknowledged.
 * @param floor what was known before: everything up to it is settled, loaded or not
 */
export function tidemarkOf(state: SessionState, floor: string | null): string | null {
  let firstOpen = Number.POSITIVE_INFINITY
  for (const messages of [state.live, state.rest])
    for (const message of messages.values())
      if (!isSettled(message)) firstOpen = Math.min(firstOpen, message.seq ?? firstOpen)
  const last = floor === null ? undefined : messageOf(state, floor)
  let newest = last
  if (newest && (newest.seq ?? 0) >= firstOpen) newest = undefined
  // Where events are numbered, a row that came by itself, or was only accepted, says nothing of those before it.
  const known = state.cursor ? state.rev : Number.POSITIVE_INFINITY
  for (const message of state.rest.values()) {
    const { seq, rev = known + 1 } = message
    if (rev <= known && seq !== undefined && seq < firstOpen && seq > (newest?.seq ?? -1)) newest = message
  }
  // One that is loaded was looked at: it is open again, or behind something that is.
  return newest?.id ?? (last ? null : floor)
}
