/**
 * Models behind servers that speak OpenAI's Chat Completions, by the server's name.
 * @module tidemark/compatible
 */

export type { HearLimits } from './adapters/adapter.ts'
export type { CompatibleServer } from './adapters/compatible.ts'
export { SERVER_QUIRKS, SERVERS } from './adapters/compatible.ts'
export type { ChatQuirks } from './adapters/openai-chat-quirks.ts'
export type { CompatibleOptions, PlaceOf, ServerName } from './runtime/compatible.ts'
export { compatible } from './runtime/compatible.ts'
export type { ModelOptions, ModelTimeouts } from './runtime/model-options.ts'
