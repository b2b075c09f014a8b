import type { AssistantBlock, AssistantMessage } from '../message/schema.ts'
import type { MessageDelta } from './events.ts'
import type { Piece } from './state.ts'

/** The text that grows in a block, or undefined for a block that comes whole. */
export function growingText(block: AssistantBlock): string | undefined {
  if (block.type === 'text' || block.type === 'thinking') return block.text
  return block.type === 'toolCall' ? (block.rawArguments ?? '') : undefined
}

/**
 * The block with its text replaced. Replaced after copying, as all that is done per delta: half the cost of a spread that
 * overrides.
 */
export function withText(block: AssistantBlock, text: string): AssistantBlock {
  if (block.type === 'toolCall') return { ...block, rawArguments: text }
  if (block.type !== 'text' && block.type !== 'thinking') return block
  const grown = { ...block }
  grown.text = text
  return grown
}

/** What a delta does to a message. */
export type DeltaDecision =
  | { type: 'same' }
  | { type: 'gap' }
  /** `disagrees`: the event's number proves its place, but its offset says otherwise. */
  | { type: 'append'; piece: Piece; block: AssistantBlock; disagrees: boolean }

const SAME: DeltaDecision = { type: 'same' }
const GAP: DeltaDecision = { type: 'gap' }

/**
 * Decides by block index and offset. Below the present length a delta is a duplicate if it repeats what is there, of which
 * only the tail is new; above it, something is missing. A contiguous event number (`proven`) outranks an offset that
 * disagrees; what it proves new is no duplicate either, unless it may be `retold`: said after a row that had it already.
 */
export function decideDelta(
  message: AssistantMessage,
  event: MessageDelta,
  { proven, ignoreOffset, retold }: { proven: boolean; ignoreOffset: boolean; retold: boolean },
): DeltaDecision {
  const { index, delta } = event
  const present = message.content[index]
  if (!present && index !== message.content.length) return GAP
  const block = present ?? event.block ?? { type: 'text', text: '' }
  const text = growingText(block)
  const append = (added: string, disagrees: boolean): DeltaDecision => ({
    type: 'append',
    piece: { messageId: message.id, index, offset: text?.length ?? 0, text: added, opens: !present },
    block,
    disagrees,
  })
  if (text === undefined) return present ? SAME : append('', false)
  const offset = ignoreOffset ? text.length : (event.offset ?? text.length)
  if (offset === text.length) return delta === '' && present ? SAME : append(delta, false)
  if (offset < text.length && retold) {
    const known = text.slice(offset, offset + delta.length)
    if (delta.startsWith(known))
      return delta.length === known.length ? SAME : append(delta.slice(known.length), false)
  }
  return proven ? append(delta, true) : GAP
}

/** The message with a decided piece added. */
export function applyPiece(message: AssistantMessage, piece: Piece, block: AssistantBlock): AssistantMessage {
  const content = message.content.slice()
  const text = growingText(block)
  content[piece.index] = text === undefined ? block : withText(block, text + piece.text)
  // Replaced after copying: half the cost of a spread that overrides, and this is done per delta.
  const grown = { ...message }
  grown.content = content
  return grown
}
