import type { ErrorData } from '../lib/error-data.ts'
import type {
  AssistantBlock,
  AssistantMessage,
  Message,
  SourceBlock,
  ToolCallBlock,
  Usage,
} from '../message/schema.ts'

/** A tool as the model sees it. */
export interface ToolSpec {
  name: string
  description?: string
  /** JSON Schema of the arguments. */
  parameters: Readonly<Record<string, unknown>>
  /** Whether the provider is to hold the model to the schema, where it can; not every schema is fit for that. @default false */
  strict?: boolean
}

/** What one model call gets to see. Derived from the history, never stored as truth. */
export interface ModelContext {
  system?: string
  /** In order, oldest first; ends with what the model is to answer. */
  messages: readonly Message[]
  tools?: readonly ToolSpec[]
}

/** How hard a model thinks before it answers. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'max'

/** What the text of an answer has to be. */
export interface OutputFormat {
  /** JSON Schema. */
  schema: Readonly<Record<string, unknown>>
  /** For the model: what this is. @default 'output' */
  name?: string
  /** Whether the provider is to hold the model to the schema, where it can. @default false */
  strict?: boolean
}

/** Options of one model call, in our words; an adapter says them in the provider's. */
export interface CallOptions {
  /** Most tokens the model may write. */
  maxOutputTokens?: number
  temperature?: number
  topP?: number
  stop?: readonly string[]
  toolChoice?: 'auto' | 'none' | 'required' | { name: string }
  /**
   * Asks a provider that caches only on demand to keep instructions, tools and history, for minutes or for about an hour:
   * cheaper when they are sent again, dearer when they are not. Others cache by themselves.
   * @default none
   */
  cache?: 'short' | 'long'
  /** How hard the model is to think before it answers. @default the provider's; not said to models known not to think */
  thinking?: Effort
  /** The shape of the answer: its text is then JSON that fits the schema. */
  output?: OutputFormat
  /** Provider-specific fields, merged into the body last. */
  extra?: Readonly<Record<string, unknown>>
}

/** One HTTP request without base URL and key: those belong to the transport. */
export interface EncodedRequest {
  /** @default 'POST'; a `GET` has no body */
  method?: 'GET' | 'POST'
  /** Relative to the base URL, e.g. `/chat/completions`. */
  path: string
  headers: Readonly<Record<string, string>>
  /** Plain JSON. */
  body: Readonly<Record<string, unknown>>
}

/** What an adapter needs to know of the answer. Bytes may be cut anywhere. */
export interface RawResponse {
  status: number
  /** Lower-case name to value. */
  headers: { get(name: string): string | null }
  body: AsyncIterable<Uint8Array>
  /**
   * Asks for what is still missing of this answer, over another line. Resolves with nothing where the transport will not
   * try (any more), or where that failed too.
   */
  more?(request: EncodedRequest): Promise<RawResponse | undefined>
}

/** The assistant's message as far as the provider knows it: without the fields that belong to a session. */
export type AssistantDraft = Pick<
  AssistantMessage,
  'role' | 'content' | 'provider' | 'model' | 'responseId' | 'usage' | 'usageRaw' | 'stopReason'
>

/**
 * What a model says, as it says it. `index` is the place of the block in the final message's `content`.
 * A stream ends in exactly one `done` or `error`, both with the final message, whose `stopReason` is
 * the event's reason; it never throws after it started.
 */
export type ModelEvent =
  | { type: 'start'; model?: string; responseId?: string }
  | { type: 'text'; index: number; delta: string }
  | { type: 'thinking'; index: number; delta: string }
  | ({ type: 'toolCall'; phase: 'start'; index: number } & Omit<ToolCallBlock, 'arguments' | 'rawArguments'>)
  | { type: 'toolCall'; phase: 'delta'; index: number; delta: string }
  | { type: 'toolCall'; phase: 'end'; index: number; call: Extract<AssistantBlock, { type: 'toolCall' }> }
  | { type: 'source'; index: number; source: SourceBlock }
  /** A block that comes whole: an image, or one this version does not know. */
  | { type: 'block'; index: number; block: AssistantBlock }
  | { type: 'usage'; usage: Usage }
  | { type: 'done'; reason: 'stop' | 'length' | 'toolUse'; message: AssistantDraft }
  | { type: 'error'; reason: 'error' | 'aborted'; error: ErrorData; message: AssistantDraft }

/** What a model can do, as far as it is known; an absent field says nothing. */
export interface Capabilities {
  /** Tokens of input and output together. */
  contextWindow?: number
  /** Most tokens it writes in one answer, thinking included. */
  maxOutput?: number
  /** Whether it sees images. */
  images?: boolean
  /** Whether it can think before it answers. */
  thinking?: boolean
  /** Whether it calls tools. */
  tools?: boolean
  /** Whether it goes on from an answer that stands last, as its beginning. Said by the adapter. */
  prefill?: boolean
}

/** What a model is told of one call beside what it is to say. */
export interface StreamOptions {
  signal?: AbortSignal
  /** The step of a trace that the request is, as W3C Trace Context writes it. */
  traceparent?: string
}

/** Something that answers: an adapter bound to a model and a transport, or a script in a test. */
export interface Model {
  /** Who answers, as stored in `message.provider`, e.g. `openai`. */
  readonly provider: string
  /** e.g. `gpt-4o-mini`. */
  readonly id: string
  /** What its user knows of it; `capabilitiesOf` adds what we know. */
  readonly capabilities?: Capabilities
  /**
   * Never throws: failures before and during the stream arrive as its last event. What it throws all the same fails the
   * answer: an official SDK's error is understood by its status and words, anything else is `protocol`.
   * Aborting the signal ends it with `error`, reason `aborted`. A provider that keeps its answers is told to stop, unless the
   * signal's reason is no abortion: then somebody else goes on with it.
   */
  stream(context: ModelContext, options?: CallOptions & StreamOptions): AsyncIterable<ModelEvent>
  /**
   * Hears an answer again from its beginning, by the id that its `start` event gave: the same events as the first time,
   * and then those that were missed. Absent where the provider keeps no answers. Never throws, like `stream`.
   */
  resume?(responseId: string, options?: StreamOptions): AsyncIterable<ModelEvent>
}
