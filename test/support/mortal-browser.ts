import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { launchOptions } from './browser.ts'

/** A browser of our own, which we may kill, and not one that Playwright puts to sleep. */
export interface MortalBrowser {
  browser: Browser
  /** With what its profile holds. */
  context: BrowserContext
  /** All of its processes at once, in the middle of whatever they do. */
  kill(): Promise<void>
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = ''
    child.stderr?.on('data', (chunk) => {
      printed += chunk
      const [, address] = /DevTools listening on (ws:\S+)/.exec(printed) ?? []
      if (address) resolve(address)
    })
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`the browser ended before it was ready: ${printed}`)))
  })
}

/** Starts a Chromium over the profile in a folder. */
export async function launchMortal(profile: string): Promise<MortalBrowser> {
  const { executablePath = chromium.executablePath(), args = [] } = launchOptions()
  const own = ['--headless=new', '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank']
  // Leads a group of processes, so that one signal reaches all of them.
  const child = spawn(executablePath, [...args, ...own], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const browser = await chromium.connectOverCDP(await addressOf(child))
  const [context] = browser.contexts()
  if (!context) throw new Error('a browser without a profile')
  return {
    browser,
    context,
    async kill() {
      const isOver = child.exitCode !== null || child.signalCode !== null
      const gone = isOver ? undefined : once(child, 'exit')
      if (!isOver && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      await gone
      await browser.close()
    },
  }
}
