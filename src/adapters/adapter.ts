import type { CallIdRule } from './call-ids.ts'
import type { CallOptions, EncodedRequest, ToolSpec } from './contract.ts'
import type { Draft, Ending } from './draft.ts'
import type { ReplayEntry } from './replay.ts'

/**
 * A pure translator between canonical messages and one provider's wire format: no fetch, no clock, no key. It knows what is
 * that provider's own; what holds for all of them is done once, by `say` and `hear`, which take it as their first argument.
 */
export interface Adapter {
  /** Which dialect, for messages and records, e.g. `openai-chat`. */
  readonly dialect: string
  /** Who answers, as stored in messages. Thinking and proofs go back only to the provider that wrote them. */
  readonly provider: string
  /** Which ids of tool calls it takes. */
  readonly callIds: CallIdRule
  /** Whether the proofs that one of the provider's models gave are good for another. @default always */
  trusts?(writer: string | undefined, model: string): boolean
  /** Whether a model goes on from an answer that stands last. @default none does */
  prefills?(model: string): boolean
  /** What a call is in the provider's words. */
  encode(context: ReplayContext, call: ReplayCall): EncodedCall
  /** What the provider's words mean. */
  readonly hears: Dialect<unknown>
  readonly limits?: HearLimits | undefined
  /**
   * Asks once more for an answer that the provider keeps, whether it is complete or still being written: all of it, or
   * what comes after the event of that number. Absent where the provider keeps none.
   */
  resume?(responseId: string, after?: number): EncodedRequest
  /** Asks the provider to stop writing an answer, where it would go on without a reader. */
  cancel?(responseId: string): EncodedRequest
}

/** What one model call gets to see, fit for any provider. */
export interface ReplayContext {
  /** Never blank. */
  system?: string
  /** At least one of a user. */
  entries: readonly ReplayEntry[]
  /** Their schemas complete. */
  tools: readonly ToolSpec[]
}

/** The options of a call, without what nobody can say: a choice among no tools, an empty list of ends. */
export type ReplayCall = Omit<CallOptions, 'extra' | 'toolChoice' | 'stop'> & {
  model: string
  stream: boolean
  toolChoice: CallOptions['toolChoice'] | undefined
  stop: readonly string[] | undefined
}

/** A request but for what all have in common. A field that is undefined is not sent. */
export interface EncodedCall {
  path: string
  headers?: Readonly<Record<string, string>>
  body: Readonly<Record<string, unknown>>
}

/** Bounds on what an answer may make us keep. */
export interface HearLimits {
  /** Characters of one frame, or of an answer that is no stream. @default 16 million */
  frame?: number
  /** Characters of all blocks together. @default 32 million */
  answer?: number
}

/** One dialect's understanding of an answer that comes as server-sent events, or as bare JSON: whole, in lines, as a list. */
export interface Dialect<State> {
  /** What it remembers from one piece to the next. */
  begin(): State
  /** Takes in an event's data, or a bare object, which may be all there is (`whole`). Returns how it ended, if this says so. */
  read(draft: Draft, state: State, value: unknown, whole: boolean): Ending | undefined
  /** The bytes are over, or the marker of their end came (`marked`): how it ended, or undefined where it was cut off. */
  end(state: State, marked: boolean, draft: Draft): Ending | undefined
  /** Pieces that `read` wants to see even where they tell of an error; any other error ends the answer by itself. */
  owns?(value: unknown): boolean
  /** How to ask for what is still missing of an answer that the provider keeps; undefined where it keeps none. */
  rest?(state: State): EncodedRequest | undefined
}
