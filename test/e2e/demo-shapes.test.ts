import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composer, messages, type OpenDemo, openDemo, untilAnswer, write } from './demo-page.ts'
import { keyboardOf } from './keyboard.ts'

let stage: OpenDemo

/** With the stand-in, which calls the tools that it is offered, and knows one shape of answer. */
beforeAll(async () => {
  stage = await openDemo({ standIn: { pace: 0 } })
})

afterAll(() => stage?.close())

/** A page of a fresh profile, over one of the runtimes. */
async function open(runtime: string): Promise<Page> {
  const page = await stage.open()
  await page.getByRole('radio', { name: runtime }).check()
  await composer(page).waitFor()
  return page
}

const sessions = (page: Page) => page.locator('.sessions li')

test.each(['remote', 'direct'])(
  'over %s, a run of its own asks where it was asked for, and is read in its own conversation, by keyboard',
  async (runtime) => {
    const page = await open(runtime)
    const keyboard = keyboardOf(page)
    await write(page, 'Look into: what time is it?')
    await page.getByRole('group', { name: 'The answer wants to use clock. May it?' }).waitFor()
    expect(await keyboard.at()).toBe('Your message')
    await keyboard.to('Allow', 'back')
    await keyboard.press('Enter')
    await untilAnswer(page, 'completed', 'I had that looked into')
    expect(await keyboard.at()).toBe('Your message')
    // Of what was said there, only the end is told here.
    expect(await messages(page).count()).toBe(4)
    await keyboard.to('Its own conversation', 'back')
    await keyboard.press('Enter')
    await untilAnswer(page, 'completed', 'as far as your clock knows')
    await page.getByRole('heading', { level: 1, name: 'A run of its own' }).waitFor()
    await page.reload()
    await untilAnswer(page, 'completed', 'as far as your clock knows')
    await keyboard.to('Back to it')
    await keyboard.press('Enter')
    await untilAnswer(page, 'completed', 'I had that looked into')
    await expect.poll(() => sessions(page).count()).toBe(1)
    // It goes with the conversation that it belongs to.
    await page.getByRole('button', { name: 'Delete Look into: what time is it?' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect.poll(() => sessions(page).count()).toBe(0)
    await page.reload()
    await composer(page).waitFor()
    expect(await sessions(page).count()).toBe(0)
    await page.context().close()
  },
)

test('a run of its own is stopped with the answer that it is for, by keyboard', async () => {
  const page = await open('direct')
  await write(page, 'Look into: what time is it?')
  const asks = page.getByRole('group', { name: 'The answer wants to use clock. May it?' })
  await asks.waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('research failed').waitFor()
  await expect.poll(() => asks.count()).toBe(0)
  await page.context().close()
})

test.each(['remote', 'direct'])(
  'over %s, an answer in a few points is asked for and read as a card, by keyboard, also after a reload',
  async (runtime) => {
    const page = await open(runtime)
    const keyboard = keyboardOf(page)
    await keyboard.to('As a card')
    await keyboard.press('Space')
    expect(await page.getByRole('button', { name: 'As a card', pressed: true }).count()).toBe(1)
    await keyboard.to('Your message', 'back')
    await keyboard.type('What happens when I am offline?')
    await keyboard.press('Enter')
    const card = page.getByRole('region', { name: 'Answer as a card' })
    await card.getByText("The message's own id").waitFor()
    await untilAnswer(page, 'completed')
    expect(await card.getByRole('heading').textContent()).toBe('What happens when I am offline?')
    expect(await card.getByRole('listitem').count()).toBeGreaterThan(2)
    // What is said aloud is no JSON.
    await page.getByText(/^Answer: What happens when I am offline\? You can go on writing\./).waitFor()
    await page.reload()
    await card.waitFor()
    await keyboard.to('Regenerate answer', 'back')
    await keyboard.press('Enter')
    await page.getByText('2 / 2').waitFor()
    await untilAnswer(page, 'completed')
    expect(await card.count()).toBe(1)
    await page.context().close()
    expect(stage.errors).toEqual([])
  },
)
