/**
 * Models behind Anthropic's Messages API, and every server that speaks it.
 * @module tidemark/anthropic
 */
export type { MessagesAdapterOptions } from './adapters/anthropic.ts'
export { messagesAdapter } from './adapters/anthropic.ts'
export type { HearLimits } from './adapters/hear.ts'
export type { Repair } from './adapters/repair.ts'
export type { AnthropicOptions } from './runtime/anthropic.ts'
export { anthropic } from './runtime/anthropic.ts'
export { httpModel } from './runtime/http-model.ts'
export type { HttpModelOptions, ModelOptions, ModelTimeouts } from './runtime/model-options.ts'
