import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composer, messages, type OpenDemo, openDemo, untilAnswer, write } from './demo-page.ts'
import { keyboardOf } from './keyboard.ts'

let stage: OpenDemo

/** With the stand-in, which calls the tools that it is offered. */
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

const asks = (page: Page) => page.getByRole('group', { name: 'The answer wants to use clock. May it?' })

test.each(['remote', 'direct'])(
  'over %s, a clock is asked for: by keyboard, after a reload, in both tabs, and once',
  async (runtime) => {
    const page = await open(runtime)
    const keyboard = keyboardOf(page)
    await write(page, 'What time is it?')
    await asks(page).waitFor()
    await expect.poll(() => page.getByText('The answer waits: may it use clock?').count()).toBe(1)
    // Nobody's focus is taken away.
    expect(await keyboard.at()).toBe('Your message')
    await page.reload()
    await asks(page).waitFor()
    const second = await page.context().newPage()
    await second.goto(page.url())
    await asks(second).waitFor()
    await keyboard.to('Allow', 'back')
    await keyboard.press('Enter')
    await untilAnswer(page, 'completed', 'as far as your clock knows')
    await untilAnswer(second, 'completed', 'as far as your clock knows')
    expect(await asks(second).count()).toBe(0)
    expect(await keyboard.at()).toBe('Your message')
    await page.context().close()
  },
)

test.each(['remote', 'direct'])('over %s, what is not allowed by pointer is not done', async (runtime) => {
  const page = await open(runtime)
  await write(page, 'What time is it?')
  await page.getByRole('button', { name: 'Don’t allow' }).click()
  await untilAnswer(page, 'completed', 'I did not look at the clock')
  await write(page, 'And what is 12 * (3 + 4)?')
  await untilAnswer(page, 'completed', '84')
  expect(await page.getByText('calculate answered').count()).toBe(1)
  await page.context().close()
  expect(stage.errors).toEqual([])
})

test.each(['remote', 'direct'])('over %s, the model is told why not, by keyboard', async (runtime) => {
  const page = await open(runtime)
  const keyboard = keyboardOf(page)
  await write(page, 'What time is it?')
  await asks(page).waitFor()
  await keyboard.to('Why not, for the model', 'back')
  await keyboard.type('never')
  // Escape takes the words back, and does not stop the answer.
  await keyboard.press('Escape')
  await keyboard.type('not before noon')
  await keyboard.press('Enter')
  await untilAnswer(page, 'completed', 'I did not look at the clock')
  expect(await keyboard.at()).toBe('Your message')
  await page.getByText('clock was not allowed').click()
  await page.getByText('the user did not allow this call: not before noon').waitFor()
  await page.context().close()
})

test.each(['remote', 'direct'])(
  'over %s, what waits behind a question says so, and a run that is stopped there is asked again',
  async (runtime) => {
    const page = await open(runtime)
    await write(page, 'What time is it?')
    await asks(page).waitFor()
    await write(page, 'Hello')
    if (runtime === 'direct') await page.getByText('Waits for the answer before it').waitFor()
    await messages(page).filter({ hasText: 'Hello' }).waitFor()
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await untilAnswer(page, 'completed', 'There are a few things')
    await write(page, 'What time is it?')
    await asks(page).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('It ended here, without an answer.').waitFor()
    await page.getByRole('button', { name: 'Ask again' }).click()
    await asks(page).waitFor()
    expect(await page.getByText('It ended here, without an answer.').count()).toBe(0)
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await untilAnswer(page, 'completed', 'as far as your clock knows')
    await page.context().close()
  },
)

test('with what it is used can be changed before it is allowed, by keyboard; what is no JSON is not sent', async () => {
  const page = await open('remote')
  const keyboard = keyboardOf(page)
  await write(page, 'What time is it in Tokyo?')
  await asks(page).getByText('Asia/Tokyo').waitFor()
  await keyboard.to('Edit arguments', 'back')
  await keyboard.press('Enter')
  expect(await keyboard.at()).toBe('Arguments, as JSON')
  await keyboard.press('Control+A')
  await keyboard.type('{"zone": ')
  await asks(page).getByText('This is not JSON yet.').waitFor()
  expect(await page.getByRole('button', { name: 'Allow this' }).isDisabled()).toBe(true)
  // Escape leaves the change, not the answer.
  await keyboard.press('Escape')
  expect(await keyboard.at()).toBe('Edit arguments')
  await keyboard.press('Enter')
  await keyboard.press('Control+A')
  await keyboard.type('{"zone": "Nowhere/Nix"}')
  await keyboard.to('Allow this')
  await keyboard.press('Enter')
  await untilAnswer(page, 'completed', 'The clock could not say: Invalid time zone specified: Nowhere/Nix')
  await page.context().close()
})

test.each(['remote', 'direct'])(
  'over %s, a call that waits in another version is told of, with the way there',
  async (runtime) => {
    const page = await open(runtime)
    await write(page, 'Hello')
    await untilAnswer(page, 'completed')
    await page.getByRole('button', { name: 'Edit message' }).click()
    await page.getByLabel('Edit your message').fill('What time is it?')
    await page.getByRole('button', { name: 'Send as a new version' }).click()
    await asks(page).waitFor()
    const notice = page.getByText('In another version of this conversation an answer waits')
    expect(await notice.count()).toBe(0)
    await page.getByRole('button', { name: 'Show older version' }).click()
    await notice.waitFor()
    await page.getByRole('button', { name: 'Show it' }).click()
    await asks(page).waitFor()
    expect(await notice.count()).toBe(0)
    await page.getByRole('button', { name: 'Allow', exact: true }).click()
    await untilAnswer(page, 'completed', 'as far as your clock knows')
    await page.context().close()
    expect(stage.errors).toEqual([])
  },
)
