import type { TextBlock, ThinkingBlock } from '../message/schema.ts'
import { isRecord } from '../protocol/lenient.ts'
import {
  addBlock,
  addSource,
  beginAgain,
  type Draft,
  type Ending,
  growBlock,
  keep,
  type OpenCall,
  openCall,
  setUsage,
  startDraft,
  writeCall,
} from './draft.ts'
import type { Dialect } from './hear.ts'
import { count, type JsonRecord, list, record, string } from './json.ts'
import { usageOf } from './usage.ts'

/** A content block that is still being written. */
type OpenBlock =
  | { kind: 'text'; block: TextBlock; citations: unknown[] }
  | { kind: 'thinking'; block: ThinkingBlock; proof: string }
  | { kind: 'call'; call: OpenCall; input: unknown }
  /** One that we do not know, as it came so far. */
  | { kind: 'other'; raw: Record<string, unknown> }

/** What is remembered of an answer between its events. */
export interface MessagesState {
  /** Blocks by the number the server gives them. */
  readonly open: Map<unknown, OpenBlock>
  /** The message's id; undefined until it began. */
  id: string | undefined
  /** The newest of each of `COUNTS`. */
  counts: (number | undefined)[]
  /** The reason to stop, and what is said about it. */
  stop: string
  details: JsonRecord
}

/** Anthropic's Messages dialect. */
export const messagesDialect: Dialect<MessagesState> = {
  begin: () => ({ open: new Map(), id: undefined, counts: [], stop: '', details: {} }),
  read: readEvent,
  // Only `message_stop` is an end; some gateways put [DONE] in its place.
  end: (state, marked) => (marked && state.stop ? endingOf(state) : undefined),
}

function readEvent(draft: Draft, state: MessagesState, value: unknown, whole: boolean): Ending | undefined {
  const event = record(value)
  const { type, index } = event
  if (type === 'message' && whole) {
    readMessage(draft, state, event)
    return endingOf(state)
  }
  if (type === 'message_start') readMessage(draft, state, record(event.message))
  else if (type === 'content_block_start') beginBlock(draft, state, index, record(event.content_block))
  else if (type === 'content_block_delta') writeBlock(draft, state.open.get(index), record(event.delta))
  else if (type === 'content_block_stop') endBlock(draft, state, index)
  else if (type === 'message_delta') readState(draft, state, record(event.delta), event.usage)
  else if (type === 'message_stop') {
    for (const unended of state.open.keys()) endBlock(draft, state, unended)
    return endingOf(state)
  }
  return undefined
}

/** A message at its beginning, or whole: a stream's may have content already. */
function readMessage(draft: Draft, state: MessagesState, message: JsonRecord): void {
  const id = string(message.id)
  if (state.id === id) return
  // A gateway that tried again: what the first try left unfinished is not part of the answer.
  if (state.id !== undefined) beginAgain(draft)
  state.open.clear()
  state.id = id
  startDraft(draft, string(message.model), id)
  for (const [i, block] of list(message.content).entries()) {
    beginBlock(draft, state, i, record(block))
    endBlock(draft, state, i)
  }
  readState(draft, state, message, message.usage)
}

function beginBlock(draft: Draft, { open }: MessagesState, index: unknown, raw: JsonRecord): void {
  // What was written before is whole.
  draft.lastCall = undefined
  const began = openBlock(draft, raw)
  open.set(index, began)
  if (began.kind !== 'other') writeBlock(draft, began, raw)
}

function openBlock(draft: Draft, raw: JsonRecord): OpenBlock {
  const { type, id, name, input, ...more } = raw
  if (type === 'text') return { kind: type, block: { type, text: '' }, citations: [] }
  if (type === 'thinking') return { kind: type, block: { type, text: '' }, proof: '' }
  if (type === 'redacted_thinking')
    return {
      kind: 'thinking',
      block: { type: 'thinking', text: '', redacted: true },
      proof: string(raw.data),
    }
  const server = type === 'server_tool_use' || type === 'mcp_tool_use'
  if (!server && type !== 'tool_use') return { kind: 'other', raw: { ...raw } }
  // What has no field of its own goes back as it came.
  const rest = server ? { type, ...more } : more
  const call = openCall(draft, string(id), string(name), {
    ...(server && { server }),
    ...(Object.keys(rest).length > 0 && { signature: JSON.stringify(rest) }),
  })
  return { kind: 'call', call, input }
}

/** A piece of a block; what a block begins with is spelt like its pieces. */
function writeBlock(draft: Draft, open: OpenBlock | undefined, piece: JsonRecord): void {
  if (open?.kind === 'text') {
    growBlock(draft, open.block, string(piece.text))
    for (const item of [...list(piece.citations), piece.citation]) {
      if (!isRecord(item)) continue
      keep(draft, JSON.stringify(item).length)
      open.citations.push(item)
      addSource(draft, string(item.url), string(item.title))
    }
  } else if (open?.kind === 'thinking') {
    growBlock(draft, open.block, string(piece.thinking))
    open.proof = string(piece.signature) || open.proof
    keep(draft, string(piece.signature).length)
  } else if (open?.kind === 'call') {
    writeCall(draft, open.call, string(piece.partial_json))
  } else if (open) {
    // Such as a summary: texts grow, anything else is set.
    keep(draft, JSON.stringify(piece).length)
    for (const [key, value] of Object.entries(piece))
      if (key !== 'type') open.raw[key] = typeof value === 'string' ? string(open.raw[key]) + value : value
  }
}

function endBlock(draft: Draft, { open }: MessagesState, index: unknown): void {
  const ended = open.get(index)
  open.delete(index)
  if (ended?.kind === 'text') {
    if (ended.citations.length > 0) ended.block.signature = JSON.stringify({ citations: ended.citations })
  } else if (ended?.kind === 'thinking') {
    const { block, proof } = ended
    if (proof !== '') block.signature = proof
    // Thinking that is not shown: its proof has to go back all the same.
    if (block.text === '' && proof !== '') addBlock(draft, block)
  } else if (ended?.kind === 'call') {
    const { call, input } = ended
    if (call.raw === '' && Object.keys(record(input)).length > 0)
      writeCall(draft, call, JSON.stringify(input))
  } else if (ended) {
    addBlock(draft, { type: 'other', provider: draft.provider, raw: ended.raw })
  }
}

/** How far the message is: its reason to stop, and its counts, of which the newest hold. */
function readState(draft: Draft, state: MessagesState, told: JsonRecord, found: unknown): void {
  state.stop = string(told.stop_reason) || state.stop
  state.details = record(told.stop_details)
  const usage = record(found)
  state.counts = COUNTS.map((name, i) => count(usage[name]) ?? state.counts[i])
  const [input, cacheRead = 0, cacheWrite = 0, completion] = state.counts
  if (input === undefined) return
  const prompt = input + cacheRead + cacheWrite
  const reasoning = count(record(usage.output_tokens_details).thinking_tokens)
  const sum = usageOf({ prompt, completion, cacheRead, cacheWrite, reasoning })
  if (sum) setUsage(draft, sum)
}

const COUNTS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens']

/** `pause_turn` and any reason that nobody knows yet are an end like others. */
function endingOf({ stop, details }: MessagesState): Ending {
  if (/^max_tokens|context_window/.test(stop)) return { reason: 'length' }
  if (!/refusal|sensitive/.test(stop)) return { reason: 'stop' }
  const words = ['the model stopped', stop, string(details.category), string(details.explanation)]
  const message = words.filter((word) => word !== '').join(': ')
  return { reason: 'error', error: { code: 'refusal', message } }
}
