import { afterAll, beforeAll, expect, test } from 'vitest'
import { answers, ask, composer, messages, type OpenDemo, openDemo, untilAnswer, write } from './demo-page.ts'

let open: OpenDemo

beforeAll(async () => {
  open = await openDemo()
})

afterAll(async () => {
  await open.close()
})

test('an answer streams in, and a reload in the middle of it carries on where it was', async () => {
  const page = await open.open()
  await write(page, 'Tell me slowly.')
  await untilAnswer(page, 'streaming', 'It begins slowly,')
  await page.reload()
  await untilAnswer(page, 'streaming', 'It begins slowly,')
  open.upstream.release()
  await untilAnswer(page, 'completed', 'It begins slowly, and it ends.')
  expect(await messages(page).count()).toBe(2)
  await page.context().close()
})

test('a closed tab comes back to its history, with the sessions newest first', async () => {
  const page = await open.open()
  await ask(page, 'The first thing')
  await page.getByRole('button', { name: 'New session', exact: true }).click()
  await ask(page, 'The second thing')
  const context = page.context()
  await page.close()
  const again = await context.newPage()
  await again.goto(open.demo.url)
  await untilAnswer(again, 'completed', 'You said: The second thing')
  const titles = again.getByRole('navigation').getByRole('link').locator('.session-title')
  await expect
    .poll(async () => (await titles.allInnerTexts()).slice(0, 2))
    .toEqual(['The second thing', 'The first thing'])
  await context.close()
})

test('what is written offline waits, and is sent once when the line is back', async () => {
  const page = await open.open()
  await ask(page, 'Hello')
  await page.context().setOffline(true)
  await page.getByText('You are offline. What you write is kept and sent once you are back.').waitFor()
  await write(page, 'Written on the train')
  await page.getByText('Kept here, waits to be sent').waitFor()
  await page.context().setOffline(false)
  await untilAnswer(page, 'completed', 'You said: Written on the train')
  expect(open.upstream.asked.filter((text) => text === 'Written on the train')).toHaveLength(1)
  expect(await messages(page).count()).toBe(4)
  await page.context().close()
})

test('Stop ends the answer and keeps what came; asking again brings another beside it', async () => {
  const page = await open.open()
  await write(page, 'Say it slowly, please')
  await untilAnswer(page, 'streaming', 'It begins slowly,')
  await page.getByRole('button', { name: 'Stop' }).click()
  await untilAnswer(page, 'interrupted', 'It begins slowly,')
  await page.getByRole('button', { name: 'Ask again' }).click()
  await untilAnswer(page, 'streaming', 'It begins slowly,')
  open.upstream.release()
  await untilAnswer(page, 'completed', 'and it ends.')
  await page.getByRole('button', { name: 'Show older version' }).click()
  await untilAnswer(page, 'interrupted', 'It begins slowly,')
  await page.context().close()
})

test('a failed answer says why, and can be asked for again', async () => {
  const page = await open.open()
  await write(page, 'Please refuse this')
  await untilAnswer(page, 'failed', 'no such model')
  await page.getByRole('button', { name: 'Ask again' }).click()
  await expect.poll(() => open.upstream.asked.filter((text) => text === 'Please refuse this').length).toBe(2)
  await page.context().close()
})

test('more sessions than a browser has connections can be open at once', async () => {
  const page = await open.open()
  for (let count = 1; count <= 8; count += 1) {
    await page.getByRole('button', { name: 'New session', exact: true }).click()
    await ask(page, `Session ${count}`)
  }
  await page.context().close()
})

test('a hostile answer does nothing, and loads nothing from elsewhere', async () => {
  const page = await open.open()
  const elsewhere: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(open.demo.url)) elsewhere.push(request.url())
  })
  await ask(page, 'Be hostile')
  await untilAnswer(page, 'completed', 'done')
  expect(await page.evaluate(() => 'hurt' in window)).toBe(false)
  expect(elsewhere).toEqual([])
  await page.context().close()
})

test('the page itself answers in the other runtime, with a history of its own', async () => {
  const page = await open.open()
  await ask(page, 'To the server')
  await page.getByRole('radio', { name: 'direct' }).click({ force: true })
  await page.getByText('What shall we find out?').waitFor()
  await ask(page, 'To the model')
  expect(await answers(page).count()).toBe(1)
  await page.reload()
  await untilAnswer(page, 'completed', 'You said: To the model')
  await page.getByRole('radio', { name: 'remote' }).click({ force: true })
  await untilAnswer(page, 'completed', 'You said: To the server')
  await composer(page).waitFor()
  await page.context().close()
})

test('an address that names nothing becomes that of the session on show', async () => {
  const page = await open.open()
  const { hash } = new URL(page.url())
  await page.evaluate(() => {
    location.hash = '#/nowhere'
  })
  await expect.poll(() => new URL(page.url()).hash).toBe(hash)
  await page.context().close()
})

test('nothing threw in any page', () => {
  expect(open.errors).toEqual([])
})
