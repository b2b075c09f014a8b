import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, composer, messages, type OpenDemo, openDemo, untilAnswer, write } from './demo-page.ts'
import { seedSession } from './seed.ts'

let open: OpenDemo

beforeAll(async () => {
  open = await openDemo()
})

afterAll(async () => {
  await open.close()
})

/** Pixels between what is in view and the end. */
const fromEnd = (page: Page) =>
  page.locator('.scroller').evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)

test('the newest stays in view while it grows, and a reader who scrolled up is left alone', async () => {
  const page = await open.open({ viewport: { width: 900, height: 500 } })
  await ask(page, 'Answer at length')
  await expect.poll(() => fromEnd(page)).toBeLessThan(2)
  await write(page, 'Break off in the middle')
  await untilAnswer(page, 'streaming', 'Spring')
  await expect.poll(() => fromEnd(page)).toBeLessThan(2)
  await page.locator('.scroller').hover()
  await page.mouse.wheel(0, -400)
  await page.getByRole('button', { name: 'Newest' }).waitFor()
  const top = await page.locator('.scroller').evaluate((box) => box.scrollTop)
  open.upstream.release()
  await untilAnswer(page, 'completed', 'the almanac')
  expect(await page.locator('.scroller').evaluate((box) => box.scrollTop)).toBe(top)
  await page.getByRole('button', { name: 'Newest' }).click()
  await expect.poll(() => fromEnd(page)).toBeLessThan(2)
  expect(await page.getByRole('button', { name: 'Newest' }).count()).toBe(0)
  await page.context().close()
})

test('who sends sees what they sent, wherever they were reading', async () => {
  const page = await open.open({ viewport: { width: 900, height: 500 } })
  await ask(page, 'Answer at length')
  await page.locator('.scroller').hover()
  for (const text of ['Once', 'Twice', 'Three times']) {
    await page.mouse.wheel(0, -400)
    await page.getByRole('button', { name: 'Newest' }).waitFor()
    await ask(page, text)
    await expect.poll(() => fromEnd(page)).toBeLessThan(2)
  }
  await page.context().close()
})

test('older messages are loaded above, without moving what is read', async () => {
  const page = await open.open()
  await seedSession(open.demo.url, 'long', 27)
  await page.goto(`${open.demo.url}/#/remote/long`)
  await untilAnswer(page, 'completed', 'You said: Turn 26.')
  // Stored by now; what is opened from there is the newest part.
  await page.reload()
  await untilAnswer(page, 'completed', 'You said: Turn 26.')
  const before = await messages(page).count()
  const earlier = page.getByRole('button', { name: 'Load earlier messages' })
  await earlier.scrollIntoViewIfNeeded()
  const first = messages(page).first()
  const read = await first.getAttribute('data-message')
  const place = (await first.boundingBox())?.y ?? 0
  await earlier.press('Enter')
  await expect.poll(() => messages(page).count()).toBeGreaterThan(before)
  const after = await page.locator(`[data-message="${read}"]`).boundingBox()
  expect(Math.abs((after?.y ?? 0) - place)).toBeLessThan(60)
  await page.context().close()
})

test('a finished answer is announced once, and not word by word', async () => {
  const page = await open.open()
  await page.evaluate(() => {
    const region = document.querySelector('[role="status"][aria-atomic="true"]')
    const said: string[] = []
    Object.assign(window, { said })
    if (region)
      new MutationObserver(() => said.push(region.textContent ?? '')).observe(region, {
        childList: true,
        subtree: true,
        characterData: true,
      })
  })
  await write(page, 'Speak slowly')
  await untilAnswer(page, 'streaming', 'It begins')
  open.upstream.release()
  await untilAnswer(page, 'completed')
  const said = () => page.evaluate(() => Reflect.get(window, 'said'))
  await expect.poll(said).toEqual(['Answer: It begins slowly, and it ends.'])
  await page.context().close()
})

test('what is begun and not sent is there after a reload', async () => {
  const page = await open.open()
  await composer(page).fill('A thought half')
  await page.reload()
  await expect.poll(() => composer(page).inputValue()).toBe('A thought half')
  await page.context().close()
})

test('what is sent as the page goes is there after a reload, as a message or still as a draft', async () => {
  const page = await open.open()
  for (let round = 0; round < 8; round++) {
    const text = `Now or later ${round}`
    await write(page, text)
    await page.reload()
    await composer(page).waitFor()
    const isThere = async () =>
      (await messages(page).filter({ hasText: text }).count()) > 0 ||
      (await composer(page).inputValue()) === text
    await expect.poll(isThere).toBe(true)
  }
  await page.context().close()
})

test('a browser without storage says so, and the page still works', async () => {
  const page = await open.open()
  await page.addInitScript(() => {
    Object.defineProperty(window, 'indexedDB', { value: undefined })
  })
  await page.reload()
  await ask(page, 'Still here?')
  await page.getByText('lost on this device when the page is closed').waitFor()
  await page.context().close()
})

test('the tidemark stands below what is settled, and moves on with it', async () => {
  const page = await open.open()
  await ask(page, 'The first')
  const marks = () =>
    page
      .getByRole('log')
      .evaluate((log) =>
        [...log.children].map((child) =>
          child instanceof HTMLElement ? (child.dataset.role ?? 'tidemark') : '',
        ),
      )
  await expect.poll(marks).toEqual(['user', 'assistant', 'tidemark'])
  await write(page, 'Speak slowly')
  await untilAnswer(page, 'streaming', 'It begins')
  await expect.poll(marks).toEqual(['user', 'assistant', 'user', 'tidemark', 'assistant'])
  open.upstream.release()
  await untilAnswer(page, 'completed', 'it ends')
  await expect.poll(marks).toEqual(['user', 'assistant', 'user', 'assistant', 'tidemark'])
  await page.context().close()
})
