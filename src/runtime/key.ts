import { TidemarkError } from '../lib/errors.ts'
import type { ModelOptions } from './model-options.ts'

/** How a model's key may be used. */
export interface KeyOptions {
  /** The provider's key. Leave it out where a proxy adds it. */
  apiKey?: string
  /**
   * Allows `apiKey` in a browser, where everyone who can open the page can read it.
   * @default false
   */
  dangerouslyAllowBrowser?: boolean
}

/**
 * The key, if there is one and it may be used here. Throws `invalid-request` for a key in a browser that was not allowed:
 * whoever serves such a page has given the key away.
 */
export function usableKey({ apiKey, dangerouslyAllowBrowser = false }: KeyOptions): string | undefined {
  if (apiKey !== undefined && !dangerouslyAllowBrowser && inBrowser())
    throw new TidemarkError(
      'invalid-request',
      'apiKey is public in a browser: use a proxy, or set dangerouslyAllowBrowser: true',
    )
  return apiKey
}

/**
 * What says the key with each request, as most providers take it or in a header of its own, and the caller's own headers,
 * which outrank it. Throws like `usableKey`.
 */
export function bearerHeaders(options: KeyOptions & Pick<ModelOptions, 'headers'>, keyHeader = '') {
  const { headers = {} } = options
  const key = usableKey(options)
  return async (): Promise<Record<string, string>> => ({
    ...(key !== undefined && (keyHeader ? { [keyHeader]: key } : { authorization: `Bearer ${key}` })),
    ...(typeof headers === 'function' ? await headers() : headers),
  })
}

/** Whether this is a page, or a worker of one. */
const inBrowser = (): boolean => 'document' in globalThis || 'WorkerGlobalScope' in globalThis
