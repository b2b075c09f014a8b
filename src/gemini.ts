/**
 * Models behind Google's Gemini API, its own and Vertex AI's, and behind its Interactions API.
 * @module tidemark/gemini
 */

export type { HearLimits } from './adapters/adapter.ts'
export type { GeminiAdapterOptions } from './adapters/gemini.ts'
export { geminiAdapter } from './adapters/gemini.ts'
export type { InteractionsAdapterOptions } from './adapters/gemini-interactions.ts'
export { interactionsAdapter } from './adapters/gemini-interactions.ts'
export type { GeminiOptions } from './runtime/gemini.ts'
export { gemini } from './runtime/gemini.ts'
export type { GeminiInteractionsOptions } from './runtime/gemini-interactions.ts'
export { geminiInteractions } from './runtime/gemini-interactions.ts'
export { httpModel } from './runtime/http-model.ts'
export type { KeptAnswers } from './runtime/kept.ts'
export { keptAnswers } from './runtime/kept.ts'
export type { HttpModelOptions, ModelOptions, ModelTimeouts } from './runtime/model-options.ts'
