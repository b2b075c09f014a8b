import { isDeepStrictEqual } from 'node:util'
import type { Browser, BrowserContext, LaunchOptions, Page } from 'playwright-core'
import type { Message } from 'tidemark'
import { expect } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { bundleOf } from './bundle.ts'
import { inDatabase } from './database.ts'
import { openStageServer, type StageServer } from './stage-server.ts'
import { openWire, type Wire } from './wire.ts'

/** The package in real pages, a real server of it, and a wire between them that the test leads. */
export interface Stage extends StageServer {
  readonly browser: Browser
  readonly wire: Wire
  /** Opens a session in a page; without one, in a page of a new profile. */
  open(session: string, options?: OpenOptions): Promise<Page>
}

export interface OpenOptions {
  /** Where. @default a new page */
  page?: Page | undefined
  /** Whose page a new one is. @default a new profile's */
  context?: BrowserContext
  /** What the page is asked for besides: `&listen` for `heard`, `&speed=` for a faster clock. */
  query?: string
}

export interface StageOptions {
  launch?: LaunchOptions
  /** Milliseconds between signs of life. @default 15_000 */
  heartbeat?: number
}

export async function openStage({ launch, heartbeat = 15_000 }: StageOptions = {}): Promise<Stage> {
  const server = await openStageServer(await bundleOf('test/e2e/stage-page.ts'), heartbeat)
  const wire = await openWire(server.port)
  const browser = await launchBrowser(launch)
  return Object.assign(server, {
    browser,
    wire,
    async open(session: string, { page: present, context, query = '' }: OpenOptions = {}) {
      const page = present ?? (await (context ?? (await browser.newContext())).newPage())
      if (!present) page.on('pageerror', (error) => server.errors.push(error))
      await page.goto(`http://127.0.0.1:${wire.port}/?session=${session}${query}`)
      await ready(page)
      return page
    },
    close: closing(server, wire, browser),
  })
}

const closing =
  ({ close, errors }: StageServer, wire: Wire, browser: Browser) =>
  async () => {
    await browser.close()
    await wire.close()
    await close()
    expect(errors).toEqual([])
  }

/** Waits until a page's script has run. */
export const ready = (page: Page) => page.waitForFunction(() => 'stage' in window)

const patience = { timeout: 30_000 }

/** In the end a page shows what the server has, has stored what it shows, and nothing that must never be seen was. */
export async function expectInStep(stage: Stage, page: Page, session: string): Promise<Message[]> {
  const shown = () => page.evaluate(() => window.stage.session.get().messages)
  const waiting = () => page.evaluate(() => window.stage.chat.health.get().outbox)
  await expect.poll(waiting, patience).toBe(0)
  const isSame = async () => isDeepStrictEqual(await shown(), await stage.truth(session))
  await expect.poll(isSame, patience).toBe(true)
  const truth = await stage.truth(session)
  const stored = async () => {
    const { messages, ...left } = await inDatabase(page, 'stage')
    return { messages: messages.filter(({ sessionId }) => sessionId === session), ...left }
  }
  await expect.poll(stored, patience).toEqual({ messages: truth, journal: 0, outbox: 0 })
  expect(await page.evaluate(() => window.stage.wrong)).toEqual([])
  return truth
}
