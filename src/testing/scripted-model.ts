import type { AssistantDraft, CallOptions, Model, ModelContext, ModelEvent } from '../adapters/contract.ts'
import type { ErrorCode, ErrorData } from '../lib/error-data.ts'
import type { AssistantBlock, ToolCallBlock, Usage } from '../message/schema.ts'

/** A piece of an answer. A plain string is text; text after text goes on in the same block, thinking likewise. */
export type ScriptPiece =
  | string
  | { text: string }
  | { thinking: string }
  /** `rawArguments` is written as it is, JSON or not, and then nothing else is known of the arguments. @default id: `call_<n>` */
  | { toolCall: { id?: string; name: string; arguments?: unknown; rawArguments?: string; server?: boolean } }
  /** Any other block, whole. */
  | { block: AssistantBlock }
  | { usage: Usage }
  /** Accepts the request without saying anything yet. Comes by itself before the first content. */
  | { start: true }
  /** Fails. Nothing after it is said. */
  | { error: ErrorCode | ErrorData }
  /** Waits until it resolves, or the call is aborted. `createHold` makes one. */
  | { hold: Promise<void> }
  /** Says nothing more until the call is aborted. */
  | { stall: true }
  /** Ends for this reason. @default `stop`, or `toolUse` after calls */
  | { stop: 'stop' | 'length' | 'toolUse' }
  /** Breaks the contract of a model: throws in mid-stream. */
  | { throw: unknown }
  /** Breaks the contract of a model: ends without saying so. */
  | { vanish: true }

/** One answer. */
export type ScriptStep = string | readonly ScriptPiece[]

/** Answers in their order, or a function that makes each, told which call it is, from 0. */
export type Script = readonly ScriptStep[] | ((context: ModelContext, call: number) => ScriptStep)

export interface ScriptedModelOptions {
  /** @default 'scripted' */
  provider?: string
  /** @default 'script' */
  id?: string
  /** UTF-16 units per event. 1 tears every pair of surrogates. @default each piece whole */
  chunkSize?: number
  /** Awaited before each event: how fast it speaks. */
  pace?: () => Promise<void>
  /** Ignores the abort signal. @default false */
  deaf?: boolean
}

export interface ScriptedCall {
  context: ModelContext
  options: CallOptions
}

export interface ScriptedModel extends Model {
  /** What it was called with, oldest first. */
  readonly calls: readonly ScriptedCall[]
}

/** A piece that waits until it is released. */
export function createHold(): { hold: Promise<void>; release(): void } {
  let release = () => {}
  const hold = new Promise<void>((resolve) => {
    release = resolve
  })
  return { hold, release: () => release() }
}

/** One answer while it is said. */
interface Speech {
  readonly step: readonly ScriptPiece[]
  readonly name: { provider: string; id: string }
  readonly chunkSize: number
  readonly nextCallId: () => string
  readonly content: AssistantBlock[]
  usage: Usage | undefined
  started: boolean
}

function* chunks(text: string, size: number): Generator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
}

function* grow(speech: Speech, type: 'text' | 'thinking', text: string): Generator<ModelEvent> {
  const { content, chunkSize } = speech
  if (content.at(-1)?.type !== type) content.push({ type, text: '' })
  const index = content.length - 1
  for (const delta of chunks(text, chunkSize)) {
    const block = content[index]
    if (block?.type === type) content[index] = { ...block, text: block.text + delta }
    yield { type, index, delta }
  }
}

type Scripted = Extract<ScriptPiece, { toolCall: unknown }>['toolCall']

function* call(
  speech: Speech,
  { id, name, arguments: args, rawArguments, server }: Scripted,
): Generator<ModelEvent> {
  const begun: ToolCallBlock = {
    type: 'toolCall',
    id: id ?? speech.nextCallId(),
    name,
    ...(server && { server }),
  }
  const index = speech.content.push(begun) - 1
  yield { type: 'toolCall', phase: 'start', index, id: begun.id, name }
  for (const delta of chunks(rawArguments ?? JSON.stringify(args) ?? '', speech.chunkSize)) {
    speech.content[index] = { ...begun, rawArguments: `${rawOf(speech.content[index])}${delta}` }
    yield { type: 'toolCall', phase: 'delta', index, delta }
  }
  const whole: ToolCallBlock = {
    ...begun,
    ...(rawArguments === undefined ? { arguments: args } : { rawArguments }),
  }
  speech.content[index] = whole
  yield { type: 'toolCall', phase: 'end', index, call: whole }
}

const rawOf = (block: AssistantBlock | undefined): string =>
  (block?.type === 'toolCall' ? block.rawArguments : undefined) ?? ''

function message(
  { name, content, usage }: Speech,
  stopReason: NonNullable<AssistantDraft['stopReason']>,
): AssistantDraft {
  const { provider, id: model } = name
  return { role: 'assistant', content: [...content], provider, model, stopReason, ...(usage && { usage }) }
}

function failed(speech: Speech, given: ErrorCode | ErrorData): ModelEvent {
  const error: ErrorData = typeof given === 'string' ? { code: given, message: `scripted: ${given}` } : given
  const reason = error.code === 'aborted' ? 'aborted' : 'error'
  return { type: 'error', reason, error, message: message(speech, reason) }
}

function done(speech: Speech, given?: 'stop' | 'length' | 'toolUse'): ModelEvent {
  const called = speech.content.some((block) => block.type === 'toolCall' && !block.server)
  const reason = given ?? (called ? 'toolUse' : 'stop')
  return { type: 'done', reason, message: message(speech, reason) }
}

/** What a piece says; a promise is waited for, and what ends the answer is a last event. */
function* say(speech: Speech, piece: ScriptPiece): Generator<ModelEvent | Promise<void>> {
  if (typeof piece === 'string') return yield* say(speech, { text: piece })
  if ('throw' in piece) throw piece.throw
  if ('error' in piece) return yield failed(speech, piece.error)
  if ('hold' in piece) return yield piece.hold
  if ('stall' in piece) return yield new Promise<void>(() => {})
  if (!speech.started) {
    speech.started = true
    yield { type: 'start', model: speech.name.id }
  }
  if ('stop' in piece) yield done(speech, piece.stop)
  else if ('text' in piece) yield* grow(speech, 'text', piece.text)
  else if ('thinking' in piece) yield* grow(speech, 'thinking', piece.thinking)
  else if ('toolCall' in piece) yield* call(speech, piece.toolCall)
  else if ('usage' in piece) {
    speech.usage = piece.usage
    yield { type: 'usage', usage: piece.usage }
  } else if ('block' in piece) {
    yield { type: 'block', index: speech.content.push(piece.block) - 1, block: piece.block }
  }
}

/** Everything an answer says, its end included, unless the script breaks the contract. */
function* script(speech: Speech): Generator<ModelEvent | Promise<void>> {
  for (const piece of speech.step) {
    if (typeof piece === 'object' && 'vanish' in piece) return
    for (const said of say(speech, piece)) {
      yield said
      if ('type' in said && (said.type === 'done' || said.type === 'error')) return
    }
  }
  yield done(speech)
}

/** Resolves when `work` does, or the signal aborts. */
function orAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const end = () => resolve()
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
    work.then(end, reject).finally(() => signal.removeEventListener('abort', end))
  })
}

async function* perform(
  speech: Speech,
  pace: (() => Promise<void>) | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<ModelEvent> {
  for (const said of script(speech)) {
    if ('then' in said) await orAborted(said, signal)
    else if (pace) await orAborted(pace(), signal)
    if (signal?.aborted) return yield failed(speech, 'aborted')
    if (!('then' in said)) yield said
  }
}

/**
 * A model that says what it is told to, for tests: without a network, a clock or chance. It keeps the contract of a model,
 * aborting included, unless the script or `deaf` says otherwise. A call for which there is no step fails with
 * `invalid-request`.
 */
export function scriptedModel(steps: Script, options: ScriptedModelOptions = {}): ScriptedModel {
  const {
    provider = 'scripted',
    id = 'script',
    chunkSize = Number.POSITIVE_INFINITY,
    pace,
    deaf = false,
  } = options
  const calls: ScriptedCall[] = []
  let callIds = 0
  const stepFor = (context: ModelContext, call: number): ScriptStep =>
    (typeof steps === 'function' ? steps(context, call) : steps[call]) ?? [
      { error: { code: 'invalid-request', message: `the script has no step for call ${call}` } },
    ]
  return {
    provider,
    id,
    calls,
    stream(context, { signal, traceparent: _, ...callOptions } = {}) {
      const step = stepFor(context, calls.push({ context, options: callOptions }) - 1)
      const speech: Speech = {
        step: typeof step === 'string' ? [step] : step,
        name: { provider, id },
        chunkSize,
        nextCallId: () => `call_${++callIds}`,
        content: [],
        usage: undefined,
        started: false,
      }
      return perform(speech, pace, deaf ? undefined : signal)
    },
  }
}
