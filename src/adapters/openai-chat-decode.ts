import type { ErrorCode } from '../lib/error-data.ts'
import { isRecord } from '../protocol/lenient.ts'
import type { Dialect } from './adapter.ts'
import {
  addBlock,
  addRefusal,
  addSource,
  addText,
  addThinking,
  type Draft,
  type Ending,
  keep,
  nameCall,
  type OpenCall,
  openCall,
  signThinking,
  startDraft,
  writeCall,
} from './draft.ts'
import { errorIn, failureFrom } from './failure.ts'
import { count, type JsonRecord, list, parseJson, record, string } from './json.ts'
import { setUsage } from './usage.ts'

/** The key of the one call that came before there were `tool_calls`. */
const LEGACY = -1

/** What is remembered of an answer between its pieces. */
export interface ChatState {
  /** Calls by the index the server gives them: any number, not a place in an array. */
  readonly byIndex: Map<number, OpenCall>
  readonly byId: Map<string, OpenCall>
  lastCall: OpenCall | undefined
  /** What comes in pieces beside the text, by its kind and number: sound, and calls that the provider made itself. */
  readonly aside: Map<string, Map<string, unknown>>
  /** The last reason given. */
  finish: string | undefined
}

/** The Chat Completions dialect, as OpenAI and its many imitators write it. */
export const chatDialect: Dialect<ChatState> = {
  begin: () => ({
    byIndex: new Map(),
    byId: new Map(),
    lastCall: undefined,
    aside: new Map(),
    finish: undefined,
  }),
  read: readPiece,
  end({ finish, aside }, marked, draft) {
    for (const kept of aside.values()) keepRaw(draft, Object.fromEntries(kept))
    return finish === undefined && !marked ? undefined : endingOf(finish ?? 'stop')
  },
}

const keepRaw = (draft: Draft, raw: JsonRecord): void =>
  addBlock(draft, { type: 'other', provider: draft.provider, raw })

function readPiece(draft: Draft, state: ChatState, value: unknown, whole: boolean): Ending | undefined {
  const piece = record(value)
  startDraft(draft, string(piece.model), string(piece.id))
  readUsage(draft, piece.usage ?? record(piece.x_groq).usage)
  readCitations(draft, piece)
  for (const item of list(piece.choices)) {
    const choice = record(item)
    // Of several answers (`n`), the first is the answer.
    if (choice.index) continue
    // Where both are there, `message` is the sum of what was said so far (Perplexity).
    readDelta(draft, state, record(choice.delta ?? choice.message))
    // A whole answer may say "" (Snowflake); in a stream that is how some say "not yet".
    const { finish_reason: finish } = choice
    if (typeof finish === 'string' && (whole || finish !== '')) state.finish = finish
    // Moonshot counts within the answer.
    readUsage(draft, choice.usage)
    const error = errorIn({ error: choice.error })
    if (error) return failureFrom(error)
  }
  return undefined
}

function readDelta(draft: Draft, state: ChatState, delta: JsonRecord): void {
  readReasoning(draft, delta)
  readContent(draft, delta.content)
  addRefusal(draft, string(delta.refusal))
  for (const image of list(delta.images)) readPart(draft, record(image))
  for (const item of list(delta.annotations)) {
    const citation = record(record(item).url_citation)
    addSource(draft, string(citation.url), string(citation.title))
  }
  readAside(draft, state, 'audio', { type: 'audio', ...record(delta.audio) })
  // Groq tells of a call that it made, and later again with what came of it.
  for (const tool of list(delta.executed_tools).map(record))
    readAside(draft, state, `tool ${tool.index}`, tool)
  for (const call of list(delta.tool_calls)) readCall(draft, state, record(call))
  const legacy = record(delta.function_call)
  if (string(legacy.name) !== '' || string(legacy.arguments) !== '')
    readCall(draft, state, { function: legacy }, LEGACY)
}

/** The same thinking may come under three names at once: one is read. The details alone carry signatures. */
function readReasoning(draft: Draft, delta: JsonRecord): void {
  const details = list(delta.reasoning_details).map(record)
  const words = details.map((detail) => string(detail.text) || string(detail.summary))
  const detailed = words.some((word) => word !== '')
  if (!detailed) addThinking(draft, string(delta.reasoning_content) || string(delta.reasoning))
  for (const [i, detail] of details.entries()) {
    addThinking(draft, words[i] ?? '')
    const signature = string(detail.signature)
    const signed = signature !== '' && signThinking(draft, signature)
    // Proof of thinking that is not shown: kept whole, as it came, for its own provider.
    if (!signed && (signature !== '' || string(detail.data) !== '')) keepRaw(draft, detail)
  }
}

function readContent(draft: Draft, content: unknown): void {
  if (typeof content === 'string') addText(draft, content)
  else for (const part of list(content)) readPart(draft, record(part))
}

/** A part of a content list: text, Mistral's thinking, a picture as OpenRouter has it, or one we do not know, which is kept. */
function readPart(draft: Draft, part: JsonRecord): void {
  const picture = /^data:(.+?);base64,(.+)/.exec(string(record(part.image_url).url))
  if (picture) addBlock(draft, { type: 'image', mimeType: string(picture[1]), data: string(picture[2]) })
  else if (part.type === 'text') addText(draft, string(part.text))
  else if (part.type === 'thinking')
    for (const thought of list(part.thinking)) addThinking(draft, string(record(thought).text))
  // Databricks has a model's thinking among its parts.
  else if (part.type === 'reasoning') readReasoning(draft, { reasoning_details: part.summary })
  else keepRaw(draft, part)
}

/** A piece of what stands beside the text: sound and its words grow, anything else is set. */
function readAside(draft: Draft, { aside }: ChatState, key: string, piece: JsonRecord): void {
  const told = Object.entries(piece).filter(([, value]) => value !== null && value !== '')
  // Some say with every answer that there is no sound.
  if (!aside.has(key) && !told.some(([name]) => name !== 'type')) return
  const kept = aside.get(key) ?? new Map<string, unknown>()
  aside.set(key, kept)
  for (const [name, value] of told) {
    keep(draft, JSON.stringify(value).length)
    const grows = key === 'audio' && /^(data|transcript)$/.test(name)
    kept.set(name, grows ? string(kept.get(name)) + string(value) : value)
  }
}

function readCall(draft: Draft, state: ChatState, piece: JsonRecord, index = count(piece.index)): void {
  // A custom tool's input is a text, and no JSON.
  const { name: given, input, arguments: value = input } = record(piece.function ?? piece.custom)
  const args = isRecord(value) ? JSON.stringify(value) : string(value)
  const [id, name] = [string(piece.id), string(given)]
  const known = findCall(state, index, id, name)
  const call = known && !isNamedAgain(known, name, args) ? known : openCall(draft, id, name)
  if (call.id === '') call.id = id
  nameCall(draft, call, name)
  writeCall(draft, call, args)
  if (index !== undefined) state.byIndex.set(index, call)
  if (id !== '') state.byId.set(id, call)
  state.lastCall = call
}

/** Which of the open calls a piece belongs to; undefined where it begins another. An empty id is no id. */
function findCall(
  state: ChatState,
  index: number | undefined,
  id: string,
  name: string,
): OpenCall | undefined {
  const byId = id === '' ? undefined : state.byId.get(id)
  if (index === undefined) return byId ?? (name === '' && id === '' ? state.lastCall : undefined)
  const call = state.byIndex.get(index)
  // Some servers number every call 0: another id with a name is another call.
  if (call && id !== '' && call.id !== '' && call.id !== id) return byId ?? (name === '' ? call : undefined)
  return call
}

/** Servers that give neither ids nor numbers: a name and an object after whole arguments are another call. */
const isNamedAgain = (call: OpenCall, name: string, args: string): boolean =>
  name !== '' && args.startsWith('{') && call.raw.endsWith('}') && parseJson(call.raw) !== undefined

function readUsage(draft: Draft, found: unknown): void {
  if (!isRecord(found)) return
  const prompt = record(found.prompt_tokens_details)
  setUsage(draft, found, {
    prompt: count(found.prompt_tokens),
    completion: count(found.completion_tokens),
    total: count(found.total_tokens),
    cacheRead:
      count(prompt.cached_tokens) ?? count(found.prompt_cache_hit_tokens) ?? count(found.cached_tokens),
    cacheWrite: count(prompt.cache_write_tokens),
    reasoning: count(record(found.completion_tokens_details).reasoning_tokens),
  })
}

/** Perplexity says its sources beside the answer: with titles, and the addresses once more. */
function readCitations(draft: Draft, piece: JsonRecord): void {
  for (const item of list(piece.search_results).map(record))
    addSource(draft, string(item.url), string(item.title))
  for (const url of list(piece.citations)) addSource(draft, string(url), '')
}

/** Reasons that mean more than "done", in all their spellings; whatever is not here does mean that. */
const FINISH: readonly (readonly [RegExp, 'length' | ErrorCode])[] = [
  [/^(max_.*tokens|(model_)?length)$/i, 'length'],
  [/filter|sensitive|safety|refusal|recitation|prohibited|blocklist|spii/i, 'refusal'],
  [/context_window/i, 'context-overflow'],
  [/network/i, 'network'],
  [/abort|cancel/i, 'aborted'],
  [/error|insufficient/i, 'server'],
]

function endingOf(finish: string): Ending {
  const meaning = FINISH.find(([pattern]) => pattern.test(finish))?.[1] ?? 'stop'
  if (meaning === 'stop' || meaning === 'length') return meaning
  return { code: meaning, message: `the model stopped: ${finish}` }
}
