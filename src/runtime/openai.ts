import type { Model } from '../adapters/contract.ts'
import { type ResponsesAdapterOptions, responsesAdapter } from '../adapters/openai-responses.ts'
import { httpModel } from './http-model.ts'
import { keptAnswers } from './kept.ts'
import { bearerHeaders, type KeyOptions } from './key.ts'
import type { ModelOptions } from './model-options.ts'

export interface OpenAIOptions extends ResponsesAdapterOptions, KeyOptions, ModelOptions {
  /**
   * Where `/responses` lives. In a page, a path of its own origin that a proxy serves, such as `/llm/openai`. A proxy that
   * lets only some paths through has to know `/responses/<id>`, for GET, and `/responses/<id>/cancel` too, if `background` is set.
   * @default 'https://api.openai.com/v1'
   */
  baseURL?: string
}

/**
 * A model behind OpenAI's Responses API, or any server that speaks it. Nothing is stored there: thinking that goes back
 * carries its own proof. Throws `invalid-request` for an `apiKey` in a browser, unless `dangerouslyAllowBrowser` is set.
 * What goes wrong in a call is the last event of its answer.
 *
 * With `background`, the answer is written, and kept for a while, whether or not anybody reads it: a connection that breaks
 * is mended without a word, `model.resume` hears an answer again by its id (so that `direct` goes on with it after a reload), and aborting a call stops it at the provider.
 *
 * @example
 * const model = openai('gpt-5', { baseURL: '/llm/openai' })
 * const { content } = await collect(model.stream({ messages }, { thinking: 'low' }))
 */
export function openai(model: string, options: OpenAIOptions = {}): Model {
  const { baseURL = 'https://api.openai.com/v1' } = options
  const adapter = responsesAdapter(options)
  return httpModel({
    ...options,
    adapter,
    model,
    keeps: keptAnswers,
    baseURL,
    headers: bearerHeaders(options),
  })
}
