import type { Adapter } from '../../../src/adapters/adapter.ts'
import { messagesAdapter } from '../../../src/adapters/anthropic.ts'
import { SERVER_QUIRKS } from '../../../src/adapters/compatible.ts'
import { geminiAdapter } from '../../../src/adapters/gemini.ts'
import { interactionsAdapter } from '../../../src/adapters/gemini-interactions.ts'
import { ollamaAdapter } from '../../../src/adapters/ollama.ts'
import { chatAdapter } from '../../../src/adapters/openai-chat.ts'
import { responsesAdapter } from '../../../src/adapters/openai-responses.ts'
import type { AssistantMessage } from '../../../src/message/schema.ts'
import { assistantMessage } from '../../support/messages.ts'
import { hearAll, responseOf } from '../answers.ts'
import { interactionsWire } from './interactions-wire.ts'
import {
  chatWire,
  geminiWire,
  messagesWire,
  ollamaWire,
  type Piece,
  responsesWire,
  type Wire,
} from './wire.ts'

/** Who wrote a history. */
export interface Source {
  /** As stored with its messages. */
  provider: string
  model: string
  adapter: Adapter
  wire: Wire
}

/** The main dialects as tidemark's own models speak them, and servers that say more in one of them. */
export const SOURCES: Readonly<Record<string, Source>> = {
  'openai-chat': { provider: 'openai', model: 'gpt-4o', adapter: chatAdapter(), wire: chatWire(true) },
  'openai-chat of DeepSeek': {
    provider: 'deepseek',
    model: 'deepseek-reasoner',
    adapter: chatAdapter({ provider: 'deepseek', quirks: SERVER_QUIRKS.deepseek }),
    wire: chatWire(true),
  },
  'openai-chat of OpenRouter': {
    provider: 'openrouter',
    model: 'anthropic/claude-sonnet-4.5',
    adapter: chatAdapter({ provider: 'openrouter', quirks: SERVER_QUIRKS.openrouter }),
    wire: chatWire(false),
  },
  'openai-responses': {
    provider: 'openai',
    model: 'gpt-5',
    adapter: responsesAdapter(),
    wire: responsesWire,
  },
  'openai-responses of OpenRouter': {
    provider: 'openrouter',
    model: 'anthropic/claude-sonnet-4.5',
    adapter: responsesAdapter({ provider: 'openrouter' }),
    wire: responsesWire,
  },
  anthropic: {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    adapter: messagesAdapter(),
    wire: messagesWire,
  },
  gemini: { provider: 'google', model: 'gemini-3-pro-preview', adapter: geminiAdapter(), wire: geminiWire },
  interactions: {
    provider: 'google-interactions',
    model: 'gemini-3-pro-preview',
    adapter: interactionsAdapter(),
    wire: interactionsWire,
  },
  ollama: { provider: 'ollama', model: 'qwen3', adapter: ollamaAdapter(), wire: ollamaWire },
}

/**
 * An answer as it is stored: written by the source on the wire, and heard by its adapter. One that was stopped has no end,
 * and its last call was half written.
 */
export async function recorded(
  { adapter, wire, model }: Source,
  n: number,
  pieces: readonly Piece[],
  isStopped = false,
): Promise<AssistantMessage> {
  const { body, end } = wire(pieces, model, n)
  const failure = new DOMException('stopped', 'AbortError')
  const response = isStopped ? responseOf([body.slice(0, -9)], { failure }) : responseOf([body, end])
  const { message } = await hearAll(adapter, response)
  return assistantMessage(`a${n}`, '', { ...message, status: isStopped ? 'interrupted' : 'completed' })
}
