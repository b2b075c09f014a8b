import type { Message } from '../message/schema.ts'
import type { ChatEvent, MessagePage } from './events.ts'
import { mergeMessage } from './merge.ts'
import { grownHead, headHere, isBuried, rename, withoutTombstones } from './place.ts'
import { reduce } from './reduce.ts'
import { messageOf, putMessages, type SessionState, type Trace } from './state.ts'

/** Folds a page's rows into a session, one by one. Cursors are the caller's: only it knows whether this was the last. */
export function mergePage(state: SessionState, page: MessagePage, trace?: Trace): SessionState {
  if (state.deleted) return state
  const apply = (to: SessionState, event: ChatEvent) => reduce(to, { event }, 0, trace)
  let merged = state
  for (const { id, rev } of page.deleted ?? []) merged = apply(merged, { type: 'message.deleted', id, rev })
  const rows = new Map<string, Message>()
  let { nextSeq } = merged
  for (const given of page.messages) {
    merged = rename(merged, given.clientId, given, trace)
    if (isBuried(merged, given)) continue
    const stands = mergeMessage(rows.get(given.id) ?? messageOf(merged, given.id), given)
    const row = stands.seq === undefined ? { ...stands, seq: nextSeq } : stands
    nextSeq = Math.max(nextSeq, (row.seq ?? 0) + 1)
    rows.set(row.id, row)
  }
  const standing = [...rows.values()]
  const fresh = standing.filter(({ id }) => !messageOf(merged, id))
  const known = merged
  merged = putMessages(withoutTombstones(merged, standing), standing, trace)
  // The events that made them so may still come.
  if (merged.live !== known.live && !merged.ahead) merged = { ...merged, ahead: true }
  const { session } = page
  const told = session ? apply(merged, { type: 'session.updated', session }) : merged
  const headId = session ? headHere(told, session, fresh) : grownHead(told.headId, fresh)
  return headId === told.headId ? told : { ...told, headId }
}
