import { type AssistantBlock, isSettled, type Message } from '../message/schema.ts'
import { growingText, withText } from '../protocol/delta.ts'
import type { JournalEntry, StoredMessage } from './ports.ts'

/** A block with its pieces, ascending by offset: each that continues the text is added, one that only repeats it is not. */
function grow(block: AssistantBlock, pieces: readonly JournalEntry[]): AssistantBlock {
  const start = growingText(block)
  if (start === undefined) return block
  let text = start
  for (const { offset, text: piece } of pieces) {
    if (offset > text.length) break
    const known = offset === text.length ? '' : text.slice(offset, offset + piece.length)
    // A piece that contradicts what is stored is left out whole: its tail belongs to another text.
    if (piece.startsWith(known)) text += piece.slice(known.length)
  }
  return text === start ? block : withText(block, text)
}

/** Entries by block, blocks and their pieces ascending. */
function byBlock(entries: readonly JournalEntry[]): Map<number, JournalEntry[]> {
  const blocks = new Map<number, JournalEntry[]>()
  for (const entry of [...entries].sort((a, b) => a.index - b.index || a.offset - b.offset)) {
    const pieces = blocks.get(entry.index)
    if (pieces) pieces.push(entry)
    else blocks.set(entry.index, [entry])
  }
  return blocks
}

/**
 * A message with the pieces of its journal added. Entries come in any order and are addressed by block index and offset.
 * What is already there, contradicts it, or is torn off by a hole (in a block, or in the row of blocks) is left out.
 * Returns the very same object when nothing is added, as for every message but an assistant's.
 */
export function foldJournal(message: Message, entries: readonly JournalEntry[]): Message {
  if (message.role !== 'assistant' || entries.length === 0) return message
  const content = message.content.slice()
  let changed = false
  for (const [index, pieces] of byBlock(entries)) {
    const stored = content[index]
    if (!stored && index !== content.length) continue
    const opening = stored ?? pieces.find((piece) => piece.block)?.block ?? { type: 'text', text: '' }
    // What comes after a hole opens no block.
    if (!stored && (pieces[0]?.offset ?? 0) > (growingText(opening)?.length ?? 0)) continue
    const block = grow(opening, pieces)
    changed ||= block !== stored
    content[index] = block
  }
  return changed ? { ...message, content } : message
}

/** A stored message with its journal. A settled one was written whole: what comes straggling behind it does not count. */
export function foldRow(row: StoredMessage, entries: readonly JournalEntry[]): StoredMessage {
  const message = isSettled(row.message) ? row.message : foldJournal(row.message, entries)
  return message === row.message ? row : { ...row, message }
}

/** Whether two objects have the same fields, by identity, but for one. */
function sameBut(field: string, a: object, b: object): boolean {
  const left = new Map<string, unknown>(Object.entries(a))
  const right = new Map<string, unknown>(Object.entries(b))
  left.delete(field)
  right.delete(field)
  return (
    left.size === right.size && [...left].every(([key, value]) => right.has(key) && right.get(key) === value)
  )
}

const growingField = (block: AssistantBlock): string => (block.type === 'toolCall' ? 'rawArguments' : 'text')

/** What was appended to a block: undefined for nothing, null where the difference is of another kind. */
function appended(
  before: AssistantBlock,
  after: AssistantBlock,
): { offset: number; text: string } | undefined | null {
  if (before === after) return undefined
  const from = growingText(before)
  const to = growingText(after)
  if (from === undefined || to === undefined) return null
  if (!to.startsWith(from) || !sameBut(growingField(before), before, after)) return null
  // An absent text that became an empty one did not grow, yet differs.
  if (to.length === from.length) return sameBut('', before, after) ? undefined : null
  return { offset: from.length, text: to.slice(from.length) }
}

/** A new block as it was before its first piece, and that piece. Plain text needs no description. */
function opened(block: AssistantBlock): { offset: number; text: string; block?: AssistantBlock } {
  const text = growingText(block) ?? ''
  if (block.type === 'text' && sameBut('text', block, { type: 'text' })) return { offset: 0, text }
  return { offset: 0, text, block: text === '' ? block : withText(block, '') }
}

/**
 * The entries that turn a message as it was written last into what it has become since: what was appended to each block,
 * and the blocks that are new. Null where the difference is anything else (a status, a signature, a text replaced): then
 * the message has to be written whole. `foldJournal(before, journalOf(before, after))` equals `after`.
 */
export function journalOf(before: Message, after: Message): JournalEntry[] | null {
  if (before === after) return []
  if (before.role !== 'assistant' || after.role !== 'assistant') return null
  if (after.content.length < before.content.length || !sameBut('content', before, after)) return null
  const entries: JournalEntry[] = []
  for (const [index, block] of after.content.entries()) {
    const stored = before.content[index]
    const piece = stored ? appended(stored, block) : opened(block)
    if (piece === null) return null
    if (piece) entries.push({ sessionId: after.sessionId, messageId: after.id, index, ...piece })
  }
  return entries
}
