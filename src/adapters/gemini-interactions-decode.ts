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
import { REFUSED } from './gemini-decode.ts'
import { encodeInteractionResume } from './gemini-interactions-encode.ts'
import { count, type JsonRecord, list, record, rowOf, string } from './json.ts'
import { setUsage } from './usage.ts'

/** A step of the answer that is still being written. */
interface OpenStep {
  /** What it says of itself, so far. */
  step: JsonRecord
  /** What its pieces are added to. */
  block?: GrowingBlock | undefined
  call?: OpenCall
}

/** What is remembered of an answer between its pieces. */
export interface InteractionState {
  /** By their place in the answer, as the server gives it. */
  readonly open: Map<unknown, OpenStep>
  /** The server's id of the answer, and of the last event: what comes after it can be asked for. */
  id: string
  last: string
  /** The error that a step ended in. */
  failure?: JsonRecord
  /** How it ended, where only a change of its status has said so. */
  over?: Ending
}

/**
 * Google's Interactions API: steps, whole or in pieces. `background`: the provider goes on writing when the line breaks, and
 * can be asked for the rest.
 */
export const interactionsDialect = (background: boolean): Dialect<InteractionState> => ({
  begin: () => ({ open: new Map(), id: '', last: '' }),
  read: readEvent,
  // What is written in the background is over when it says so, whatever the line says.
  end: ({ over }, marked) => over ?? (marked && !background ? 'stop' : undefined),
  owns: (value) => record(value).object === 'interaction',
  rest: ({ id, last }) => (background && id && last ? encodeInteractionResume(id, last) : undefined),
})

function readEvent(
  draft: Draft,
  state: InteractionState,
  value: unknown,
  whole: boolean,
): Ending | undefined {
  const event = record(value)
  // Without steps, or why there are none, a whole answer is none of these.
  if (whole && !Array.isArray(event.steps) && !event.status) return undefined
  const interaction = whole ? event : record(event.interaction)
  const { total_usage: spent, usage = spent } = record(event.metadata)
  state.last = string(event.event_id) || state.last
  state.id = string(interaction.id) || state.id
  startDraft(draft, string(interaction.model), string(interaction.id))
  readUsage(draft, interaction.usage ?? usage)
  if (whole || event.event_type === 'interaction.completed') return complete(draft, state, interaction)
  rowOf(READERS, event.event_type)?.(draft, state, event)
  return undefined
}

/** What each event means, but for the last. */
const READERS: Readonly<Record<string, (draft: Draft, state: InteractionState, event: JsonRecord) => void>> =
  {
    'interaction.status_update'(_, state, event) {
      if (/^(failed|cancelled)$/.test(string(event.status))) state.over = endingOf(state, event)
    },
    'step.start'(draft, state, { index, step }) {
      keep(draft, JSON.stringify(record(step)).length)
      closeStep(draft, state, index)
      openStep(draft, state, index, record(step))
    },
    'step.delta'(draft, state, { index, delta }) {
      readPiece(draft, state.open.get(index) ?? openStep(draft, state, index, {}), record(delta))
    },
    'step.stop': (draft, state, { index }) => closeStep(draft, state, index),
  }

/** The answer as it stands at its end. Where nothing was streamed, that is all of it. */
function complete(draft: Draft, state: InteractionState, interaction: JsonRecord): Ending {
  const steps = draft.content.length > 0 ? [] : list(interaction.steps).map(record)
  // One that is read again begins with what it was asked.
  for (const [index, step] of steps.slice(steps.findLastIndex(isAsked) + 1).entries()) {
    openStep(draft, state, index, step)
    closeStep(draft, state, index)
  }
  const ending = endingOf(state, interaction)
  // A call that was not closed is whole only if the answer is.
  for (const [index, { call }] of state.open) if (!call || ending === 'stop') closeStep(draft, state, index)
  return ending
}

/** What was said to the model, and not by it. */
const isAsked = ({ type }: JsonRecord): boolean => type === 'user_input' || type === 'function_result'

function openStep(draft: Draft, state: InteractionState, index: unknown, step: JsonRecord): OpenStep {
  keep(draft, 64)
  const open: OpenStep = { step }
  state.open.set(index, open)
  if (step.type === 'function_call') open.call = openCall(draft, string(step.id), string(step.name))
  if (isRecord(step.error)) state.failure = step.error
  for (const piece of list(step.content)) readPiece(draft, open, record(piece))
  for (const content of list(step.summary)) readPiece(draft, open, { type: 'thought_summary', content })
  return open
}

/** A piece of a step: what a stream adds to it, or what it already has where it comes whole. */
function readPiece(draft: Draft, open: OpenStep, piece: JsonRecord): void {
  const { step } = open
  if (isAsked(step)) return
  const read = rowOf(PIECES, piece.type)
  if (read) read(draft, open, piece)
  else if (step.type === 'model_output') keepRaw(draft, { type: step.type, content: [piece] })
  else {
    // A call that the server made itself, or what came of it: the piece has all there is to say.
    keep(draft, JSON.stringify(piece).length)
    open.step = { ...step, ...piece, type: step.type ?? piece.type }
  }
}

const PIECES: Readonly<Record<string, (draft: Draft, open: OpenStep, piece: JsonRecord) => void>> = {
  text(draft, open, { text, annotations }) {
    write(draft, open, { type: 'text', text: '' }, string(text))
    cite(draft, annotations)
  },
  text_annotation_delta: (draft, _, { annotations }) => cite(draft, annotations),
  thought_summary(draft, open, { content }) {
    const { text } = record(content)
    if (typeof text === 'string') write(draft, open, { type: 'thinking', text: '' }, text)
    // A picture of a thought: nobody else can show it.
    else keepRaw(draft, { type: 'thought', summary: [content] })
  },
  thought_signature(_, open, { signature }) {
    open.step = { ...open.step, signature }
  },
  arguments_delta(draft, { call }, { arguments: text }) {
    if (call) writeCall(draft, call, string(text))
  },
  image(draft, open, { mime_type: told, data, uri }) {
    const mimeType = string(told) || string(open.step.mime_type) || 'image/png'
    open.block = undefined
    open.step = { ...open.step, mime_type: mimeType }
    if (data || uri)
      addBlock(draft, { type: 'image', mimeType, ...(data ? { data: string(data) } : { url: string(uri) }) })
  },
}

/** Adds to what the step is writing, or begins it. */
function write(draft: Draft, open: OpenStep, empty: GrowingBlock, text: string): void {
  if (open.block?.type !== empty.type) open.block = empty
  growBlock(draft, open.block, text)
}

function closeStep(draft: Draft, state: InteractionState, index: unknown): void {
  const { step, block, call } = state.open.get(index) ?? { step: {} }
  const signature = string(step.signature)
  state.open.delete(index)
  if (call) closeCall(draft, state, call, step)
  else if (step.type === 'thought') {
    if (block?.text && signature) block.signature = signature
    // Thinking that is proven, but not shown.
    else if (signature) addBlock(draft, { type: 'thinking', text: '', signature, redacted: true })
  } else if (step.type && step.type !== 'model_output' && !isAsked(step)) keepRaw(draft, step)
}

function closeCall(draft: Draft, { open }: InteractionState, call: OpenCall, step: JsonRecord): void {
  // They come in pieces, or with the call.
  if (call.raw === '') writeCall(draft, call, JSON.stringify(record(step.arguments)))
  const block = draft.content[call.index ?? -1]
  if (block?.type === 'toolCall' && step.signature) block.signature = string(step.signature)
  // It is whole, however the answer ends; another may not be.
  draft.lastCall = [...open.values()].findLast((other) => other.call)?.call
}

const keepRaw = (draft: Draft, raw: JsonRecord): void =>
  addBlock(draft, { type: 'other', provider: draft.provider, raw })

/** Pages, files and places that a text rests on. */
function cite(draft: Draft, annotations: unknown): void {
  for (const { url, document_uri: file, title, name, file_name: of } of list(annotations).map(record))
    addSource(draft, string(url ?? file), string(title ?? name ?? of))
}

/** What was thought is not in the output's count, nor what tools read in the input's. */
function readUsage(draft: Draft, found: unknown): void {
  if (!isRecord(found) || count(found.total_input_tokens) === undefined) return
  const of = (name: string) => count(found[`total_${name}_tokens`]) ?? 0
  const reasoning = of('thought')
  setUsage(draft, found, {
    prompt: of('input') + of('tool_use'),
    completion: of('output') + reasoning,
    cacheRead: of('cached'),
    total: count(found.total_tokens),
    reasoning,
  })
}

/** How an answer ends, by its status. Any other is a failure. */
const ENDS: Readonly<Record<string, Ending>> = {
  completed: 'stop',
  requires_action: 'stop',
  incomplete: 'length',
  budget_exceeded: 'length',
  cancelled: { code: 'aborted', message: 'the interaction was cancelled' },
}

function endingOf({ failure }: InteractionState, interaction: JsonRecord): Ending {
  const { status = 'completed' } = interaction
  const end = rowOf(ENDS, status)
  if (end) return end
  // The receipt of an answer that is written in the background.
  if (/^(in_progress|queued)$/.test(String(status)))
    return { code: 'protocol', message: `there is no answer yet: ${status}` }
  const why = failure ?? errorIn(interaction) ?? { message: `the interaction ended: ${status}` }
  const error = failureFrom(why)
  return REFUSED.test(JSON.stringify(why)) ? { ...error, code: 'refusal' } : error
}
