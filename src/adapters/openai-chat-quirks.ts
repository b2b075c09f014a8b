import type { CallIdRule } from './call-ids.ts'
import type { Effort } from './contract.ts'
import type { ReplayAnswer } from './replay.ts'

/** Where a server or a model departs from what the others take. Everything has a default that most take. */
export interface ChatQuirks {
  /** Further fields of an answer that goes back, such as its thinking. @default none: most servers refuse it */
  answerFields?: (answer: ReplayAnswer) => Readonly<Record<string, unknown>>
  /**
   * How strictly it looks at who speaks after whom: whether a user has to be the last (`open`), or users and answers alternate
   * as well (`strict`). @default not at all
   */
  turns?: 'open' | 'strict'
  /** Whose words the instructions are. @default 'system' */
  instructions?: 'system' | 'user'
  /** @default letters, digits, `_` and `-`, at most 40, as OpenAI wants them */
  callIds?: CallIdRule
  /** The field of the output limit. @default 'max_tokens' */
  maxTokens?: 'max_tokens' | 'max_completion_tokens'
  /** Whether it takes `temperature`, `top_p` and `stop`; where not, they are left out. @default true */
  sampling?: boolean
  /** How it is told how hard to think. @default `reasoning_effort`, in OpenAI's words, except of its models that do not */
  effort?: (effort: Effort, model: string) => Readonly<Record<string, unknown>>
  /** The models that take `stop`, where not all do. */
  stop?: RegExp
  /** Whether it holds an answer to a schema. Where not, it is asked for any JSON, and the model is shown the schema. @default true */
  schemas?: boolean
  /** How it is told to keep what was said. @default not at all: most keep it by themselves */
  cache?: (cache: 'short' | 'long', model: string) => Readonly<Record<string, unknown>>
  /** Whether it takes `stream_options`, to report usage at the end of a stream. @default true */
  streamOptions?: boolean
  /** Fields of a request for a whole answer. */
  bodyWhole?: Readonly<Record<string, unknown>>
}

/**
 * OpenAI's reasoning models: "Unsupported parameter: 'stop' is not supported with this model", "Unsupported parameter:
 * 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
 */
export const isReasoning = (model: string): boolean => /(^|\/)(o\d|codex-|gpt-[5-9](?!.*chat))/i.test(model)

/**
 * OpenAI's models that do not think: "Unrecognized request argument supplied: reasoning_effort", "Encrypted content is not
 * supported with this model".
 */
export const isThoughtless = (model: string): boolean => /(^|\/)(gpt-(3|4)|gpt-5.*chat|chatgpt)/i.test(model)

/**
 * OpenAI's models keep what was said by themselves, these for as long as a day where they are told to.
 * @see https://developers.openai.com/docs/guides/prompt-caching
 */
export const retention = (cache: 'short' | 'long' | undefined, model: string) =>
  cache === 'long' && /(^|\/)gpt-(4\.1|5)/i.test(model) ? { prompt_cache_retention: '24h' } : {}

/** What is known of a model; what the caller says of its server outranks it. */
export const quirksOf = (model: string, own: ChatQuirks | undefined): ChatQuirks => ({
  cache: retention,
  ...(isReasoning(model) && { maxTokens: 'max_completion_tokens', sampling: false }),
  ...(isThoughtless(model) && { effort: () => ({}) }),
  // "'messages[0].role' does not support 'system' with this model."
  ...(/(^|\/)o1-(mini|preview)/i.test(model) && { instructions: 'user' }),
  ...own,
})
