import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium } from 'playwright-core'
import { chromiumArgs, findChromium } from '../../scripts/chromium.mjs'

/** A Chromium as a user has it: pages are hidden, frozen and kept in the back-forward cache, which Playwright's never are. */
export interface PlainBrowser {
  readonly context: BrowserContext
  close(): Promise<void>
}

/** Where a Chromium listens, once it says so. */
function endpointOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text
      const [, address] = /DevTools listening on (ws:\S+)/.exec(said) ?? []
      if (address) resolve(address)
    })
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`Chromium ended before it was ready: ${said}`)))
  })
}

export async function launchPlain(): Promise<PlainBrowser> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-plain-'))
  const args = ['--headless=new', '--remote-debugging-port=0', `--user-data-dir=${folder}`, 'about:blank']
  const child = spawn(findChromium() ?? chromium.executablePath(), [...chromiumArgs, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const browser = await chromium.connectOverCDP(await endpointOf(child), { noDefaults: true })
  const [context] = browser.contexts()
  if (!context) throw new Error('Chromium has no profile of its own')
  return {
    context,
    async close() {
      const gone = once(child, 'exit')
      await browser.close()
      child.kill()
      await gone
      // Its children may still be writing.
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
}
