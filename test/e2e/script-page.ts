import type { ProxyHandler } from 'tidemark/server'
import { type Listening, listen } from '../../demo/server/listen.ts'

/** Serves a page that does nothing but run a script, and a proxy for it under `/llm`. */
export function serveScript(title: string, script: string, proxy: ProxyHandler): Promise<Listening> {
  const html = `<!doctype html><title>${title}</title><script type="module" src="/page.js"></script>`
  return listen(
    (request) => {
      const { pathname } = new URL(request.url)
      if (pathname.startsWith('/llm/')) return proxy.fetch(request)
      const isScript = pathname === '/page.js'
      const headers = { 'content-type': isScript ? 'text/javascript' : 'text/html' }
      return new Response(isScript ? script : html, { headers })
    },
    { port: 0 },
  )
}
