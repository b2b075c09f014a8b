import type { ErrorData } from '../lib/error-data.ts'
import { TidemarkError } from '../lib/errors.ts'
import type { AssistantBlock, SourceBlock, ToolCallBlock } from '../message/schema.ts'
import type { AssistantDraft, ModelEvent } from './contract.ts'
import { parseJson } from './json.ts'

/** A tool call that is still being written. */
export interface OpenCall {
  /** As the provider gave it; empty if it did not. */
  id: string
  /** The arguments as far as they were written. */
  raw: string
  /** Its place in the content; absent until the name is known, since nobody can be told of a call without one. */
  index?: number
  /** What else its block says. */
  readonly more: Pick<ToolCallBlock, 'server' | 'signature'>
}

export type GrowingBlock = Extract<AssistantBlock, { type: 'text' | 'thinking' }>

/** An answer under construction. Each piece is added to its block and told as an event, by the functions below. */
export interface Draft {
  readonly provider: string
  /** Most characters that are kept, so that a server that never ends cannot fill the memory. */
  readonly limit: number
  readonly content: AssistantBlock[]
  readonly calls: OpenCall[]
  readonly sources: Map<string, SourceBlock>
  head: { model?: string; responseId?: string }
  /** What the call has cost so far, by the newest report. */
  spent: Pick<AssistantDraft, 'usage' | 'usageRaw'>
  /** What was not yet taken. */
  readonly events: ModelEvent[]
  size: number
  /** The call that was written last. */
  lastCall: OpenCall | undefined
}

/** How an answer ended: the model was done, ran into its limit, or what went wrong. */
export type Ending = 'stop' | 'length' | ErrorData

export const createDraft = (provider: string, limit: number): Draft => ({
  provider,
  limit,
  content: [],
  calls: [],
  sources: new Map(),
  head: {},
  spent: {},
  events: [],
  size: 0,
  lastCall: undefined,
})

/** The events since the last call. */
export const takeEvents = ({ events }: Draft): readonly ModelEvent[] => events.splice(0)

/** Who answers, as far as the provider says so; what it says first counts. */
export function startDraft({ head, events }: Draft, model: string, responseId: string): void {
  const known = head.model ?? head.responseId
  if (model !== '') head.model ??= model
  if (responseId !== '') head.responseId ??= responseId
  if (known === undefined && (model || responseId)) events.push({ type: 'start', ...head })
}

/** A server began again: what it said so far is told, and cannot be taken back, but is left empty in the message. */
export function beginAgain(draft: Draft): void {
  draft.head = {}
  draft.calls.length = 0
  draft.sources.clear()
  draft.content.fill({ type: 'text', text: '' })
}

/** Adds to the last block, if it is like `empty`; else begins another. */
export function addText(draft: Draft, delta: string, empty: GrowingBlock = { type: 'text', text: '' }): void {
  const last = draft.content.at(-1)
  growBlock(draft, isLike(last, empty) ? last : empty, delta)
}

/** Adds to a block, which is in the message from its first piece on. */
export function growBlock(draft: Draft, block: GrowingBlock, delta: string): void {
  if (delta === '') return
  keep(draft, delta.length)
  const at = draft.content.lastIndexOf(block)
  const index = at < 0 ? append(draft, block) : at
  block.text += delta
  draft.events.push({ type: block.type, index, delta })
}

export const addThinking = (draft: Draft, delta: string): void =>
  addText(draft, delta, { type: 'thinking', text: '' })

/** The model's refusal: its words, marked. */
export const addRefusal = (draft: Draft, delta: string): void =>
  addText(draft, delta, { type: 'text', text: '', refusal: true })

/** What a block is like, as far as it matters for adding to it. */
interface Likeness {
  type: string
  signature?: string | undefined
  refusal?: boolean | undefined
}

/** Whether a block can take in more of the same. Proof covers what was written before it, and no more. */
const isLike = (block: Likeness | undefined, empty: Likeness): block is GrowingBlock =>
  block?.type === empty.type && block.signature === undefined && block.refusal === empty.refusal

/**
 * Proof for the thinking that was written last.
 * @returns whether there was any without proof
 */
export function signThinking({ content }: Draft, signature: string): boolean {
  const last = content.findLast((block) => block.type === 'thinking')
  if (!last || last.signature !== undefined) return false
  last.signature = signature
  return true
}

/** Begins a call; `id` and `name` may be empty, if they are to come later or never. */
export function openCall(draft: Draft, id: string, name: string, more: OpenCall['more'] = {}): OpenCall {
  keep(draft, 64)
  const call: OpenCall = { id, raw: '', more }
  draft.calls.push(call)
  draft.lastCall = call
  nameCall(draft, call, name)
  return call
}

/** The first name counts. */
export function nameCall(draft: Draft, call: OpenCall, name: string): void {
  if (name === '' || call.index !== undefined) return
  const id = uniqueId(call.id, draft.content)
  const block: ToolCallBlock = { type: 'toolCall', id, name, ...call.more }
  const index = append(draft, block)
  call.index = index
  draft.events.push({ ...block, phase: 'start', index })
  tellCall(draft, call, call.raw)
}

/** A piece of a call's arguments, as JSON text. */
export function writeCall(draft: Draft, call: OpenCall, delta: string): void {
  keep(draft, delta.length)
  call.raw += delta
  draft.lastCall = call
  tellCall(draft, call, delta)
}

function tellCall({ events }: Draft, { index }: OpenCall, delta: string): void {
  if (index !== undefined && delta !== '') events.push({ type: 'toolCall', phase: 'delta', index, delta })
}

/** A block that came whole. */
export function addBlock(draft: Draft, block: AssistantBlock): void {
  keep(draft, JSON.stringify(block).length)
  draft.events.push({ type: 'block', index: append(draft, block), block })
}

/** A citation. Told once an address, and at the end: before, it would tear a text that is still being written in two. */
export function addSource(draft: Draft, url: string, title: string): void {
  if (url === '' || draft.sources.get(url)?.title) return
  keep(draft, url.length)
  draft.sources.set(url, { type: 'source', url, ...(title && { title }) })
}

/** The last event. */
export function endDraft(draft: Draft, ending: Ending): void {
  const { provider, content, head, spent, events } = draft
  // In an answer that was cut off, the call written last may be cut too, even where what is there happens to parse.
  for (const call of draft.calls) closeCall(draft, call, ending === 'stop' || call !== draft.lastCall)
  for (const source of draft.sources.values())
    events.push({ type: 'source', index: content.push(source) - 1, source })
  const message: AssistantDraft = { role: 'assistant', content, provider, ...head, ...spent }
  if (typeof ending === 'object') {
    const reason = ending.code === 'aborted' ? 'aborted' : 'error'
    const error = { provider, ...ending }
    events.push({ type: 'error', reason, error, message: { ...message, stopReason: reason } })
  } else {
    const called = content.some((block) => block.type === 'toolCall' && !block.server)
    const reason = called && ending === 'stop' ? 'toolUse' : ending
    events.push({ type: 'done', reason, message: { ...message, stopReason: reason } })
  }
}

/** Counts characters that are kept. Throws `protocol` when they are too many. */
export function keep(draft: Draft, characters: number): void {
  draft.size += characters
  if (draft.size > draft.limit)
    throw new TidemarkError('protocol', `the answer has more than ${draft.limit} characters`)
}

function append(draft: Draft, block: AssistantBlock): number {
  keep(draft, 64)
  return draft.content.push(block) - 1
}

/** The id the provider gave, or one made up from the call's place; never one that this answer already has. */
function uniqueId(id: string, content: readonly AssistantBlock[]): string {
  let unique = id || `call_${content.length}`
  while (content.some((block) => block.type === 'toolCall' && block.id === unique)) unique += '_'
  return unique
}

/** Settles what a call's arguments are, once nothing more can come. One that was never named is none. */
function closeCall({ content, events }: Draft, { raw, index = -1 }: OpenCall, complete: boolean): void {
  const open = content[index]
  if (open?.type !== 'toolCall') return
  // No text at all is how many servers say "no arguments".
  const parsed = complete ? parseJson(raw || '{}') : undefined
  const call: ToolCallBlock = {
    ...open,
    ...(parsed ? { arguments: parsed.value } : { rawArguments: raw }),
  }
  content[index] = call
  events.push({ type: 'toolCall', phase: 'end', index, call })
}
