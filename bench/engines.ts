import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../scripts/bootstrap.mjs'
import { launchBrowser } from '../test/support/browser.ts'
import type { Result } from './measure.ts'
import type { runCase } from './peers/cases.ts'

type What = Parameters<typeof runCase>

/** Where cases run, each in a process or a page of its own: what one taught the compiler does not touch the next. */
export interface Engine {
  name: string
  run(...what: What): Promise<Result>
  close(): Promise<void>
}

export function openNode(bundle: string): Engine {
  return {
    name: `Node ${process.versions.node}`,
    async run(...what) {
      // Without the other flags of this process, which compiles TypeScript as it goes.
      const execArgv = ['--expose-gc']
      const child = fork(join(root, 'bench', 'child.mjs'), [pathToFileURL(bundle).href], { execArgv })
      const left = once(child, 'exit').then(([code]) => {
        throw new Error(`the process that measured "${what[0]}" ended with ${code}`)
      })
      child.send(what)
      const answered = once(child, 'message')
      const [result] = await Promise.race([answered, left])
      // It leaves when it has answered.
      await left.catch(() => undefined)
      return result
    },
    async close() {},
  }
}

const page = `<!doctype html><title>bench</title><link rel="icon" href="data:,">
<script type="module">import { runCase } from './cases.mjs'; Object.assign(globalThis, { runCase })</script>`

/** With these a page's clock counts in steps of 5 µs, without them of 100. */
const isolated = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cache-control': 'no-store',
}

/** Serves a page and its bundle, and nothing else. */
export async function servePage(page: string, bundle: string): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    const isPage = request.url === '/'
    response.writeHead(200, { ...isolated, 'content-type': isPage ? 'text/html' : 'text/javascript' })
    response.end(isPage ? page : readFileSync(bundle))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a server without a port')
  return { url: `http://127.0.0.1:${address.port}/`, close: () => server.close() }
}

export async function openChromium(bundle: string): Promise<Engine> {
  const browser = await launchBrowser({ args: ['--js-flags=--expose-gc'] })
  const server = await servePage(page, bundle)
  return {
    name: `Chromium ${browser.version().split('.')[0]}`,
    async run(...what) {
      const tab = await browser.newPage()
      try {
        await tab.goto(server.url)
        return await tab.evaluate<Result>(`runCase(...${JSON.stringify(what)})`)
      } finally {
        await tab.close()
      }
    },
    async close() {
      await browser.close()
      server.close()
    },
  }
}
