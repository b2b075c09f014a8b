import type { Message } from '../message/schema.ts'
import { growingText, withText } from '../protocol/delta.ts'
import { formatEventId } from '../protocol/events.ts'
import { messageOf, messagesOf, type Piece, type SessionState, type Trace } from '../protocol/state.ts'
import { newSession } from './intents.ts'
import {
  type Change,
  type JournalEntry,
  LOCAL_POSITION,
  type OutboxRow,
  type StoredMessage,
  type StoredSession,
} from './ports.ts'

/** What is not stored yet, by name: what is written of it is what it is when it is written. */
export interface Unsaved {
  /** What messages grew by. */
  pieces: Map<string, Piece[]>
  /** Messages that changed otherwise, or are gone. */
  messages: Set<string>
  /** Outbox rows that changed, or are gone. */
  outbox: Set<string>
  /** The session's own row. */
  session: boolean
}

export const nothingUnsaved = (): Unsaved => ({
  pieces: new Map(),
  messages: new Set(),
  outbox: new Set(),
  session: false,
})

export const isSaved = ({ pieces, messages, outbox, session }: Unsaved): boolean =>
  pieces.size === 0 && messages.size === 0 && outbox.size === 0 && !session

/** Takes all that is known for unsaved. */
export function noteAll(unsaved: Unsaved, state: SessionState, outbox: ReadonlyMap<string, OutboxRow>): void {
  for (const { id } of messagesOf(state)) unsaved.messages.add(id)
  for (const id of outbox.keys()) unsaved.outbox.add(id)
  unsaved.session = true
}

/** A journal longer than this, in UTF-16 units, is folded into its message's row. */
const FOLD_AT = 64_000

/** Adds what an update changed. */
export function note(unsaved: Unsaved, trace: Pick<Trace, 'changed' | 'removed' | 'pieces'>): void {
  for (const piece of trace.pieces) {
    const pieces = unsaved.pieces.get(piece.messageId)
    if (pieces) pieces.push(piece)
    else unsaved.pieces.set(piece.messageId, [piece])
  }
  for (const id of trace.changed) unsaved.messages.add(id)
  for (const id of trace.removed) unsaved.messages.add(id)
  // Every update moves something of it: a cursor, if nothing else.
  unsaved.session = true
}

/** Puts back what could not be written: whole rows, since the pieces' journal may be incomplete now. */
export function putBack(unsaved: Unsaved, failed: Unsaved): void {
  for (const id of [...failed.messages, ...failed.pieces.keys()]) unsaved.messages.add(id)
  for (const id of failed.outbox) unsaved.outbox.add(id)
  unsaved.session ||= failed.session
}

/** Takes away what is stored already of what messages grew by: another tab has written that, and may have written more. */
export function withoutStored(unsaved: Unsaved, rows: readonly StoredMessage[]): void {
  for (const { message } of rows) {
    const pieces = unsaved.pieces.get(message.id)
    if (!pieces || message.role !== 'assistant') continue
    const left = pieces.flatMap((piece): Piece[] => {
      const block = message.content[piece.index]
      const offset = (block && growingText(block)?.length) ?? 0
      const cut = offset - piece.offset
      if (cut <= 0) return [piece]
      return cut < piece.text.length ? [{ ...piece, offset, text: piece.text.slice(cut), opens: false }] : []
    })
    if (left.length > 0) unsaved.pieces.set(message.id, left)
    else unsaved.pieces.delete(message.id)
  }
}

/** A piece's block as it was before it. */
function blockBefore(message: Message | undefined, { index, offset }: Piece): Pick<JournalEntry, 'block'> {
  const block = message?.role === 'assistant' ? message.content[index] : undefined
  return block ? { block: withText(block, growingText(block)?.slice(0, offset) ?? '') } : {}
}

/**
 * Adjoining pieces of a block as one entry each. Whatever stands at the start of a block describes it: the entry of a
 * block that began without a text has the same key as the one of its first text, which replaces it.
 */
export function entriesOf(state: SessionState, pieces: readonly Piece[]): JournalEntry[] {
  const entries: JournalEntry[] = []
  for (const piece of pieces) {
    const { messageId, index, offset, text, opens } = piece
    const last = entries.at(-1)
    if (last && last.index === index && !opens && last.offset + last.text.length === offset) last.text += text
    else {
      const begun = opens || offset === 0 ? blockBefore(messageOf(state, messageId), piece) : {}
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
  /** Since when this tab, or whichever leads, has the word. */
  term: number
  /** The session's row as this tab knows it to be stored; undefined where there is none, null where it cannot be read. */
  stored: StoredSession | null | undefined
  /** Whether this tab says what is in that row: only the one that leads the session, or the one that began it. */
  owns: boolean
}

const rowOf = (message: Message, { positions }: SessionFields): StoredMessage => ({
  message,
  position: message.seq ?? positions.get(message.id) ?? LOCAL_POSITION,
})

/** The session's own row: counters and cursors, written in the transaction of the rows they speak of. */
export function sessionRow(
  state: SessionState,
  { tidemark, complete, nextLocal, term }: SessionFields,
): StoredSession | undefined {
  const { session, headId, cursor, rev, deleted } = state
  if (deleted)
    return {
      session: newSession(state.sessionId, 0),
      eventId: null,
      rev: 0,
      tidemark: null,
      nextLocal,
      complete: true,
      epoch: 0,
      deleted,
    }
  if (!session) return undefined
  const eventId = cursor && formatEventId(cursor)
  const own = { tidemark, nextLocal, complete, epoch: 0, ...(term > 0 && { term }) }
  return { session: { ...session, headId }, eventId, rev, ...own }
}

/** Messages as they are now; what only grew as journal entries, until `grown` says that its journal is long. */
function messageChanges(
  state: SessionState,
  unsaved: Unsaved,
  fields: SessionFields,
  grown: Map<string, number>,
): Change[] {
  const changes: Change[] = []
  const whole = new Set(unsaved.messages)
  for (const [messageId, pieces] of unsaved.pieces) {
    if (whole.has(messageId)) continue
    let length = grown.get(messageId) ?? 0
    for (const { text } of pieces) length += text.length
    // A second description of a block would lie beside the first, and its text would be lost between them.
    const described = pieces.some(({ opens, offset, text }) => opens && offset > 0 && text === '')
    if (length > FOLD_AT || described) whole.add(messageId)
    else {
      grown.set(messageId, length)
      for (const entry of entriesOf(state, pieces)) changes.push({ type: 'journal', entry })
    }
  }
  for (const id of whole) {
    const message = messageOf(state, id)
    grown.delete(id)
    changes.push(message ? { type: 'message', row: rowOf(message, fields) } : { type: 'deleteMessage', id })
  }
  return changes
}

/**
 * One batch: everything unsaved, with the session's row, whose epoch tells every other tab that it knows less than that.
 * @param grown characters in each message's journal so far; updated
 */
export function batchOf(
  state: SessionState,
  outbox: ReadonlyMap<string, OutboxRow>,
  unsaved: Unsaved,
  fields: SessionFields,
  grown: Map<string, number>,
): Change[] {
  const changes: Change[] = state.deleted
    ? [
        { type: 'deleteSession', id: state.sessionId },
        // What nobody will send: its content is kept.
        ...messagesOf(state).map((message): Change => ({ type: 'message', row: rowOf(message, fields) })),
      ]
    : messageChanges(state, unsaved, fields, grown)
  for (const id of unsaved.outbox) {
    const row = outbox.get(id)
    changes.push(row ? { type: 'outbox', row } : { type: 'deleteOutbox', id })
  }
  const { stored, owns, nextLocal } = fields
  const own = owns || state.deleted ? sessionRow(state, fields) : undefined
  const row = own ?? (changes.length > 0 && stored ? { ...stored, nextLocal } : undefined)
  if (row) changes.push({ type: 'session', row: { ...row, epoch: (stored?.epoch ?? 0) + 1 } })
  return changes
}
