import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, type OpenDemo, openDemo, untilAnswer, write } from './demo-page.ts'

let open: OpenDemo

beforeAll(async () => {
  open = await openDemo()
})

afterAll(async () => {
  await open.close()
})

const inspector = (page: Page) => page.getByRole('complementary', { name: 'What the model sees' })
const opener = (page: Page) => page.getByRole('button', { name: 'What the model sees' })
const decision = (page: Page, text: string) => inspector(page).getByRole('listitem').filter({ hasText: text })

async function openIn(runtime: 'remote' | 'direct'): Promise<Page> {
  const page = await open.open()
  await page.getByLabel(runtime, { exact: true }).check({ force: true })
  return page
}

describe('the inspector', () => {
  test.each(['remote', 'direct'] as const)(
    'says in %s what was sent, what was not, and why',
    async (runtime) => {
      const page = await openIn(runtime)
      await write(page, 'Please refuse this')
      await untilAnswer(page, 'failed')
      await ask(page, 'Answer at length')
      await opener(page).click()
      const failed = inspector(page).locator('li[data-sent="false"]')
      await failed.getByText('left out failed: not part of the conversation').waitFor()
      await decision(page, 'Answer at length').getByText('sent belongs to the newest turn').waitFor()
      await page.getByLabel('Show').selectOption({ index: runtime === 'direct' ? 2 : 1 })
      await inspector(page).getByText('Ended').waitFor()
      expect(await inspector(page).getByText('Counted', { exact: true }).count()).toBe(1)
      const curve = inspector(page).getByRole('img')
      expect(await curve.getAttribute('aria-label')).toMatch(/^Tokens sent over 2 calls: /)
      expect(await curve.locator('canvas').count()).toBe(1)
      await page.context().close()
    },
  )

  test('says where a server decides what its model sees', async () => {
    const page = await openIn('remote')
    await opener(page).click()
    await inspector(page).getByText('The server decides').waitFor()
    await inspector(page).getByRole('option', { name: 'No call yet' }).waitFor({ state: 'attached' })
    await page.context().close()
  })

  test('takes the focus when it opens, and gives it back when Escape shuts it', async () => {
    const page = await openIn('direct')
    await opener(page).focus()
    await page.keyboard.press('Enter')
    const close = page.getByRole('button', { name: 'Close inspector' })
    await expect.poll(() => close.evaluate((it) => it === document.activeElement)).toBe(true)
    expect(await opener(page).getAttribute('aria-expanded')).toBe('true')
    await page.keyboard.press('Escape')
    await expect.poll(() => opener(page).evaluate((it) => it === document.activeElement)).toBe(true)
    expect(await inspector(page).count()).toBe(0)
    await page.context().close()
  })

  test('has not made the page fail', () => {
    expect(open.errors).toEqual([])
  })
})
