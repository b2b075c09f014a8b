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
}

/** An answer as far as it was heard, which is what is left of one that breaks off. */
export interface Partial {
  readonly messageId: string
  /** In the order in which they began. A model's own indexes may leave out blocks that turned out empty. */
  readonly blocks: OpenBlock[]
  readonly places: Map<number, number>
  readonly callIds: Set<string>
}

export const newPartial = (messageId: string): Partial => ({
  messageId,
  blocks: [],
  places: new Map(),
  callIds: new Set(),
})

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
  const place = blocks.length
  const block = identified(given, place, callIds)
  const text = textIn(block)
  places.set(index, place)
  blocks.push({ block, text, held: '' })
  return { type: 'message.delta', id: messageId, index: place, block, delta: '', offset: text.length }
}

/** Adds to a block what is whole of it; a half character waits. Undefined where that leaves nothing to tell. */
function grow({ messageId, blocks }: Partial, place: number, added: string): MessageDelta | undefined {
  const block = blocks[place]
  if (!block) return undefined
  const text = block.held + added
  block.held = endsInHighSurrogate(text) ? text.slice(-1) : ''
  const delta = wellFormed(block.held === '' ? text : text.slice(0, -1))
  if (delta === '') return undefined
  const offset = block.text.length
  block.text += delta
  return { type: 'message.delta', id: messageId, index: place, delta, offset }
}

/** A piece of a block that may begin with it: told in one delta. */
function write(
  partial: Partial,
  index: number,
  empty: AssistantBlock | undefined,
  added: string,
): MessageDelta | undefined {
  const place = partial.places.get(index)
  if (place !== undefined) return grow(partial, place, added)
  if (!empty || added === '') return undefined
  const opened = open(partial, index, empty)
  const grown = opened && grow(partial, opened.index, added)
  return grown ? { ...opened, delta: grown.delta } : opened
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
