import type { Page } from 'playwright-core'
import { textOf } from 'tidemark'
import { createHold } from 'tidemark/testing'
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
  for (const page of plain.context.pages()) await page.close()
})

afterAll(async () => {
  await plain?.close()
  await stage?.close()
})

const patience = { timeout: 30_000 }

const open = (session: string, query = '') => stage.open(session, { context: plain.context, query })
const say = (page: Page, text: string) =>
  page.evaluate(async (words) => (await window.stage.session.send(words)).saved, text)

/** All tabs show what the server has, in which each of these was said once and answered. */
async function expectSaid(session: string, pages: readonly Page[], texts: readonly string[]): Promise<void> {
  const isAnswered = async () => {
    const truth = await stage.truth(session)
    return truth.length >= texts.length * 2 && truth.every(({ status }) => status === 'completed')
  }
  await expect.poll(isAnswered, patience).toBe(true)
  for (const page of pages) {
    const messages = await expectInStep(stage, page, session)
    const said = messages.filter(({ role }) => role === 'user').map((message) => textOf(message))
    expect(said.toSorted()).toEqual(texts.toSorted())
    expect(messages.length).toBe(texts.length * 2)
  }
}

test('22: eight tabs of one session over HTTP/1.1: one feed, and each is heard and hears of all', async () => {
  const pages: Page[] = []
  for (let tab = 0; tab < 8; tab++) pages.push(await open('eight'))
  const texts = pages.map((_, tab) => `from tab ${tab}`)
  for (const [tab, page] of pages.entries()) expect(await say(page, texts[tab] ?? '')).toBe('disk')
  await expectSaid('eight', pages, texts)
  await expect.poll(() => stage.feeds(), patience).toBe(1)
  expect(stage.wire.open()).toBeLessThanOrEqual(6)
})

test('22: eight tabs of eight sessions over HTTP/1.1, which allows six connections: each is heard and hears', async () => {
  const pages: Page[] = []
  for (let tab = 0; tab < 8; tab++) pages.push(await open(`session-${tab}`))
  for (const [tab, page] of pages.entries()) {
    expect(await say(page, `in session ${tab}`)).toBe('disk')
    await expectSaid(`session-${tab}`, [page], [`in session ${tab}`])
  }
  await expect.poll(() => stage.feeds(), patience).toBe(4)
  expect(stage.wire.open()).toBeLessThanOrEqual(6)
  // Said by somebody else. A tab that is hidden may have left its connection to others; it hears when it is looked at.
  await pages[0]?.bringToFront()
  await stage.say('session-0', 'elsewhere')
  await expectSaid('session-0', pages.slice(0, 1), ['in session 0', 'elsewhere'])
})

test('22: a leader that is frozen in mid-answer is replaced; thawed, it follows and has lost nothing', async () => {
  const first = await open('frozen', '&speed=4')
  const { hold, release } = createHold()
  stage.answer = (text) => (text === 'one' ? ['half ', { hold }, 'and whole'] : `re: ${text}`)
  expect(await say(first, 'one')).toBe('disk')
  await expect.poll(() => first.evaluate(() => window.stage.last()), patience).toBe('half ')
  const second = await open('frozen', '&speed=4')
  await setLifecycle(first, 'frozen')
  await second.bringToFront()
  expect(await say(second, 'two')).toBe('disk')
  release()
  await expectSaid('frozen', [second], ['one', 'two'])
  await setLifecycle(first, 'active')
  await first.bringToFront()
  expect(await say(first, 'three')).toBe('disk')
  await expectSaid('frozen', [first, second], ['one', 'two', 'three'])
  stage.answer = (text) => `re: ${text}`
})

test('22: leaders that lose their lock to one another, again and again, say everything once', async () => {
  const pages = [await open('stolen'), await open('stolen')]
  const texts: string[] = []
  for (let round = 0; round < 6; round++) {
    const [thief, other] = round % 2 === 0 ? pages : pages.toReversed()
    if (!thief || !other) continue
    // Whoever leads does so no more, in the midst of what it does.
    const stolen = thief.evaluate(() =>
      navigator.locks.request('tidemark:default/stage:stolen', { steal: true }, async () => undefined),
    )
    for (const [at, page] of [thief, other].entries()) {
      const text = `round ${round}, ${at}`
      texts.push(text)
      expect(await say(page, text)).toBe('disk')
    }
    await stolen
  }
  await expectSaid('stolen', pages, texts)
  await expect.poll(() => stage.feeds(), patience).toBe(1)
})

test('22: tabs whose process is killed as they write: what they said was stored is sent, once, by those that stay', async () => {
  const [stays, looks] = [await open('killed'), await open('killed')]
  const texts: string[] = []
  for (let round = 0; round < 4; round++) {
    const dies = await open('killed')
    const session = await plain.context.newCDPSession(dies)
    const crashed = dies.waitForEvent('crash')
    texts.push(`stored ${round}`)
    expect(await say(dies, `stored ${round}`)).toBe('disk')
    await dies.evaluate((text) => void window.stage.session.send(text), `unsaid ${round}`)
    // Never answered: who would answer is gone.
    session.send('Page.crash').catch(() => undefined)
    await crashed
    await dies.close()
  }
  // Looked at again, a tab finds what was stored and told to nobody.
  await stays.bringToFront()
  await expect
    .poll(async () => (await expectInStep(stage, stays, 'killed')).length, patience)
    .toBeGreaterThanOrEqual(8)
  const said = (await expectInStep(stage, looks, 'killed')).filter(({ role }) => role === 'user')
  const words = said.map((message) => textOf(message))
  expect(words).toEqual(expect.arrayContaining(texts))
  expect(new Set(words).size).toBe(words.length)
})
