/**
 * Models behind OpenAI's Responses API, and every server that speaks it.
 * @module tidemark/openai
 */
export type { HearLimits } from './adapters/adapter.ts'
export type { ResponsesAdapterOptions } from './adapters/openai-responses.ts'
export { responsesAdapter } from './adapters/openai-responses.ts'
export type { ResponsesQuirks } from './adapters/openai-responses-quirks.ts'
export { RESPONSES_QUIRKS } from './adapters/openai-responses-quirks.ts'
export { httpModel } from './runtime/http-model.ts'
export type { KeptAnswers } from './runtime/kept.ts'
export { keptAnswers } from './runtime/kept.ts'
export type { HttpModelOptions, ModelOptions, ModelTimeouts } from './runtime/model-options.ts'
export type { OpenAIOptions } from './runtime/openai.ts'
export { openai } from './runtime/openai.ts'
