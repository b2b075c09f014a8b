import type { ModelEvent } from '../adapters/contract.ts'
import { endsInHighSurrogate, wellFormed } from '../lib/text.ts'
import type { AssistantBlock } from '../message/schema.ts'
import type { MessageDelta } from '../protocol/events.ts'

interface OpenBlock {
  /** As it is told with the block's first delta. */
  block: AssistantBlock
  /** What was told so far. */
  text: string
  /** The first half of a surrogate pair, waiting for the second. */
  held: string
  /** How much of its text was heard this time; less than all of it while an answer is heard again. */
  heard: number
}

/** An answer as far as it was heard, which is what is left of one that breaks off. */
export interface Partial {
  readonly messageId: string
  /** In the order in which they began. A model's own indexes may leave out blocks that turned out empty. */
  readonly blocks: OpenBlock[]
  readonly places: Map<number, number>
  readonly callIds: Set<string>
  /** What is heard again is not what was heard before, of which the rest is gone: everything has to be told anew. */
  torn: boolean
}

/** @param known what was heard of it before: not told again */
export const newPartial = (messageId: string, known: readonly AssistantBlock[] = []): Partial => ({
  messageId,
  blocks: known.map((block) => ({ block, text: textIn(block), held: '', heard: 0 })),
  places: new Map(),
  callIds: new Set(),
  torn: false,
})

/** Whether there is nothing left that was heard before, and not yet again. */
export const isCaughtUp = ({ blocks, places }: Partial): boolean =>
  places.size === blocks.length && blocks.every(({ text, heard }) => heard === text.length)

/** The text that grows in a block as it is given. */
const textIn = (block: AssistantBlock): string =>
  block.type === 'text' || block.type === 'thinking'
    ? block.text
    : block.type === 'toolCall'
      ? (block.rawArguments ?? '')
      : ''

/**
 * The block at a place, with an id of its own if it is a call: each must be answered by its id. The same blocks in the same
 * order get the same ids, so that what was streamed and what is kept agree.
 */
function identified(block: AssistantBlock, place: number, taken: Set<string>): AssistantBlock {
  if (block.type !== 'toolCall') return block
  let { id } = block
  for (let n = 1; id === '' || taken.has(id); n++) id = `${block.id || 'call'}_${place}_${n}`
  taken.add(id)
  return id === block.id ? block : { ...block, id }
}

/** Begins a block, once. */
function open(partial: Partial, index: number, given: AssistantBlock): MessageDelta | undefined {
  const { blocks, places, callIds, messageId } = partial
  if (places.has(index)) return undefined
  const place = places.size
  const block = identified(given, place, callIds)
  const text = textIn(block)
  places.set(index, place)
  const known = blocks[place]
  if (known?.block.type === block.type && known.text.startsWith(text)) {
    Object.assign(known, { block, heard: text.length })
    return undefined
  }
  partial.torn ||= known !== undefined
  blocks.length = place
  blocks.push({ block, text, held: '', heard: text.length })
  return { type: 'message.delta', id: messageId, index: place, block, delta: '', offset: text.length }
}

/** Adds to a block what is whole and new of it; a half character waits. Undefined where that leaves nothing to tell. */
function grow(partial: Partial, place: number, added: string): MessageDelta | undefined {
  const { messageId, blocks } = partial
  const block = blocks[place]
  if (!block) return undefined
  const text = block.held + added
  block.held = endsInHighSurrogate(text) ? text.slice(-1) : ''
  const whole = wellFormed(block.held === '' ? text : text.slice(0, -1))
  const delta = block.heard < block.text.length ? unknownOf(partial, place, block, whole) : whole
  block.heard += whole.length
  if (delta === '') return undefined
  const offset = block.text.length
  block.text += delta
  return { type: 'message.delta', id: messageId, index: place, delta, offset }
}

/** What of a piece that is heard again was not heard before. */
function unknownOf(partial: Partial, place: number, block: OpenBlock, piece: string): string {
  const known = block.text.slice(block.heard, block.heard + piece.length)
  if (piece.startsWith(known)) return piece.slice(known.length)
  partial.torn = true
  partial.blocks.length = place + 1
  block.text = block.text.slice(0, block.heard)
  return piece
}

/** A piece of a block that may begin with it: told in one delta. */
function write(
  partial: Partial,
  index: number,
  empty: AssistantBlock | undefined,
  added: string,
): MessageDelta | undefined {
  const begins = !partial.places.has(index)
  if (begins && (!empty || added === '')) return undefined
  const opened = begins && empty ? open(partial, index, empty) : undefined
  const grown = grow(partial, partial.places.get(index) ?? -1, added)
  return opened && grown ? { ...opened, delta: grown.delta } : (grown ?? opened)
}

/**
 * Adds what a model said, and returns what there is to tell of it. A block that comes whole is told with an empty delta,
 * so that the blocks after it find their places.
 */
export function hear(partial: Partial, event: ModelEvent): MessageDelta | undefined {
  switch (event.type) {
    case 'text':
    case 'thinking':
      return write(partial, event.index, { type: event.type, text: '' }, event.delta)
    case 'source':
      return open(partial, event.index, event.source)
    case 'block':
      return open(partial, event.index, event.block)
    case 'toolCall': {
      const { index } = event
      if (event.phase === 'start') {
        const { phase: _, index: __, ...call } = event
        return open(partial, index, call)
      }
      if (event.phase === 'delta') return write(partial, index, undefined, event.delta)
      const known = partial.blocks[partial.places.get(index) ?? -1]
      if (known?.block.type === 'toolCall') known.block = { ...event.call, id: known.block.id }
      return open(partial, index, event.call)
    }
    default:
      return undefined
  }
}

/** What waits for a second half that will not come. */
export const flush = (partial: Partial): MessageDelta[] =>
  partial.blocks.flatMap((block, place) => {
    if (block.held === '') return []
    const offset = block.text.length
    const delta = wellFormed(block.held)
    block.text += delta
    block.heard += delta.length
    block.held = ''
    return [{ type: 'message.delta', id: partial.messageId, index: place, delta, offset }]
  })

/** A block with a text of its own. */
function withText(block: AssistantBlock, text: string): AssistantBlock {
  if (block.type === 'text' || block.type === 'thinking') return { ...block, text }
  return block.type === 'toolCall' && text !== '' ? { ...block, rawArguments: text } : block
}

/** The content as far as it was told. A call whose end was not heard has no arguments, only what was written of them. */
export const contentOf = ({ blocks }: Partial): AssistantBlock[] =>
  blocks.map(({ block, text }) =>
    block.type === 'toolCall' && block.arguments !== undefined ? block : withText(block, text),
  )

const saysNothing = (block: AssistantBlock): boolean =>
  (block.type === 'text' || block.type === 'thinking') && block.text === '' && block.signature === undefined

/** A model's final content as it is kept: whole characters, no blocks that say nothing, an id of its own for every call. */
export function finalContent(content: readonly AssistantBlock[]): AssistantBlock[] {
  const callIds = new Set<string>()
  return content
    .filter((block) => !saysNothing(block))
    .map((block, place) => identified(withText(block, wellFormed(textIn(block))), place, callIds))
}
