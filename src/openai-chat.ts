/**
 * Models behind OpenAI's Chat Completions API, and every server that speaks it.
 * @module tidemark/openai-chat
 */

export type { HearLimits } from './adapters/adapter.ts'
export { SERVER_QUIRKS } from './adapters/compatible.ts'
export type { ChatAdapterOptions } from './adapters/openai-chat.ts'
export { chatAdapter } from './adapters/openai-chat.ts'
export type { ChatQuirks } from './adapters/openai-chat-quirks.ts'
export { httpModel } from './runtime/http-model.ts'
export type { HttpModelOptions, ModelOptions, ModelTimeouts } from './runtime/model-options.ts'
export type { OpenAIChatOptions } from './runtime/openai-chat.ts'
export { openaiChat } from './runtime/openai-chat.ts'
