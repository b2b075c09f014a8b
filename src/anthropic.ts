/**
 * Models behind Anthropic's Messages API, and every server that speaks it.
 * @module tidemark/anthropic
 */

export type { HearLimits } from './adapters/adapter.ts'
export type { MessagesAdapterOptions } from './adapters/anthropic.ts'
export { messagesAdapter } from './adapters/anthropic.ts'
export type { AnthropicOptions } from './runtime/anthropic.ts'
export { anthropic } from './runtime/anthropic.ts'
export { httpModel } from './runtime/http-model.ts'
export type { HttpModelOptions, ModelOptions, ModelTimeouts } from './runtime/model-options.ts'
