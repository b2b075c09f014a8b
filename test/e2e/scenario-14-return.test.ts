import type { Page } from 'playwright-core'
import { textOf } from 'tidemark'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { setLifecycle } from './lifecycle.ts'
import { launchPlain, type PlainBrowser } from './plain-browser.ts'
import { expectInStep, openStage, type Stage } from './stage.ts'

let stage: Stage
let plain: PlainBrowser

beforeAll(async () => {
  plain = await launchPlain()
  stage = await openStage()
})

afterEach(async () => {
  // What is half open would be so for ever.
  stage.wire.cut()
  for (const page of plain.context.pages()) await page.close()
})

afterAll(async () => {
  await plain?.close()
  await stage?.close()
})

const ALL = ['one', 're: one', 'meanwhile', 're: meanwhile']
const patience = { timeout: 30_000 }
const feedsAsked = () => stage.asked.filter(({ line }) => /^GET .*\/events$/.test(line)).length

/** A page that has talked, with its feed open. Its clock is one that the test can put forward. */
async function talked(session: string, clock = true): Promise<Page> {
  const page = await plain.context.newPage()
  await page.addInitScript(() => {
    window.realNow = performance.now.bind(performance)
  })
  if (clock) await page.clock.install()
  await stage.open(session, { page })
  await page.evaluate(async () => (await window.stage.session.send('one')).answer)
  await expect.poll(() => stage.feeds(), patience).toBe(1)
  await expectInStep(stage, page, session)
  return page
}

/** How the page came back, once it shows everything. */
async function returned(page: Page) {
  const now = () => page.evaluate(() => window.stage?.returned)
  // Asked from here: a hidden page paints no frames that could wait for it.
  await expect.poll(async () => (await now())?.took, patience).not.toBeUndefined()
  return now()
}

async function expectAll(page: Page, session: string): Promise<void> {
  expect((await expectInStep(stage, page, session)).map((message) => textOf(message))).toEqual(ALL)
}

/** How a page is away while another is in front of it. */
const away: Record<string, (page: Page) => Promise<() => Promise<void>>> = {
  hidden: async (page) => () => page.bringToFront(),
  frozen: async (page) => {
    await setLifecycle(page, 'frozen')
    return async () => {
      await setLifecycle(page, 'active')
      await page.bringToFront()
    }
  },
}

test.each(Object.entries(away))(
  '14: %s for ten minutes with a half-open socket, a page is in sync within a second of coming back',
  async (session, leave) => {
    const page = await talked(session)
    await page.evaluate(() => window.stage.expectReturn('visibilitychange', 4))
    await (await plain.context.newPage()).bringToFront()
    const back = await leave(page)
    const before = feedsAsked()
    stage.wire.numb()
    await stage.say(session, 'meanwhile')
    // The device slept: its clock jumps, and no timer of it went on meanwhile.
    await page.clock.setSystemTime(Date.now() + 600_000)
    const now = await page.evaluate(() => [document.visibilityState, window.stage.shown().length])
    expect(now).toEqual(['hidden', 2])
    await back()
    expect((await returned(page))?.took).toBeLessThan(1_000)
    await expectAll(page, session)
    // One for each time that it is woken.
    expect(feedsAsked() - before).toBeLessThanOrEqual(2)
  },
)

test('14: a socket that is half open for ten minutes, of which nobody tells, is noticed by the jump of the clock', async () => {
  const page = await talked('numb')
  stage.wire.numb()
  await stage.say('numb', 'meanwhile')
  expect(await page.evaluate(() => window.stage.shown().length)).toBe(2)
  await page.clock.fastForward(600_000)
  await page.waitForFunction(() => window.stage.shown().length === 4)
  await expectAll(page, 'numb')
})

/** Locks of the package in this browser that somebody has or waits for. */
const locks = (page: Page) =>
  page.evaluate(async () => {
    const { held = [], pending = [] } = await navigator.locks.query()
    return [...held, ...pending].filter(({ name }) => name?.startsWith('tidemark')).length
  })

test.each([
  ['of another kind', '/page.js'],
  ['of the same app, that says something itself', '/?session=kept&again'],
])(
  '14: gone to a page %s, it holds nothing and is kept; back, it is in sync within a second',
  async (_, path) => {
    const session = path === '/page.js' ? 'aside' : 'kept'
    const page = await talked(session, false)
    await page.evaluate(() => window.stage.expectReturn('pageshow', 4))
    await page.goto(`http://127.0.0.1:${stage.wire.port}${path}`)
    if (session === 'aside') {
      await expect.poll(() => stage.feeds(), patience).toBe(0)
      expect(await locks(page)).toBe(0)
      await stage.say(session, 'meanwhile')
    } else {
      await page.evaluate(async () => (await window.stage.session.send('meanwhile')).answer)
    }
    await page.goBack({ waitUntil: 'commit' })
    const { persisted, took } = (await returned(page)) ?? {}
    expect(persisted).toBe(true)
    expect(took).toBeLessThan(1_000)
    await expectAll(page, session)
  },
)
