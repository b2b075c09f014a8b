import { createProxyHandler } from '../../src/server/proxy/handler.ts'
import type { ProxyHandlerOptions, Upstream } from '../../src/server/proxy/options.ts'

export const KEY = 'sk-secret-0123456789'
const ORIGIN = 'http://proxy.test'

/** A proxy with one upstream, `/llm/openai`, of which one path is open. */
export function proxy(
  baseURL: string,
  own: Partial<Upstream> = {},
  options: Partial<ProxyHandlerOptions> = {},
) {
  const errors: unknown[] = []
  const handler = createProxyHandler({
    basePath: '/llm',
    upstreams: {
      openai: {
        baseURL: `${baseURL}/v1`,
        headers: () => ({ authorization: `Bearer ${KEY}` }),
        paths: ['/chat/completions'],
        ...own,
      },
    },
    onError: (error) => errors.push(error),
    ...options,
  })
  const ask = (path: string, init: RequestInit = {}) =>
    handler.fetch(
      new Request(ORIGIN + path, {
        method: 'POST',
        body: '{"model":"small"}',
        ...init,
        headers: { 'content-type': 'application/json', ...init.headers },
      }),
    )
  return { ask, errors, handler }
}
