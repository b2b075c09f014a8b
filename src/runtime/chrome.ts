import { type Prompt, promptsOf, withoutImages } from '../adapters/chrome-encode.ts'
import type { CallOptions, Model, ModelContext, ModelEvent } from '../adapters/contract.ts'
import {
  addText,
  addThinking,
  createDraft,
  type Draft,
  endDraft,
  startDraft,
  takeEvents,
} from '../adapters/draft.ts'
import { count, record, string } from '../adapters/json.ts'
import { setUsage } from '../adapters/usage.ts'
import type { ErrorCode, ErrorData } from '../lib/error-data.ts'
import { errorData, TidemarkError } from '../lib/errors.ts'
import { type Gate, openGate, STOPPED } from '../turn/gate.ts'
import {
  type LanguageModelApi,
  type LanguageModelSession,
  languageModelOf,
  measure,
  monitorOf,
  usedIn,
} from './language-model.ts'

export interface ChromeModelOptions {
  /** Who answers, as stored with each message. @default 'chrome' */
  provider?: string
  /** The model's name, as stored with each message: browsers do not tell it. @default 'built-in' */
  id?: string
  /**
   * Options of every session, such as `expectedInputs` and `expectedOutputs` with their languages, or `samplingMode`. Pages
   * cannot set temperature or length, so options of a call that name these are passed over.
   */
  create?: Readonly<Record<string, unknown>>
  /** Told how much of the model is there, from 0 to 1, when a session is made. The first may take minutes. */
  onDownload?(loaded: number): void
  /** @default the platform's `LanguageModel` */
  languageModel?: LanguageModelApi
}

/** What a browser answers when it is asked for its model; `downloadable` needs a click of the user. */
export type ChromeAvailability = 'unavailable' | 'downloadable' | 'downloading' | 'available'

/** Whether this browser has a model for these options. Never throws: where there is no such API, it is `unavailable`. */
export async function chromeAvailability(options: ChromeModelOptions = {}): Promise<ChromeAvailability> {
  const api = languageModelOf(options.languageModel)
  const found = await api?.availability({ ...options.create }).catch(() => undefined)
  return AVAILABILITIES.find((known) => known === found) ?? 'unavailable'
}

const AVAILABILITIES: readonly ChromeAvailability[] = [
  'unavailable',
  'downloadable',
  'downloading',
  'available',
]

/**
 * The model that comes with the browser, as Chrome's and Edge's `LanguageModel` have it: on this device, without a key, for
 * text, and for pictures where it takes them. It calls no tools. Never throws: where the browser has no model, the answer is
 * an `error` of the code `not-found`; a context that does not fit is `context-overflow`.
 *
 * @example
 * const model = chromeModel({ create: { expectedOutputs: [{ type: 'text', languages: ['en'] }] } })
 * const { content } = await collect(model.stream({ messages }))
 */
export function chromeModel(options: ChromeModelOptions = {}): Model {
  const { provider = 'chrome', id = 'built-in' } = options
  return {
    provider,
    id,
    stream: (context, call = {}) => ask({ ...options, provider, id }, context, call),
  }
}

type Settled = ChromeModelOptions & { provider: string; id: string }
type Call = CallOptions & { signal?: AbortSignal }

async function* ask(
  options: Settled,
  context: ModelContext,
  call: Call,
): AsyncGenerator<ModelEvent, void, void> {
  const draft = createDraft(options.provider, 32_000_000)
  const gate = openGate(call.signal ?? new AbortController().signal)
  let session: LanguageModelSession | undefined
  let reader: ReadableStreamDefaultReader<unknown> | undefined
  try {
    const { seen, asked } = promptsOf(context, options.provider)
    const made = await open(options, call, gate, { seen, asked })
    session = made.session
    startDraft(draft, options.id, '')
    const rules = { ...(call.output && { responseConstraint: call.output.schema }), ...call.extra }
    const input = [made.prompt(asked)]
    const before = usedIn(session)
    const measured = measure(session, input, { ...rules, signal: gate.signal })
    reader = session.promptStreaming(input, { ...rules, signal: gate.signal }).getReader()
    for (;;) {
      const { done, value } = await unlessStopped(gate, reader.read())
      if (done) break
      hear(draft, value)
      yield* takeEvents(draft)
    }
    tellUsage(draft, before, await unlessStopped(gate, measured), usedIn(session))
    endDraft(draft, 'stop')
  } catch (thrown) {
    endDraft(draft, failed(thrown))
  } finally {
    // Where the stream has failed already, there is nothing left to cancel.
    reader?.cancel().catch(() => undefined)
    session?.destroy?.()
    gate.stop(undefined)
    gate.close()
  }
  yield* takeEvents(draft)
}

/** A session that knows the history, and how to say to it what it is asked. */
async function open(
  options: Settled,
  { toolChoice = 'auto' }: Call,
  gate: Gate,
  { seen, asked }: { seen: readonly Prompt[]; asked: Prompt },
) {
  const api = languageModelOf(options.languageModel)
  if (!api)
    throw new TidemarkError('not-found', 'this browser has no built-in model: there is no LanguageModel')
  if (toolChoice !== 'auto' && toolChoice !== 'none')
    throw new TidemarkError('invalid-request', 'the built-in model calls no tools')
  const { create = {}, onDownload } = options
  const hasImages = [...seen, asked].some(({ content }) => content.some(({ type }) => type === 'image'))
  const expected = Array.isArray(create.expectedInputs) ? create.expectedInputs : []
  const seeing = { ...create, expectedInputs: [...expected, { type: 'image' }] }
  const available = async (wanted: object) => unlessStopped(gate, api.availability({ ...wanted }))
  const sees = hasImages && (await available(seeing)) !== 'unavailable'
  const core = sees ? seeing : create
  if (!sees && (await available(core)) === 'unavailable')
    throw new TidemarkError(
      'not-found',
      'the built-in model is unavailable: not on this device, or not for these options',
    )
  const prompt = (given: Prompt) => sayable(sees ? given : withoutImages(given))
  const making = api.create({
    ...core,
    initialPrompts: seen.map(prompt),
    signal: gate.signal,
    ...(onDownload && { monitor: monitorOf(onDownload) }),
  })
  // One that comes too late is nobody's.
  making.then(
    (session) => gate.signal.aborted && session.destroy?.(),
    () => undefined,
  )
  return { session: await unlessStopped(gate, making), prompt }
}

/** Text alone goes as a string; pictures as bytes. */
const sayable = ({ role, content }: Prompt): object => ({
  role,
  content: content.every(({ type }) => type === 'text')
    ? content.map(({ value }) => value).join('\n\n')
    : content.map((part) => (part.type === 'text' ? part : { type: 'image', value: blobOf(part.value) })),
})

function blobOf({ mimeType, data }: { mimeType: string; data: string }): Blob {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0))
  return new Blob([bytes], { type: mimeType })
}

async function unlessStopped<T>(gate: Gate, work: Promise<T>): Promise<T> {
  const result = await gate.race(work)
  if (result === STOPPED) throw new TidemarkError('aborted', 'the call was aborted')
  return result
}

/** A piece of the answer: text, or, where the session was made to tell more, an object that says what it is. */
function hear(draft: Draft, piece: unknown): void {
  const { type, value } = record(piece)
  if (type === 'thought') addThinking(draft, string(value))
  else addText(draft, string(piece) || string(value))
}

/** What the browser counted: what was there before and what was asked is input, what came on top is output. */
function tellUsage(draft: Draft, before?: number, asked?: number, total?: number): void {
  if (before === undefined || asked === undefined || total === undefined) return
  const prompt = before + asked
  setUsage(draft, { before, asked, total }, { prompt, completion: total - prompt, total })
}

/** What the platform's exceptions mean here. */
const MEANINGS: Readonly<Record<string, ErrorCode>> = {
  QuotaExceededError: 'context-overflow',
  NotAllowedError: 'auth',
  SecurityError: 'auth',
  NetworkError: 'network',
  NotReadableError: 'refusal',
  NotSupportedError: 'invalid-request',
  EncodingError: 'invalid-request',
  InvalidCharacterError: 'invalid-request',
  TypeError: 'invalid-request',
}

function failed(thrown: unknown): ErrorData {
  const name = thrown instanceof Error ? thrown.name : ''
  const known = Object.hasOwn(MEANINGS, name) ? MEANINGS[name] : undefined
  const { message, ...error } = errorData(thrown, known)
  const { requested: needed, quota: available } = record(thrown)
  const tokens = { needed: count(needed), available: count(available) }
  return {
    ...error,
    message: name && !(thrown instanceof TidemarkError) ? `${name}: ${message}` : message,
    ...(tokens.needed !== undefined &&
      tokens.available !== undefined && { tokens: { needed: tokens.needed, available: tokens.available } }),
  }
}
