import type { Model } from '../adapters/contract.ts'
import { type InteractionsAdapterOptions, interactionsAdapter } from '../adapters/gemini-interactions.ts'
import { httpModel } from './http-model.ts'
import { keptAnswers } from './kept.ts'
import { bearerHeaders, type KeyOptions } from './key.ts'
import type { ModelOptions } from './model-options.ts'

export interface GeminiInteractionsOptions extends InteractionsAdapterOptions, KeyOptions, ModelOptions {
  /**
   * Where `/interactions` lives. In a page, a path of its own origin that a proxy serves, such as `/llm/gemini`. A proxy that
   * lets only some paths through has to know `/interactions/<id>` and `/interactions/<id>/cancel` too, if `background` is set.
   * @default 'https://generativelanguage.googleapis.com/v1beta'
   */
  baseURL?: string
}

/**
 * A model behind Google's Interactions API. The key goes in a header, never in the address. The whole history goes with each
 * request, and nothing is stored there. Throws `invalid-request` for an `apiKey` in a browser, unless
 * `dangerouslyAllowBrowser` is set. What goes wrong in a call is the last event of its answer.
 *
 * With `background`, the answer is written, and kept for a while, whether or not anybody reads it: a connection that breaks
 * is mended without a word, `model.resume` hears an answer again by its id (so that `direct` goes on with it after a
 * reload), and aborting a call stops it at the provider. Not every model can: Google says so, and those of the second
 * generation cannot.
 *
 * @see https://ai.google.dev/gemini-api/docs/interactions-overview
 * @example
 * const model = geminiInteractions('gemini-3-flash-preview', { baseURL: '/llm/gemini' })
 * const { content } = await collect(model.stream({ messages }))
 */
export function geminiInteractions(model: string, options: GeminiInteractionsOptions = {}): Model {
  const { baseURL = 'https://generativelanguage.googleapis.com/v1beta' } = options
  const adapter = interactionsAdapter(options)
  const headers = bearerHeaders(options, 'x-goog-api-key')
  return httpModel({ ...options, adapter, model, keeps: keptAnswers, baseURL, headers })
}
