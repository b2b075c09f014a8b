import { isRecord } from '../protocol/lenient.ts'
import type { Dialect } from './adapter.ts'
import {
  addBlock,
  addSource,
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
import { errorIn, failureFrom } from './failure.ts'
import { count, type JsonRecord, list, record, rowOf, string } from './json.ts'
import { CUSTOM, encodeResume } from './openai-responses-encode.ts'
import { setUsage } from './usage.ts'

/** An item of the output that is still being written. */
interface OpenItem {
  /** Its texts, in the order in which they began. */
  readonly blocks: GrowingBlock[]
  /** Kind and number of the part that is written to. The numbers are no places: the first text may be number 1. */
  part: string
  call?: OpenCall
}

/** What is remembered of an answer between its pieces. */
export interface ResponsesState {
  /** By their place in the output, as the server gives it. */
  readonly open: Map<unknown, OpenItem>
  /** The places and ids of items that are complete. */
  readonly closed: Set<unknown>
  /** An error that was told; a fuller one may follow. */
  failure?: Ending
  /** The id of an answer that the provider keeps, and the number of the last event. */
  kept?: string
  last?: number | undefined
}

/** OpenAI's Responses dialect, and that of its imitators. */
export const responsesDialect: Dialect<ResponsesState> = {
  begin: () => ({ open: new Map(), closed: new Set() }),
  read: readEvent,
  end: ({ failure }) => failure,
  owns: (value) =>
    record(value).object === 'response' || /^(error$|response\.)/.test(string(record(value).type)),
  rest: ({ kept, last }) => (kept ? encodeResume(kept, last) : undefined),
}

function readEvent(draft: Draft, state: ResponsesState, value: unknown, whole: boolean): Ending | undefined {
  const event = record(value)
  const type = string(event.type).replace('response.', '')
  state.last = count(event.sequence_number) ?? state.last
  if (type === 'error') {
    state.failure = failureFrom(errorIn(event, true) ?? {})
    return whole ? state.failure : undefined
  }
  // Without an output, or why there is none, a whole answer is none of these.
  if (whole && !Array.isArray(event.output) && !isRecord(event.error)) return undefined
  const response = whole ? event : event.response
  if (isRecord(response)) return readResponse(draft, state, response, type)
  rowOf(READERS, type)?.(draft, state, event)
  return undefined
}

type Reader = (draft: Draft, state: ResponsesState, event: JsonRecord) => void

/** An empty block for what a part of a message, or an item, is called. */
const emptyBlock = (kind: unknown): GrowingBlock =>
  kind === 'reasoning'
    ? { type: 'thinking', text: '' }
    : { type: 'text', text: '', ...(kind === 'refusal' && { refusal: true }) }

/** A piece of a message. Each of its parts is a block. */
const write =
  (kind: string): Reader =>
  (draft, state, { output_index: place, content_index: number, delta }) => {
    const item = itemAt(draft, state, place)
    const part = `${kind} ${number}`
    const block = (item.part === part && item.blocks.at(-1)) || emptyBlock(kind)
    if (item.part !== part) item.blocks.push(block)
    item.part = part
    growBlock(draft, block, string(delta))
  }

/** A piece of thinking. That of an item is one block; where it comes both in full and in summary, the first counts. */
const think =
  (kind: string): Reader =>
  (draft, state, { output_index: place, content_index, summary_index: number = content_index, delta }) => {
    const item = itemAt(draft, state, place)
    const part = `${kind} ${number}`
    const [block = emptyBlock('reasoning')] = item.blocks
    if (item.part !== '' && !item.part.startsWith(kind)) return
    growBlock(draft, block, (item.part === '' || item.part === part ? '' : '\n\n') + string(delta))
    item.blocks[0] = block
    item.part = part
  }

/** What each event means, named without its `response.`. Those that are not here say nothing that others do not say too. */
const READERS: Readonly<Record<string, Reader>> = {
  'output_item.added'(draft, state, { output_index: place, item }) {
    // Some servers give every item the same place.
    state.open.delete(place)
    state.closed.delete(place)
    const open = itemAt(draft, state, place)
    const { type } = record(item)
    if (type === 'function_call' || type === CUSTOM) open.call = beginCall(draft, record(item))
    if (open.call && type === CUSTOM) writeCall(draft, open.call, '"')
  },
  'output_item.done': (draft, state, { output_index: place, item }) =>
    closeItem(draft, state, place, record(item)),
  'output_text.delta': write('text'),
  'refusal.delta': write('refusal'),
  'reasoning_text.delta': think('reasoning'),
  'reasoning_summary_text.delta': think('summary'),
  'function_call_arguments.delta'(draft, { open }, { output_index: place, delta }) {
    const call = open.get(place)?.call
    if (call) writeCall(draft, call, string(delta))
  },
  'custom_tool_call_input.delta'(draft, { open }, { output_index: place, delta }) {
    const call = open.get(place)?.call
    if (call) writeCall(draft, call, JSON.stringify(string(delta)).slice(1, -1))
  },
  'output_text.annotation.added': (draft, _, { annotation }) => cite(draft, annotation),
}

function itemAt(draft: Draft, { open }: ResponsesState, place: unknown): OpenItem {
  const known = open.get(place)
  if (known) return known
  keep(draft, 64)
  const item = { blocks: [], part: '' }
  open.set(place, item)
  return item
}

const beginCall = (draft: Draft, item: JsonRecord): OpenCall =>
  openCall(draft, string(item.call_id), string(item.name), { signature: proofOf(item) })

/** An item is complete: what it says now stands, whatever was streamed of it. */
function closeItem(draft: Draft, state: ResponsesState, place: unknown, item: JsonRecord): void {
  if (state.closed.has(item.id)) return
  const open = itemAt(draft, state, place)
  state.open.delete(place)
  state.closed.add(place).add(item.id ?? place)
  ;(rowOf(CLOSERS, item.type) ?? keepItem)(draft, item, open)
}

type Closer = (draft: Draft, item: JsonRecord, open: OpenItem) => void

/** Items that become blocks. All others are kept as they came: calls that the provider made itself, and what came of them. */
const CLOSERS: Readonly<Record<string, Closer>> = {
  message(draft, item, { blocks }) {
    const streamed = blocks.values()
    for (const part of list(item.content).map(record)) {
      for (const annotation of list(part.annotations)) cite(draft, annotation)
      if (part.type !== 'output_text' && part.type !== 'refusal')
        keepItem(draft, { ...item, content: [part] })
      else
        settle(draft, item, streamed.next().value ?? emptyBlock(part.type), string(part.text ?? part.refusal))
    }
  },
  reasoning(draft, item, { blocks: [block = emptyBlock('reasoning')] }) {
    const textOf = (parts: unknown) => list(parts).map(textIn).join('\n\n')
    settle(draft, item, block, textOf(item.summary) || textOf(item.content))
    // Thinking that is proven, but not shown.
    if (block.text === '' && item.encrypted_content)
      addBlock(draft, { type: 'thinking', text: '', signature: proofOf(item), redacted: true })
  },
  function_call: (draft, item, open) => closeCall(draft, item, open, string(item.arguments)),
  // Its input is a text: as arguments, that is a JSON string.
  custom_tool_call: (draft, item, open) => closeCall(draft, item, open, JSON.stringify(string(item.input))),
  image_generation_call(draft, item) {
    const mimeType = `image/${string(item.output_format) || 'png'}`
    const data = string(item.result)
    if (data) addBlock(draft, { type: 'image', mimeType, data, signature: proofOf(item) })
    else keepItem(draft, item)
  },
}

const textIn = (part: unknown): string => string(record(part).text)

const keepItem = (draft: Draft, raw: JsonRecord): void =>
  addBlock(draft, { type: 'other', provider: draft.provider, raw })

/** The whole text of a block. Where something else was streamed, only the final message can tell. */
function settle(draft: Draft, item: JsonRecord, block: GrowingBlock, text: string): void {
  block.signature = proofOf(item)
  keep(draft, block.signature.length)
  if (text.startsWith(block.text)) growBlock(draft, block, text.slice(block.text.length))
  else if (text !== '') block.text = text
}

function closeCall(draft: Draft, item: JsonRecord, open: OpenItem, args: string): void {
  const { call = beginCall(draft, item) } = open
  if (args.startsWith(call.raw)) writeCall(draft, call, args.slice(call.raw.length))
  else if (args !== '') call.raw = args
  // It is complete, even if the answer is not.
  if (item.status === 'completed') draft.lastCall = undefined
}

/** What an item that goes back says beside its content: what ties it to others, and the proof of its thinking. */
const proofOf = ({ type, id, encrypted_content: proof, phase, namespace }: JsonRecord): string =>
  JSON.stringify({ type, id, encrypted_content: proof, phase, namespace }, (_, value) => value ?? undefined)

const cite = (draft: Draft, annotation: unknown): void =>
  addSource(draft, string(record(annotation).url), string(record(annotation).title))

/** The answer as it stands. At its end, that is all of it. */
function readResponse(
  draft: Draft,
  state: ResponsesState,
  { id, model, background, usage, output, status, error, incomplete_details: details }: JsonRecord,
  event: string,
): Ending | undefined {
  startDraft(draft, string(model), string(id))
  if (background === true) state.kept = string(id)
  if (isRecord(usage)) readUsage(draft, usage)
  const end = rowOf(ENDS, event) ?? rowOf(ENDS, status)
  // Where the output is empty in the end, as from some proxies, what was streamed is the answer.
  for (const [place, item] of end ? list(output).entries() : [])
    if (!state.closed.has(place)) closeItem(draft, state, place, record(item))
  if (end === ENDS.failed && !error && state.failure) return state.failure
  // The receipt of an answer that is written in the background.
  if (!end && event === '') return { code: 'protocol', message: `there is no answer yet: ${status}` }
  return end?.(record(error), string(record(details).reason))
}

/** How an answer ends, by its status. Any other status is no end. */
const ENDS: Readonly<Record<string, (error: JsonRecord, reason: string) => Ending>> = {
  completed: () => 'stop',
  incomplete: (_, reason) =>
    /filter/.test(reason) ? { code: 'refusal', message: `the model stopped: ${reason}` } : 'length',
  failed: (error) => failureFrom(error),
  cancelled: () => ({ code: 'aborted', message: 'the answer was cancelled' }),
}

function readUsage(draft: Draft, found: JsonRecord): void {
  const input = record(found.input_tokens_details)
  setUsage(draft, found, {
    prompt: count(found.input_tokens),
    completion: count(found.output_tokens),
    total: count(found.total_tokens),
    cacheRead: count(input.cached_tokens),
    cacheWrite: count(input.cache_write_tokens),
    reasoning: count(record(found.output_tokens_details).reasoning_tokens),
  })
}
