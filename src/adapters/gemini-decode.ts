import type { ErrorCode } from '../lib/error-data.ts'
import { isRecord } from '../protocol/lenient.ts'
import type { Dialect } from './adapter.ts'
import {
  addBlock,
  addSource,
  type Draft,
  type Ending,
  type GrowingBlock,
  growBlock,
  type OpenCall,
  openCall,
  startDraft,
  writeCall,
} from './draft.ts'
import { type ArgumentsPen, endOfArguments, writeLeaf } from './gemini-args.ts'
import { count, type JsonRecord, list, record, string } from './json.ts'
import { setUsage } from './usage.ts'

/** What is remembered of an answer between its pieces. */
export interface GeminiState {
  /** A call whose arguments come leaf by leaf. */
  open: { call: OpenCall; pen: ArgumentsPen } | undefined
  /** The last reason given, and what is said about it. Some servers give one with every piece. */
  finish: string
  words: string
  /** Whether there was a call until then. */
  called: boolean
}

/** Gemini's `generateContent`, whole or as a stream of events or of a list's elements. */
export const geminiDialect: Dialect<GeminiState> = {
  begin: () => ({ open: undefined, finish: '', words: '', called: false }),
  read: readPiece,
  end: (state, marked) => (state.finish || marked ? endingOf(state) : undefined),
}

function readPiece(draft: Draft, state: GeminiState, value: unknown): Ending | undefined {
  const piece = record(value)
  startDraft(draft, string(piece.modelVersion), string(piece.responseId))
  readUsage(draft, piece.usageMetadata)
  for (const item of list(piece.candidates)) {
    const candidate = record(item)
    // Of several answers, the first is the answer.
    if (candidate.index) continue
    for (const part of list(record(candidate.content).parts)) readPart(draft, state, record(part))
    readSources(draft, candidate)
    readFinish(draft, state, candidate)
  }
  const { blockReason, blockReasonMessage } = record(piece.promptFeedback)
  return blockReason
    ? failed('refusal', `the prompt was blocked: ${blockReason}`, blockReasonMessage)
    : undefined
}

function readPart(draft: Draft, state: GeminiState, part: JsonRecord): void {
  const { functionCall, text, thought } = part
  const signature = string(part.thoughtSignature)
  const media = record(part.inlineData)
  const [mimeType, data] = [string(media.mimeType), string(media.data)]
  if (isRecord(functionCall)) readCall(draft, state, functionCall, signature)
  else if (typeof text === 'string') readText(draft, part, text, signature)
  else if (!thought && /^image\//.test(mimeType))
    addBlock(draft, { type: 'image', mimeType, data, ...(signature && { signature }) })
  // What its server executed, and what we do not know yet.
  else if (Object.keys(part).length > 0) keepRaw(draft, part)
}

/** A part is joined to the one before it, unless both have proofs: neither may be lost. */
function readText(draft: Draft, part: JsonRecord, text: string, signature: string): void {
  const empty: GrowingBlock = part.thought ? { type: 'thinking', text: '' } : { type: 'text', text: '' }
  const last = draft.content.at(-1)
  const isLike = (last?.type === 'text' || last?.type === 'thinking') && last.type === empty.type
  const block = isLike && !(signature && last.signature) ? last : empty
  growBlock(draft, block, text)
  if (signature === '') return
  // Proof that comes without any text to stand by.
  if (block.text === '') keepRaw(draft, part)
  else block.signature = signature
}

const keepRaw = (draft: Draft, raw: JsonRecord): void =>
  addBlock(draft, { type: 'other', provider: draft.provider, raw })

/** A call comes whole, or in parts: its name, leaves of its arguments, and a part that does not say `willContinue`. */
function readCall(draft: Draft, state: GeminiState, told: JsonRecord, signature: string): void {
  const name = string(told.name)
  if (name !== '') {
    endCall(draft, state)
    const call = openCall(draft, string(told.id), name, signature === '' ? {} : { signature })
    state.open = { call, pen: { path: [], inString: false } }
  }
  const { open } = state
  if (!open) return
  const text = isRecord(told.args) ? JSON.stringify(told.args) : ''
  const leaves = list(told.partialArgs).map((leaf) => writeLeaf(open.pen, record(leaf)))
  writeCall(draft, open.call, text + leaves.join(''))
  if (told.willContinue !== true) endCall(draft, state)
}

function endCall(draft: Draft, state: GeminiState): void {
  if (!state.open) return
  writeCall(draft, state.open.call, endOfArguments(state.open.pen))
  state.open = undefined
  // It is whole, however the answer ends.
  draft.lastCall = undefined
}

function readFinish(draft: Draft, state: GeminiState, { finishReason, finishMessage }: JsonRecord): void {
  const finish = String(finishReason ?? '')
  if (finish === '' || /UNSPECIFIED|^0$/.test(finish)) return
  // The part that ends a call is sometimes left out.
  endCall(draft, state)
  state.finish = finish
  state.words = string(finishMessage)
  state.called = draft.calls.length > 0
}

function readSources(draft: Draft, { groundingMetadata, citationMetadata }: JsonRecord): void {
  const { citations, citationSources } = record(citationMetadata)
  const chunks = list(record(groundingMetadata).groundingChunks).map(record)
  const grounds = chunks.map(({ web, retrievedContext, maps }) => web ?? retrievedContext ?? maps)
  for (const source of [...grounds, ...list(citations ?? citationSources)]) {
    const { uri, title } = record(source)
    addSource(draft, string(uri), string(title))
  }
}

/**
 * The newest counts stand alone. A count that is absent is zero, as protocol buffers have it. What was thought is not in the
 * candidates' count, nor what tools read in the prompt's.
 */
function readUsage(draft: Draft, found: unknown): void {
  if (!isRecord(found)) return
  const of = (name: string) => count(found[name]) ?? 0
  const reasoning = of('thoughtsTokenCount')
  const prompt = of('promptTokenCount') + of('toolUsePromptTokenCount')
  const completion = of('candidatesTokenCount') + reasoning
  // Nothing counted is no news.
  if (prompt + completion === 0 && draft.spent.usage) return
  setUsage(draft, found, {
    prompt,
    completion,
    cacheRead: of('cachedContentTokenCount'),
    total: count(found.totalTokenCount),
    reasoning,
  })
}

/** What reasons of a refusal are called. */
export const REFUSED = /SAFETY|RECITATION|BLOCKLIST|PROHIBITED|SPII|LANGUAGE|ARMOR|^([346789]|11)$/

/** What the reasons mean that are known, by name or by the number that some servers give instead. */
const FINISH: readonly (readonly [RegExp, 'stop' | 'length' | ErrorCode])[] = [
  [/^(STOP|1)?$/, 'stop'],
  [/^(MAX_TOKENS|2)$/, 'length'],
  [REFUSED, 'refusal'],
  [/SIGNATURE/, 'invalid-request'],
  [/OTHER|MALFORMED|UNEXPECTED|MANY|NO_IMAGE|\d/, 'server'],
]

/** A reason that nobody knows yet takes back no calls, which are whole; else it is a failure: Gemini has one way to end well. */
function endingOf({ finish, words, called }: GeminiState): Ending {
  const meaning = FINISH.find(([pattern]) => pattern.test(finish))?.[1] ?? (called ? 'stop' : 'server')
  if (meaning === 'stop' || meaning === 'length') return meaning
  return failed(meaning, `the model stopped: ${finish}`, words)
}

const failed = (code: ErrorCode, message: string, words: unknown): Ending => ({
  code,
  message: words ? `${message}: ${words}` : message,
})
