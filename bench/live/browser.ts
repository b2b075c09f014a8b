import type { BrowserContext, Page } from 'playwright-core'
import { launchBrowser } from '../../test/support/browser.ts'
import { bundleInto } from '../bundle.ts'
import { servePage } from '../engines.ts'

/** A page with the bench in it, and what its main thread has done. */
export interface LivePage {
  page: Page
  /** Milliseconds that the main thread has computed so far: of its own time, not of a clock's, so that a busy machine does not count. */
  busy(): Promise<number>
}

/** Where pages of the bench come from. */
export interface Stage {
  origin: string
  version: string
  /** A profile of its own. */
  context(): Promise<BrowserContext>
  open(context: BrowserContext): Promise<LivePage>
  close(): Promise<void>
}

const HTML = `<!doctype html><title>bench</title><link rel="icon" href="data:,">
<script type="module" src="/page.mjs"></script>`

/** Opens the page and waits until the bench is in it. */
export async function openLive(context: BrowserContext, origin: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(origin)
  await page.waitForFunction(() => 'live' in window)
  return page
}

async function watched(page: Page): Promise<LivePage> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  return {
    page,
    async busy() {
      const { metrics } = await session.send('Performance.getMetrics')
      const found = metrics.find(({ name }) => name === 'TaskDuration')
      if (!found) throw new Error('a browser that does not say how long its tasks took')
      return found.value * 1_000
    },
  }
}

/** Builds the page, serves it and starts a browser. */
export async function openStage(folder: string): Promise<Stage> {
  const server = await servePage(HTML, await bundleInto(folder, 'live/page.ts', 'page.mjs'))
  const browser = await launchBrowser()
  return {
    origin: server.url,
    version: browser.version(),
    context: () => browser.newContext(),
    open: async (context) => watched(await openLive(context, server.url)),
    async close() {
      await browser.close()
      server.close()
    },
  }
}
