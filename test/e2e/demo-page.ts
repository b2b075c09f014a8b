import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { type Demo, type DemoOptions, startDemo } from '../../demo/server/demo.ts'
import { launchBrowser } from '../support/browser.ts'
import { type ScriptedUpstream, startUpstream } from './upstream.ts'

/** The real demo, its page in a real browser, and a model that the test leads, unless the demo's own stand-in is asked for. */
export interface OpenDemo {
  demo: Demo
  upstream: ScriptedUpstream
  browser: Browser
  /** A page of a fresh browser profile. What goes wrong in it is kept in `errors`. */
  open(options?: BrowserContextOptions): Promise<Page>
  errors: string[]
  close(): Promise<void>
}

export async function openDemo({ standIn }: Pick<DemoOptions, 'standIn'> = {}): Promise<OpenDemo> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-demo-'))
  const upstream = await startUpstream()
  const model = standIn ? { standIn } : { env: upstream.env }
  const demo = await startDemo({ database: join(folder, 'demo.db'), ...model })
  const browser = await launchBrowser()
  const errors: string[] = []
  return {
    demo,
    upstream,
    browser,
    errors,
    async open(options = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
      const page = await context.newPage()
      page.on('pageerror', (error) => errors.push(error.message))
      await page.goto(demo.url)
      await page.getByLabel('Your message').waitFor()
      return page
    },
    async close() {
      await browser.close()
      await demo.close()
      await upstream.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export const composer = (page: Page): Locator => page.getByLabel('Your message')
export const messages = (page: Page): Locator => page.getByRole('article')
export const answers = (page: Page): Locator => page.locator('article[data-role="assistant"]')

export async function write(page: Page, text: string): Promise<void> {
  await composer(page).fill(text)
  await composer(page).press('Enter')
}

/** Waits until the newest message is an answer of this status, with this in it. */
export async function untilAnswer(page: Page, status: string, text = ''): Promise<void> {
  await page
    .locator(`article[data-role="assistant"][data-status="${status}"]:last-of-type`, { hasText: text })
    .waitFor()
}

/** Asks and waits for the whole answer. */
export async function ask(page: Page, text: string): Promise<void> {
  const before = await answers(page).count()
  await write(page, text)
  await answers(page).nth(before).waitFor()
  await untilAnswer(page, 'completed')
}
