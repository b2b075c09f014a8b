import type { Page } from 'playwright-core'
import { textOf } from 'tidemark'
import { createHold } from 'tidemark/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { setLifecycle } from './lifecycle.ts'
import { launchPlain, type PlainBrowser } from './plain-browser.ts'
import { expectInStep, openStage, type Stage } from './stage.ts'

const BEGUN = 'It goes on, '
const WHOLE = `${BEGUN}whoever listens.`

let stage: Stage
let plain: PlainBrowser

beforeAll(async () => {
  plain = await launchPlain()
  stage = await openStage()
})

afterAll(async () => {
  await plain?.close()
  await stage?.close()
})

interface Way {
  leave(page: Page): Promise<unknown>
  /** Comes back. @default in another page of the same profile */
  back?(page: Page): Promise<unknown>
}

/** How a reader leaves in mid-answer. */
const ways: Record<string, Way> = {
  'a tab that is closed': { leave: (page) => page.close() },
  'a page whose process is killed': {
    leave: async (page) => {
      const session = await page.context().newCDPSession(page)
      const crashed = page.waitForEvent('crash')
      // Never answered: who would answer is gone.
      session.send('Page.crash').catch(() => undefined)
      await crashed
      await page.close()
    },
  },
  'a lid that is shut': {
    async leave(page) {
      await setLifecycle(page, 'frozen')
      await page.context().setOffline(true)
      stage.wire.cut()
    },
    async back(page) {
      await page.context().setOffline(false)
      await setLifecycle(page, 'active')
    },
  },
  'a network that goes away': {
    async leave(page) {
      stage.wire.down = true
      await page.context().setOffline(true)
      stage.wire.cut()
    },
    async back(page) {
      stage.wire.down = false
      await page.context().setOffline(false)
    },
  },
  'a proxy that hangs up and is away': {
    async leave() {
      stage.wire.down = true
      stage.wire.cut()
    },
    async back() {
      stage.wire.down = false
    },
  },
}

test.each(Object.entries(ways))(
  '6: %s does not cancel the run, and whoever comes back finds all of it',
  async (name, { leave, back }) => {
    const session = name.replaceAll(' ', '-')
    const { hold, release } = createHold()
    stage.answer = () => [BEGUN, { hold }, WHOLE.slice(BEGUN.length)]
    const { context } = plain
    const page = await stage.open(session, { context })
    await page.evaluate(() => void window.stage.session.send('go'))
    await page.waitForFunction((begun) => window.stage.last() === begun, BEGUN)
    await leave(page)
    // The server has seen that nobody listens any more, and time to act on it.
    await expect.poll(() => stage.feeds(), { timeout: 30_000 }).toBe(0)
    release()
    const texts = async () =>
      (await stage.truth(session)).map((message) => `${message.status} ${textOf(message)}`)
    await expect.poll(texts, { timeout: 30_000 }).toEqual(['completed go', `completed ${WHOLE}`])
    await back?.(page)
    const again = back ? page : await stage.open(session, { context })
    await expectInStep(stage, again, session)
    await again.close()
  },
)
