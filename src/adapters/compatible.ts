import { record, string } from './json.ts'
import type { ChatQuirks } from './openai-chat-quirks.ts'
import { type ReplayAnswer, textOfBlocks } from './replay.ts'

type AnswerFields = (answer: ReplayAnswer) => Readonly<Record<string, unknown>>

/** Thinking as a text of its own; `placeholder` where there is none and the server demands the field. */
const reasoningContent =
  (isRequired: (answer: ReplayAnswer) => boolean, placeholder = ''): AnswerFields =>
  (answer) => {
    const text = answer.own ? textOfBlocks(answer.content, '', 'thinking') : ''
    return text || isRequired(answer) ? { reasoning_content: text || placeholder } : {}
  }

/** OpenRouter wants back what it sent: thinking with its proof, and the encrypted pieces as they were. */
const reasoningDetails: AnswerFields = ({ content, own }) => {
  const details = content.flatMap((block) => {
    if (block.type === 'thinking')
      return [{ type: 'reasoning.text', text: block.text, signature: block.signature }]
    const raw = record(block.type === 'other' ? block.raw : undefined)
    return string(raw.type).startsWith('reasoning.') ? [raw] : []
  })
  return own && details.length > 0 ? { reasoning_details: details } : {}
}

const NINE = /^[A-Za-z0-9]{9}$/

/** What is known of servers that speak Chat Completions their own way, by the provider's usual name. */
export const SERVER_QUIRKS = {
  // "enable_thinking must be set to false for non-streaming calls"
  alibaba: { bodyWhole: { enable_thinking: false } },
  // "The reasoning_content in the thinking mode must be passed back to the API": of every answer
  deepseek: { answerFields: reasoningContent(() => true) },
  // "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9"
  mistral: { callIds: { own: NINE, foreign: NINE, prefix: '' }, streamOptions: false },
  // "thinking is enabled but reasoning_content is missing in assistant tool call message at index …"
  moonshot: { answerFields: reasoningContent(({ results }) => results.length > 0, '(not recorded)') },
  openrouter: { answerFields: reasoningDetails },
  zai: { answerFields: reasoningContent(() => false) },
} as const satisfies Record<string, ChatQuirks>
