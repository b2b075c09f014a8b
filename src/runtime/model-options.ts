import type { Adapter, Capabilities } from '../adapters/contract.ts'
import type { Repair } from '../adapters/repair.ts'
import type { Env } from '../lib/env.ts'

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
   * Makes JSON of a call's arguments that are nearly JSON, such as `jsonrepair`. A call that was repaired says so; one that was
   * cut off is not repaired.
   * @default arguments that are no JSON are told to the model as an error
   */
  repair?: Repair | undefined
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
  /** Who answers, as stored in messages. */
  provider: string
  /** The provider's name for the model. */
  model: string
  /** What the adapter's paths are added to. In a page, a path of the page's own origin will do. */
  baseURL: string
}
