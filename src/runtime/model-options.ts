import type { Adapter } from '../adapters/adapter.ts'
import type { Capabilities, ModelEvent } from '../adapters/contract.ts'
import type { Env } from '../lib/env.ts'
import type { KeptAnswers } from './kept.ts'

type HeadersLike = Readonly<Record<string, string>>

/** How long a model may be silent, in milliseconds. */
export interface ModelTimeouts {
  /** From the request to the first byte of the answer. @default 30_000 */
  firstByte?: number
  /** From one piece of the answer to the next. @default 60_000 */
  betweenBytes?: number
}

/** What every model behind HTTP takes. */
export interface ModelOptions {
  /** Sent with each request, e.g. the key. A function is asked before each. */
  headers?: HeadersLike | (() => HeadersLike | Promise<HeadersLike>)
  /** @default the platform's */
  fetch?: typeof fetch | undefined
  timeouts?: ModelTimeouts | undefined
  /** @default the platform's clock */
  env?: Pick<Env, 'now' | 'sleep'> | undefined
  /**
   * What is done about calls' arguments that are nearly JSON: `repairCalls(jsonrepair)`.
   * @default they are told to the model as an error
   */
  repair?: ((events: AsyncIterable<ModelEvent>) => AsyncIterable<ModelEvent>) | undefined
  /**
   * Whether requests carry a W3C `traceparent`.
   * @default on a server, and in a page to its own origin: another one would have to allow the header first
   */
  trace?: boolean | undefined
  /** What is known of the model, where `capabilitiesOf` does not know it, or not well enough. */
  capabilities?: Capabilities | undefined
}

export interface HttpModelOptions extends ModelOptions {
  adapter: Adapter
  /** The provider's name for the model. */
  model: string
  /**
   * What is done about answers that the provider keeps, where the adapter has it write in the background: `keptAnswers`.
   * @default a broken line is the end
   */
  keeps?: KeptAnswers | undefined
  /** What the adapter's paths are added to. In a page, a path of the page's own origin will do. */
  baseURL: string
}
