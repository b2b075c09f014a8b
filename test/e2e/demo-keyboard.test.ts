import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type OpenDemo, openDemo, untilAnswer } from './demo-page.ts'
import { type Keyboard, keyboardOf } from './keyboard.ts'

let open: OpenDemo
let page: Page
let keys: Keyboard

beforeAll(async () => {
  open = await openDemo()
})

afterAll(async () => {
  await open.close()
})

beforeEach(async () => {
  page = await open.open()
  keys = keyboardOf(page)
})

afterEach(async () => {
  await page.context().close()
})

async function ask(text: string): Promise<void> {
  await keys.to('Your message')
  await keys.type(text)
  await keys.press('Enter')
  await untilAnswer(page, 'completed', text)
}

const focus = () => expect.poll(keys.at)
const current = () => page.getByRole('navigation').locator('[aria-current="page"] .session-title')

describe('with the keyboard alone one', () => {
  test('skips to writing, writes over two lines, and sends', async () => {
    await keys.to('Skip to writing')
    await keys.press('Enter')
    await focus().toBe('Your message')
    await keys.type('First line')
    await keys.press('Shift+Enter')
    await keys.type('second line')
    await keys.press('Enter')
    await untilAnswer(page, 'completed', 'You said: First line')
    await page.getByText('First line\nsecond line', { exact: true }).first().waitFor()
    await focus().toBe('Your message')
  })

  test('asks what is suggested', async () => {
    await keys.to('Why is the sea salty?')
    await keys.press('Enter')
    await untilAnswer(page, 'completed', 'Why is the sea salty?')
  })

  test('stops an answer with Escape and with the button, and goes on writing', async () => {
    await keys.to('Your message')
    await keys.type('Speak slowly')
    await keys.press('Enter')
    await untilAnswer(page, 'streaming', 'It begins')
    await keys.press('Escape')
    await untilAnswer(page, 'interrupted')
    await focus().toBe('Your message')
    await keys.to('Ask again', 'back')
    await keys.press('Enter')
    await untilAnswer(page, 'streaming', 'It begins')
    await keys.to('Stop')
    await keys.press('Space')
    await untilAnswer(page, 'interrupted')
    await focus().toBe('Your message')
  })

  test('starts sessions, goes from one to the other, renames and deletes', async () => {
    await ask('About the ebb')
    await keys.to('New session', 'back')
    await keys.press('Enter')
    await focus().toBe('Your message')
    await ask('About the flood')
    await keys.to(/^About the ebb/, 'back')
    await keys.press('Enter')
    await expect.poll(() => current().textContent()).toBe('About the ebb')
    await untilAnswer(page, 'completed', 'About the ebb')
    await keys.to('Rename About the ebb')
    await keys.press('Enter')
    await focus().toBe('Name of the session')
    await keys.type('Low water')
    await keys.press('Enter')
    await focus().toBe('Rename Low water')
    await keys.press('Enter')
    await focus().toBe('Name of the session')
    await keys.type('Never mind')
    await keys.press('Escape')
    await focus().toBe('Rename Low water')
    await page.getByRole('heading', { name: 'Low water', level: 1 }).waitFor()
    await keys.to('Delete Low water')
    await keys.press('Enter')
    await focus().toBe('Keep it')
    await keys.press('Escape')
    await focus().toBe('Delete Low water')
    await keys.press('Enter')
    await keys.to('Delete')
    await keys.press('Enter')
    await focus().toBe('New session')
    await expect.poll(() => page.getByRole('link', { name: /Low water/ }).count()).toBe(0)
    await expect.poll(() => current().textContent()).toBe('About the flood')
  })

  test('regenerates, edits, and looks at the versions', async () => {
    await ask('High water')
    await keys.to('Regenerate answer', 'back')
    await keys.press('Enter')
    await page.getByText('Version 2 of 2').waitFor()
    await untilAnswer(page, 'completed')
    await keys.to('Show older version', 'back')
    await keys.press('Enter')
    await focus().toBe('Show older version')
    await page.getByText('Version 1 of 2').waitFor()
    await keys.to('Show newer version')
    await keys.press('Enter')
    await page.getByText('Version 2 of 2').waitFor()
    await focus().toBe('Show newer version')
    await keys.to('Edit message', 'back')
    await keys.press('Enter')
    await focus().toBe('Edit your message')
    await keys.press('Escape')
    await focus().toBe('Edit message')
    await keys.press('Enter')
    await focus().toBe('Edit your message')
    await keys.press('End')
    await keys.type(' and low')
    await keys.press('Enter')
    await untilAnswer(page, 'completed', 'You said: High water and low')
    await focus().toBe('Your message')
  })

  test('copies, chooses the runtime, and the appearance', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await ask('Slack water')
    await keys.to('Copy answer', 'back')
    await keys.press('Enter')
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('You said: Slack water')
    await keys.to('remote', 'back')
    await keys.press('ArrowRight')
    await focus().toBe('direct')
    await page.getByText('What shall we find out?').waitFor()
    expect(page.url()).toContain('#/direct/')
    await keys.to('auto')
    await keys.press('ArrowRight', 'ArrowRight')
    await focus().toBe('dark')
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
    await page.reload()
    await page.getByLabel('Your message').waitFor()
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
    expect(page.url()).toContain('#/direct/')
  })
})

test('on a phone, the drawer opens, keeps the focus, and gives it back', async () => {
  await page.setViewportSize({ width: 390, height: 844 })
  await keys.to('Sessions')
  await keys.press('Enter')
  await focus().toBe('New session')
  await keys.to('Close', 'back')
  await keys.press('Enter')
  await focus().toBe('Sessions')
  await keys.press('Enter')
  await focus().toBe('New session')
  await keys.press('Escape')
  await focus().toBe('Sessions')
})
