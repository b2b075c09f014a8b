import type { Dialect } from './adapter.ts'
import {
  addBlock,
  addSource,
  beginAgain,
  type Draft,
  type Ending,
  type GrowingBlock,
  growBlock,
  keep,
  type OpenCall,
  openCall,
  startDraft,
  writeCall,
} from './draft.ts'
import { count, type JsonRecord, list, record, string } from './json.ts'
import { setUsage } from './usage.ts'

/** A content block that is still being written: one that grows, a call, or one that we do not know. */
interface OpenBlock {
  readonly block?: GrowingBlock
  readonly call?: OpenCall
  /** What else it is made of, as far as it came. */
  readonly raw: Map<string, unknown>
  readonly citations: unknown[]
  /** A call's arguments, where they came at its beginning. */
  readonly input: unknown
}

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
  else if (type === 'content_block_delta') {
    const block = state.open.get(index)
    if (block) writeBlock(draft, block, record(event.delta))
  } else if (type === 'content_block_stop') endBlock(draft, state, index)
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

function beginBlock(draft: Draft, { open }: MessagesState, index: unknown, piece: JsonRecord): void {
  // What was written before is whole.
  draft.lastCall = undefined
  const { type, input } = piece
  const began = { raw: new Map([['type', type]]), citations: [], input, ...openBlock(draft, piece) }
  open.set(index, began)
  writeBlock(draft, began, piece)
}

function openBlock(draft: Draft, piece: JsonRecord): Pick<OpenBlock, 'block' | 'call'> {
  const { type, id, name, input: _, ...more } = piece
  if (type === 'text' || type === 'thinking') return { block: { type, text: '' } }
  if (type === 'redacted_thinking') return { block: { type: 'thinking', text: '', redacted: true } }
  const server = type === 'server_tool_use' || type === 'mcp_tool_use'
  if (!server && type !== 'tool_use') return {}
  // What has no field of its own goes back as it came.
  const rest = server ? { type, ...more } : more
  const signature = Object.keys(rest).length > 0 && { signature: JSON.stringify(rest) }
  return { call: openCall(draft, string(id), string(name), { ...(server && { server }), ...signature }) }
}

/** A piece of a block; what a block begins with is spelt like its pieces. */
function writeBlock(draft: Draft, { raw, block, call, citations }: OpenBlock, piece: JsonRecord): void {
  if (call) {
    writeCall(draft, call, string(piece.partial_json))
    return
  }
  if (block) growBlock(draft, block, string(piece[block.type]))
  for (const [key, value] of Object.entries(piece)) {
    if (key === 'type' || key === block?.type) continue
    keep(draft, JSON.stringify(value).length)
    if (key === 'citation') citations.push(value)
    else if (key === 'citations') citations.push(...list(value))
    // Such as proofs and summaries: texts grow, anything else is set.
    else raw.set(key, typeof value === 'string' ? string(raw.get(key)) + value : value)
  }
}

function endBlock(draft: Draft, { open }: MessagesState, index: unknown): void {
  const ended = open.get(index)
  if (!ended) return
  open.delete(index)
  const { raw, block, call, citations, input } = ended
  if (call) {
    if (call.raw === '' && Object.keys(record(input)).length > 0)
      writeCall(draft, call, JSON.stringify(input))
  } else if (block) {
    for (const citation of citations.map(record))
      addSource(draft, string(citation.url), string(citation.title))
    const proof = string(raw.get('signature')) || string(raw.get('data'))
    if (proof !== '') block.signature = proof
    else if (citations.length > 0) block.signature = JSON.stringify({ citations })
    // Thinking that is not shown: its proof has to go back all the same.
    if (proof !== '' && block.text === '') addBlock(draft, block)
  } else addBlock(draft, { type: 'other', provider: draft.provider, raw: Object.fromEntries(raw) })
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
  setUsage(draft, found, { prompt, completion, cacheRead, cacheWrite, reasoning })
}

const COUNTS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens']

/** `pause_turn` and any reason that nobody knows yet are an end like others. */
function endingOf({ stop, details }: MessagesState): Ending {
  if (/^max_tokens|context_window/.test(stop)) return 'length'
  if (!/refusal|sensitive/.test(stop)) return 'stop'
  const message = string(details.explanation) || `the model stopped: ${stop}`
  return { code: 'refusal', message }
}
