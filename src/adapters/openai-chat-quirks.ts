import type { CallIdRule } from './call-ids.ts'

/** Where a server or a model departs from what the others take. Everything has a default that most take. */
export interface ChatQuirks {
  /** The field in which its own thinking goes back with an answer. @default none: most servers refuse it */
  thinking?: 'reasoning_content' | 'reasoning' | 'reasoning_details'
  /** Which answers must have that field, even if there is nothing to put in. @default 'none' */
  thinkingIn?: 'none' | 'calls' | 'all'
  /** What to put there. @default '' */
  noThinking?: string
  callIds?: CallIdRule
  /** The role of instructions. @default 'system' */
  systemRole?: 'system' | 'developer' | 'user'
  /** The field of the output limit. @default 'max_tokens' */
  maxTokens?: 'max_tokens' | 'max_completion_tokens'
  /** Whether it takes `temperature`, `top_p` and `stop`; where not, they are left out. @default true */
  sampling?: boolean
  /** Whether it takes `stream_options`, to report usage at the end of a stream. @default true */
  streamOptions?: boolean
  /** Whether it hears: takes `input_audio`. @default false */
  audio?: boolean
  /** Fields of every request. */
  body?: Readonly<Record<string, unknown>>
  /** Fields of a request for a whole answer. */
  bodyWhole?: Readonly<Record<string, unknown>>
}

/** OpenAI's own bounds; the ids a server gave are taken back by that server as they are. */
export const ANY_CALL_ID: CallIdRule = { own: /./, foreign: /^[A-Za-z0-9_-]{1,40}$/, prefix: 'call_' }
const NINE = /^[A-Za-z0-9]{9}$/

/** By provider name, as given to the adapter. */
export const SERVER_QUIRKS: ReadonlyMap<string, ChatQuirks> = new Map<string, ChatQuirks>([
  // "enable_thinking must be set to false for non-streaming calls"
  ['alibaba', { bodyWhole: { enable_thinking: false } }],
  ['dashscope', { bodyWhole: { enable_thinking: false } }],
  // "The reasoning_content in the thinking mode must be passed back to the API"
  ['deepseek', { thinking: 'reasoning_content', thinkingIn: 'all' }],
  // "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9"
  ['mistral', { callIds: { own: NINE, foreign: NINE, prefix: '' }, streamOptions: false }],
  // "thinking is enabled but reasoning_content is missing in assistant tool call message"
  ['moonshot', { thinking: 'reasoning_content', thinkingIn: 'calls', noThinking: '(not recorded)' }],
  ['openrouter', { thinking: 'reasoning_details' }],
  ['zai', { thinking: 'reasoning_content' }],
])

/** By the model's name; all rows that fit count, later ones more. */
export const MODEL_QUIRKS: readonly (readonly [RegExp, ChatQuirks])[] = [
  [/audio|voxtral|omni/i, { audio: true }],
  // OpenAI's reasoning models: "Unsupported parameter: 'stop'", "'max_tokens' is not supported with this model"
  [/(^|\/)(o\d|gpt-5)/i, { maxTokens: 'max_completion_tokens', sampling: false }],
  [/(^|\/)gpt-5[^/]*-chat/i, { sampling: true }],
  // "'messages[0].role' does not support 'system' with this model"
  [/(^|\/)o1-(mini|preview)/i, { systemRole: 'user' }],
]

/** Everything that is known of a model at a server; what the caller says outranks it. */
export function quirksOf(provider: string, model: string, own: ChatQuirks = {}): ChatQuirks {
  let known: ChatQuirks = { ...SERVER_QUIRKS.get(provider) }
  for (const [name, quirks] of MODEL_QUIRKS) if (name.test(model)) known = { ...known, ...quirks }
  return { ...known, ...own }
}
