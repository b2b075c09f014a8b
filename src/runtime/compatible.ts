import { type CompatibleServer, filledIn, SERVERS } from '../adapters/compatible.ts'
import type { Model } from '../adapters/contract.ts'
import { rowOf } from '../adapters/json.ts'
import { chatAdapter } from '../adapters/openai-chat.ts'
import { TidemarkError } from '../lib/errors.ts'
import { httpModel } from './http-model.ts'
import { bearerHeaders } from './key.ts'
import type { OpenAIChatOptions } from './openai-chat.ts'

/** A server that there is a row for. */
export type ServerName = keyof typeof SERVERS

/** The names in braces of an address. */
type PlacesIn<Address extends string> = Address extends `${string}{${infer Place}}${infer Rest}`
  ? Place | PlacesIn<Rest>
  : never

/** What an account has of its own in a server's address; any name for a server without a row. */
export type PlaceOf<Server extends string> = Server extends ServerName
  ? PlacesIn<(typeof SERVERS)[Server]['baseURL']>
  : string

export interface CompatibleOptions<Server extends string = string>
  extends Omit<OpenAIChatOptions, 'baseURL'> {
  /** Instead of the server's own address, such as the path of a proxy. @default what `SERVERS` says */
  baseURL?: string
  /** What the address has of the account's own, such as Azure's `resource`, `deployment` and `apiVersion`. */
  at?: { readonly [Place in PlaceOf<Server>]?: string }
}

/**
 * A model behind a server that speaks OpenAI's Chat Completions, by the server's name: its address, the header of its key, and
 * what it does differently are rows of a table. A server without a row needs a `baseURL`. Throws `invalid-request` where the
 * address is not complete, and for an `apiKey` in a browser unless `dangerouslyAllowBrowser` is set. What goes wrong in a call
 * is the last event of its answer.
 *
 * @example
 * const model = compatible('mistral', 'mistral-small-latest', { baseURL: '/llm/mistral' })
 * const azure = compatible('azure', 'gpt-4o', {
 *   apiKey,
 *   at: { resource: 'my-resource', deployment: 'my-gpt-4o', apiVersion: '2024-10-21' },
 * })
 */
export function compatible<const Server extends ServerName | (string & {})>(
  server: Server,
  model: string,
  options: CompatibleOptions<Server> = {},
): Model {
  const row = rowOf<CompatibleServer>(SERVERS, server)
  const { provider = server, at = {} } = options
  const baseURL = options.baseURL ?? (row && filledIn(row.baseURL, at))
  if (baseURL === undefined)
    throw new TidemarkError('invalid-request', `nothing is known of the server "${server}": say its baseURL`)
  const adapter = chatAdapter({ ...options, provider, quirks: { ...row?.quirks, ...options.quirks } })
  return httpModel({
    ...options,
    adapter,
    model,
    baseURL,
    headers: bearerHeaders(options, row?.keyHeader),
  })
}
