/**
 * The model that comes with the browser: Chrome's and Edge's `LanguageModel`.
 * @module tidemark/chrome
 */
export type { ChromeAvailability, ChromeModelOptions } from './runtime/chrome.ts'
export { chromeAvailability, chromeModel } from './runtime/chrome.ts'
export type { LanguageModelApi, LanguageModelSession } from './runtime/language-model.ts'
