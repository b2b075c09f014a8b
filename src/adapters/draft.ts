import { type ErrorData, TidemarkError } from '../lib/errors.ts'
import { endsInHighSurrogate } from '../lib/text.ts'
import type { AssistantBlock, SourceBlock, ToolCallBlock, Usage } from '../message/schema.ts'
import type { AssistantDraft, ModelEvent } from './contract.ts'
import { parseJson } from './json.ts'

/** A tool call that is still being written. */
export interface OpenCall {
  /** As the provider gave it; empty if it did not. */
  id: string
  name: string
  /** The arguments as far as they were written. */
  raw: string
  /** Its block: where it stands and the id it has there. Absent until the name is known: nobody can be told of a call without. */
  place?: { index: number; id: string }
}

type GrowingBlock = Extract<AssistantBlock, { type: 'text' | 'thinking' }>

/** An answer under construction. Each piece is added to its block and told as an event, by the functions below. */
export interface Draft {
  readonly provider: string
  /** Most characters that are kept, so that a server that never ends cannot fill the memory. */
  readonly limit: number
  readonly content: AssistantBlock[]
  readonly calls: OpenCall[]
  readonly sources: Map<string, SourceBlock>
  readonly head: { model?: string; responseId?: string; usage?: Usage }
  /** What was not yet taken. */
  events: ModelEvent[]
  size: number
  ended: boolean
  /** The block that grows; always the last one. */
  open: GrowingBlock | undefined
  /** The first half of a surrogate pair, waiting for the second: no event carries half a character. */
  held: string
  /** The call that was written last. */
  lastCall: OpenCall | undefined
}

/** How an answer ended. */
export type Ending = { reason: 'stop' | 'length' } | { reason: 'error' | 'aborted'; error: ErrorData }

export const createDraft = (provider: string, limit: number): Draft => ({
  provider,
  limit,
  content: [],
  calls: [],
  sources: new Map(),
  head: {},
  events: [],
  size: 0,
  ended: false,
  open: undefined,
  held: '',
  lastCall: undefined,
})

/** The events since the last call. */
export function takeEvents(draft: Draft): readonly ModelEvent[] {
  const { events } = draft
  draft.events = []
  return events
}

/** Who answers, as far as the provider says so; the first answer counts. */
export function startDraft(draft: Draft, model: string, responseId: string): void {
  const { head } = draft
  const first = head.model === undefined && head.responseId === undefined
  if (model !== '') head.model ??= model
  if (responseId !== '') head.responseId ??= responseId
  const { usage: _, ...start } = head
  if (first && Object.keys(start).length > 0) draft.events.push({ type: 'start', ...start })
}

export const addText = (draft: Draft, delta: string): void => grow(draft, { type: 'text', text: '' }, delta)

/** The model's refusal: its words, marked. */
export const addRefusal = (draft: Draft, delta: string): void =>
  grow(draft, { type: 'text', text: '', refusal: true }, delta)

export const addThinking = (draft: Draft, delta: string): void =>
  grow(draft, { type: 'thinking', text: '' }, delta)

/**
 * Proof for the thinking that was written last. It covers exactly that: what is thought next is a new block.
 * @returns whether there was any without proof
 */
export function signThinking(draft: Draft, signature: string): boolean {
  const last = draft.content.findLast((block) => block.type === 'thinking')
  if (!last || last.signature !== undefined) return false
  last.signature = signature
  if (draft.open === last) close(draft)
  return true
}

/** Begins a call; `id` and `name` may be empty, if they are to come later or never. */
export function openCall(draft: Draft, id: string, name: string): OpenCall {
  count(draft, 64)
  const call: OpenCall = { id, name: '', raw: '' }
  draft.calls.push(call)
  draft.lastCall = call
  nameCall(draft, call, name)
  return call
}

/** The first name counts. */
export function nameCall(draft: Draft, call: OpenCall, name: string): void {
  if (name === '' || call.name !== '') return
  const { raw } = call
  const id = uniqueId(call.id, draft.content)
  const index = append(draft, { type: 'toolCall', id, name })
  call.name = name
  call.place = { index, id }
  draft.events.push({ type: 'toolCall', phase: 'start', index, id, name })
  if (raw !== '') draft.events.push({ type: 'toolCall', phase: 'delta', index, delta: raw })
}

/** A piece of a call's arguments, as JSON text. */
export function writeCall(draft: Draft, call: OpenCall, delta: string): void {
  if (delta === '') return
  count(draft, delta.length)
  call.raw += delta
  draft.lastCall = call
  if (call.place) draft.events.push({ type: 'toolCall', phase: 'delta', index: call.place.index, delta })
}

/** A block that came whole. */
export function addBlock(draft: Draft, block: AssistantBlock): void {
  const index = append(draft, block)
  draft.events.push({ type: 'block', index, block })
}

/** A citation. Told once an address, and at the end: before, it would tear a text that is still being written in two. */
export function addSource(draft: Draft, source: SourceBlock): void {
  const known = draft.sources.get(source.url)
  if (known?.title !== undefined) return
  if (!known) count(draft, 64 + source.url.length)
  draft.sources.set(source.url, source)
}

/** What the call has cost so far. Later reports replace earlier ones. */
export function setUsage(draft: Draft, usage: Usage): void {
  draft.head.usage = usage
  draft.events.push({ type: 'usage', usage })
}

/** The last event. A second ending is ignored. */
export function endDraft(draft: Draft, ending: Ending): void {
  if (draft.ended) return
  draft.ended = true
  const { provider, content, head, events } = draft
  close(draft)
  // In an answer that was cut off, the call written last may be cut too, even where what is there happens to parse.
  for (const call of draft.calls) closeCall(draft, call, ending.reason === 'stop' || call !== draft.lastCall)
  for (const source of draft.sources.values())
    events.push({ type: 'source', index: content.push(source) - 1, source })
  const message: AssistantDraft = { role: 'assistant', content, provider, ...head, stopReason: ending.reason }
  if ('error' in ending) {
    events.push({ type: 'error', reason: ending.reason, error: { provider, ...ending.error }, message })
    return
  }
  const called = content.some((block) => block.type === 'toolCall' && !block.server)
  const reason = called && ending.reason === 'stop' ? 'toolUse' : ending.reason
  events.push({ type: 'done', reason, message: { ...message, stopReason: reason } })
}

function count(draft: Draft, characters: number): void {
  draft.size += characters
  if (draft.size > draft.limit)
    throw new TidemarkError('protocol', `the answer is longer than ${draft.limit} characters`)
}

function append(draft: Draft, block: AssistantBlock): number {
  count(draft, 64)
  close(draft)
  return draft.content.push(block) - 1
}

function grow(draft: Draft, empty: GrowingBlock, delta: string): void {
  if (delta === '') return
  count(draft, delta.length)
  const { open } = draft
  const refusal = (block: GrowingBlock) => block.type === 'text' && block.refusal === true
  if (open?.type !== empty.type || refusal(open) !== refusal(empty)) {
    append(draft, empty)
    draft.open = empty
  }
  const text = draft.held + delta
  draft.held = endsInHighSurrogate(text) ? text.slice(-1) : ''
  tell(draft, draft.held === '' ? text : text.slice(0, -1))
}

function tell(draft: Draft, delta: string): void {
  const { open, content, events } = draft
  if (!open || delta === '') return
  open.text += delta
  events.push({ type: open.type, index: content.length - 1, delta })
}

function close(draft: Draft): void {
  tell(draft, draft.held)
  draft.held = ''
  draft.open = undefined
}

/** The id the provider gave, or one made up from the call's place; never one that this answer already has. */
function uniqueId(id: string, content: readonly AssistantBlock[]): string {
  const base = id === '' ? `call_${content.length}` : id
  const taken = (candidate: string) =>
    content.some((block) => block.type === 'toolCall' && block.id === candidate)
  let candidate = base
  for (let n = 2; taken(candidate); n++) candidate = `${base}_${n}`
  return candidate
}

/** Settles what a call's arguments are, once nothing more can come. */
function closeCall({ content, events, provider }: Draft, call: OpenCall, complete: boolean): void {
  const { name, raw, place } = call
  if (!place) {
    // Never named: an empty one is a placeholder that some servers send, anything else is kept for the record.
    if (raw === '') return
    const other: AssistantBlock = { type: 'other', provider, raw: { id: call.id, arguments: raw } }
    events.push({ type: 'block', index: content.push(other) - 1, block: other })
    return
  }
  // No text at all is how many servers say "no arguments".
  const parsed = complete ? parseJson(raw === '' ? '{}' : raw) : undefined
  const args = parsed ? { arguments: parsed.value } : { rawArguments: raw }
  const block: ToolCallBlock = { type: 'toolCall', id: place.id, name, ...args }
  content[place.index] = block
  events.push({ type: 'toolCall', phase: 'end', index: place.index, call: block })
}
