import { isReasoning, isThoughtless } from './openai-chat-quirks.ts'

/** Where a server or a model departs from what the others take. Everything has a default that most take. */
export interface ResponsesQuirks {
  /** Whether it gives proof of its thinking when it is asked to: without, thinking cannot go back. @default true */
  proof?: boolean
  /** Whether thinking goes back as the text that it was, before the calls that followed. @default false */
  plainThinking?: boolean
  /** Whether the result of a tool may have pictures in it. Where not, they follow in a message. @default true */
  resultImages?: boolean
  /** Whether it takes `temperature` and `top_p`; where not, they are left out. @default true */
  sampling?: boolean
  /** Whether a tool says if it is `strict`: OpenAI takes silence for yes. @default true */
  strict?: boolean
  /** Whether it can be told how hard to think. @default true */
  thinking?: boolean
}

/** What is known of servers that speak Responses their own way, by the provider's usual name. */
export const RESPONSES_QUIRKS = {
  // "No tool output found for tool call …": where anything but a call stands between two calls
  deepseek: { plainThinking: true, proof: false },
  xai: { resultImages: false },
} as const satisfies Record<string, ResponsesQuirks>

/** What is known of a model; what the caller says of its server outranks it. */
export const responsesQuirksOf = (model: string, own: ResponsesQuirks | undefined): ResponsesQuirks => ({
  ...(isReasoning(model) && { sampling: false }),
  ...(isThoughtless(model) && { proof: false, thinking: false }),
  ...own,
})
