import type { Message } from '../message/schema.ts'
import { withText } from '../protocol/delta.ts'
import { formatEventId } from '../protocol/events.ts'
import { messageOf, type Piece, type SessionState, type Trace } from '../protocol/state.ts'
import {
  type Change,
  type JournalEntry,
  LOCAL_POSITION,
  type StoredMessage,
  type StoredSession,
} from './ports.ts'

/** What was folded in and is not stored yet. */
export interface Unsaved {
  pieces: Map<string, Piece[]>
  changed: Set<string>
  removed: Set<string>
}

export const nothingUnsaved = (): Unsaved => ({ pieces: new Map(), changed: new Set(), removed: new Set() })

export const isSaved = ({ pieces, changed, removed }: Unsaved): boolean =>
  pieces.size === 0 && changed.size === 0 && removed.size === 0

/** A journal longer than this, in UTF-16 units, is folded into its message's row. */
const FOLD_AT = 64_000

/** Adds what an update changed. A message that is written whole needs no pieces. */
export function note(unsaved: Unsaved, trace: Pick<Trace, 'changed' | 'removed' | 'pieces'>): void {
  for (const piece of trace.pieces) {
    const pieces = unsaved.pieces.get(piece.messageId)
    if (pieces) pieces.push(piece)
    else unsaved.pieces.set(piece.messageId, [piece])
  }
  for (const id of trace.changed) {
    unsaved.changed.add(id)
    unsaved.removed.delete(id)
  }
  for (const id of trace.removed) {
    unsaved.removed.add(id)
    unsaved.changed.delete(id)
  }
}

/** Puts back what could not be written: whole rows, since the pieces' journal may be incomplete now. */
export function putBack(unsaved: Unsaved, failed: Unsaved): void {
  for (const id of [...failed.changed, ...failed.pieces.keys()])
    if (!unsaved.removed.has(id)) unsaved.changed.add(id)
  for (const id of failed.removed) if (!unsaved.changed.has(id)) unsaved.removed.add(id)
}

/** Adjoining pieces of a block as one entry each. */
function entriesOf(state: SessionState, pieces: readonly Piece[]): JournalEntry[] {
  const entries: JournalEntry[] = []
  for (const { messageId, index, offset, text, opens } of pieces) {
    const last = entries.at(-1)
    if (last && last.index === index && !opens && last.offset + last.text.length === offset) last.text += text
    else {
      const message = messageOf(state, messageId)
      const block = opens && message?.role === 'assistant' ? message.content[index] : undefined
      const begun = block && { block: withText(block, '') }
      entries.push({ sessionId: state.sessionId, messageId, index, offset, text, ...begun })
    }
  }
  return entries
}

export interface SessionFields {
  positions: ReadonlyMap<string, number>
  tidemark: string | null
  complete: boolean
  nextLocal: number
  /** Whether this tab writes the session's own row: only the one that leads it, or the one that began it. */
  owns: boolean
}

const rowOf = (message: Message, { positions }: SessionFields): StoredMessage => ({
  message,
  position: message.seq ?? positions.get(message.id) ?? LOCAL_POSITION,
})

/** The session's own row: counters and cursors, written in the transaction of the rows they speak of. */
export function sessionRow(
  state: SessionState,
  { tidemark, complete, nextLocal }: SessionFields,
): StoredSession | undefined {
  const { session, headId, cursor, rev } = state
  if (!session) return undefined
  const eventId = cursor && formatEventId(cursor)
  return { session: { ...session, headId }, eventId, rev, tidemark, nextLocal, complete, epoch: 0 }
}

/**
 * One batch: everything unsaved, with the session's row. A streaming answer that only grew is written as journal entries,
 * until `grown` says that its journal is long.
 * @param grown characters in each message's journal so far; updated
 */
export function batchOf(
  state: SessionState,
  unsaved: Unsaved,
  fields: SessionFields,
  grown: Map<string, number>,
): Change[] {
  if (state.deleted) return [{ type: 'deleteSession', id: state.sessionId }]
  const changes: Change[] = []
  for (const [messageId, pieces] of unsaved.pieces) {
    if (unsaved.changed.has(messageId) || unsaved.removed.has(messageId)) continue
    let length = grown.get(messageId) ?? 0
    for (const { text } of pieces) length += text.length
    if (length > FOLD_AT) unsaved.changed.add(messageId)
    else {
      grown.set(messageId, length)
      for (const entry of entriesOf(state, pieces)) changes.push({ type: 'journal', entry })
    }
  }
  for (const id of unsaved.changed) {
    const message = messageOf(state, id)
    grown.delete(id)
    if (message) changes.push({ type: 'message', row: rowOf(message, fields) })
  }
  for (const id of unsaved.removed) changes.push({ type: 'deleteMessage', id })
  const row = fields.owns && sessionRow(state, fields)
  if (row) changes.push({ type: 'session', row })
  return changes
}
