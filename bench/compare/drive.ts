import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { ServedChat } from './server.ts'
import { type Client, isWhole, type Open, PIECES, QUESTION, type View } from './story.ts'

declare global {
  interface Window {
    open_: Record<string, Open>
    client: Client
  }
}

/** What a user had to do until the one answer to the one question stood there whole. */
export const STEPS = ['by itself', 'shown again', 'reloaded', 'retried', 'never'] as const
export type Step = (typeof STEPS)[number]

/** How one try came out. */
export interface Outcome {
  step: Step
  /** A part of the answer was shown as if it were all of it. */
  posed: boolean
  /** The model was asked more than once. */
  doubled: boolean
}

/** What only the whole answer ends with. */
const ENDING = PIECES.at(-1) ?? ''

/** Milliseconds that each step is given. */
const PATIENCE = 4000

/** Loads the page and opens the chat in it. */
export async function openPage(
  context: BrowserContext,
  origin: string,
  library: string,
  url: string,
): Promise<Page> {
  const page = await context.newPage()
  await page.goto(origin)
  await openClient(page, library, url)
  return page
}

export async function openClient(page: Page, library: string, url: string): Promise<void> {
  await page.waitForFunction(() => 'open_' in window)
  await page.evaluate(
    async ([name, address]) => {
      const chatId = address.slice(address.lastIndexOf('/') + 1)
      const open = window.open_[name]
      if (!open) throw new Error(`${name}: not in this page`)
      window.client = await open({ url: address, chatId })
    },
    [library, url] as const,
  )
}

export const ask = (page: Page): Promise<void> => page.evaluate((text) => window.client.send(text), QUESTION)

/** Looks every frame, until the answer is whole or the patience ends; what was seen is judged here. */
async function watch(page: Page, patience = PATIENCE): Promise<{ whole: boolean; posed: boolean }> {
  const seen = await page.evaluate(
    async ([ms, ending]) => {
      const views: string[] = []
      const until = performance.now() + ms
      while (performance.now() < until) {
        const view = window.client.view()
        const told = JSON.stringify(view)
        if (views.at(-1) !== told) views.push(told)
        if (view.state === 'done' && view.text.endsWith(ending)) break
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      return views
    },
    [patience, ENDING] as const,
  )
  const views = seen.map((told): View => JSON.parse(told))
  const last = views.at(-1)
  return { whole: last !== undefined && isWhole(last), posed: views.some(isPosing) }
}

const isPosing = (view: View): boolean =>
  view.state === 'done' && view.answers > 0 && !view.text.endsWith(ENDING)

/** As if the user had looked at another tab meanwhile. */
const showAgain = (page: Page): Promise<void> =>
  page.evaluate(() => {
    for (const state of ['hidden', 'visible'] as const) {
      Object.defineProperty(document, 'visibilityState', { configurable: true, value: state })
      Object.defineProperty(document, 'hidden', { configurable: true, value: state === 'hidden' })
      document.dispatchEvent(new Event('visibilitychange'))
    }
  })

/** From the least that can be asked of a user to the most, until the answer is whole. */
export async function heal(page: Page, library: string, chat: ServedChat): Promise<Outcome> {
  const ladder: readonly [Step, () => Promise<unknown>][] = [
    ['by itself', async () => {}],
    ['shown again', () => showAgain(page)],
    ['reloaded', () => page.reload().then(() => openClient(page, library, chat.url))],
    ['retried', () => page.evaluate(() => window.client.retry())],
  ]
  let posed = false
  for (const [step, help] of ladder) {
    // A page that does not even load is a try that failed.
    const seen = await help().then(
      () => watch(page),
      () => ({ whole: false, posed: false }),
    )
    posed ||= seen.posed
    if (seen.whole) return { step, posed, doubled: chat.runs() > 1 }
  }
  return { step: 'never', posed, doubled: chat.runs() > 1 }
}

/** Runs a job per entry, in as many browser profiles at once. */
export async function inProfiles<In, Out>(
  browser: Browser,
  entries: readonly In[],
  job: (context: BrowserContext, entry: In) => Promise<Out>,
  width = 6,
): Promise<Out[]> {
  const results: Out[] = []
  let next = 0
  const work = async () => {
    for (;;) {
      const at = next++
      const entry = entries[at]
      if (entry === undefined) return
      const context = await browser.newContext()
      results[at] = await job(context, entry)
      await context.close()
    }
  }
  await Promise.all(Array.from({ length: width }, work))
  return results
}
