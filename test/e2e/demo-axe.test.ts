import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Demo, startDemo } from '../../demo/server/demo.ts'
import { ask, type OpenDemo, openDemo, untilAnswer, write } from './demo-page.ts'

let open: OpenDemo
/** With the stand-in, which calls tools. */
let calling: Demo
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

beforeAll(async () => {
  open = await openDemo()
  calling = await startDemo({ database: ':memory:', standIn: { pace: 0 } })
})

afterAll(async () => {
  await calling.close()
  await open.close()
})

/** What axe calls serious or critical, by rule and place. */
async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  const { violations } = await page.evaluate<AxeResults>('axe.run(document, { resultTypes: ["violations"] })')
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')} ${node.failureSummary}`))
}

/** Every look of the page, one after the other; each is named as it is reached. */
async function* looks(page: Page): AsyncGenerator<string> {
  yield 'empty'
  await write(page, 'Break off in the middle')
  await untilAnswer(page, 'streaming', 'Spring')
  yield 'in the middle of an answer'
  open.upstream.release()
  await untilAnswer(page, 'completed', 'the almanac')
  await ask(page, 'Answer at length')
  yield 'with a history'
  await page.getByRole('button', { name: 'Regenerate answer' }).last().click()
  await page.getByRole('button', { name: 'Show older version' }).waitFor()
  await untilAnswer(page, 'completed', 'the almanac')
  yield 'with two versions'
  await write(page, 'Please refuse this')
  await untilAnswer(page, 'failed')
  yield 'with a failed answer'
  await page.getByRole('button', { name: 'What the model sees' }).click()
  await page.getByText('Message by message').waitFor()
  yield 'with the inspector'
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Edit message' }).last().click()
  yield 'while a message is edited'
  await page.keyboard.press('Escape')
  await page.context().setOffline(true)
  await write(page, 'Written offline')
  await page.getByText('waits to be sent').last().waitFor()
  yield 'offline'
  await page.context().setOffline(false)
  const drawer = page.getByRole('button', { name: 'Sessions' })
  if (await drawer.isVisible()) await drawer.click()
  yield 'with the sessions'
  await page
    .getByRole('button', { name: /^Rename/ })
    .first()
    .click()
  yield 'while a session is renamed'
  await page.keyboard.press('Escape')
  await page
    .getByRole('button', { name: /^Delete/ })
    .first()
    .click()
  await page.getByRole('dialog').waitFor()
  yield 'before something is deleted'
}

/** The looks of a call that has to be allowed, with a model that makes one. */
async function* asked(page: Page): AsyncGenerator<string> {
  await ask(page, 'Hello')
  await page.getByRole('button', { name: 'Edit message' }).click()
  await page.getByLabel('Edit your message').fill('What time is it in Tokyo?')
  await page.getByRole('button', { name: 'Send as a new version' }).click()
  const edit = page.getByRole('button', { name: 'Edit arguments' })
  await edit.waitFor()
  yield 'with a call to allow'
  await edit.click()
  await page.getByLabel('Arguments, as JSON').fill('{ "zone"')
  await page.getByText('This is not JSON yet.').waitFor()
  yield 'while its arguments are edited'
  await page.getByRole('button', { name: 'Show older version' }).click()
  await page.getByRole('button', { name: 'Show it' }).waitFor()
  yield 'with a call that waits elsewhere'
  await page.getByRole('button', { name: 'Show it' }).click()
  await page.getByRole('button', { name: 'Don’t allow' }).click()
  await untilAnswer(page, 'completed', 'I did not look')
  await page.getByRole('button', { name: 'As a card' }).click()
  await ask(page, 'What happens when I am offline?')
  await page.getByRole('region', { name: 'Answer as a card' }).waitFor()
  await page.getByRole('button', { name: 'As a card' }).click()
  await write(page, 'Look into: what time is it?')
  await page.getByRole('link', { name: 'Its own conversation' }).waitFor()
  await edit.waitFor()
  yield 'with a card, and a call to allow in a run of its own'
  await page.getByRole('link', { name: 'Its own conversation' }).click()
  await page.getByRole('link', { name: 'Back to it' }).waitFor()
  yield 'with that run'
}

const sizes = { wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 844 } }

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  test.each(Object.entries(sizes))('a %s page has no barrier that axe can see', async (_, viewport) => {
    // Without movement, so that nothing is looked at half-way through a fade.
    const options: BrowserContextOptions = { colorScheme, viewport, reducedMotion: 'reduce' }
    const page = await open.open(options)
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe(colorScheme)
    const found: Record<string, string[]> = {}
    const lookAt = async (page: Page, all: AsyncGenerator<string>) => {
      for await (const look of all) {
        const barred = await barriers(page)
        if (barred.length > 0) found[look] = barred
      }
      await page.context().close()
    }
    await lookAt(page, looks(page))
    const other = await (await open.browser.newContext(options)).newPage()
    await other.goto(calling.url)
    await other.getByLabel('Your message').waitFor()
    await lookAt(other, asked(other))
    expect(found).toEqual({})
  })
})
