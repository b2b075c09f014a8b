/**
 * Models behind Ollama's own API.
 * @module tidemark/ollama
 */
export type { HearLimits } from './adapters/adapter.ts'
export type { OllamaAdapterOptions } from './adapters/ollama.ts'
export { ollamaAdapter } from './adapters/ollama.ts'
export { httpModel } from './runtime/http-model.ts'
export type { HttpModelOptions, ModelOptions, ModelTimeouts } from './runtime/model-options.ts'
export type { OllamaOptions } from './runtime/ollama.ts'
export { ollama } from './runtime/ollama.ts'
