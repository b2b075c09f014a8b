import type { Page } from 'playwright-core'
import { createProxyHandler } from 'tidemark/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readFixture } from '../adapters/fixtures.ts'
import { type ResponsesServer, responsesServer } from '../runtime/responses-server.ts'
import { launchBrowser } from '../support/browser.ts'
import { bundleOf } from './bundle.ts'
import { serveScript } from './script-page.ts'

/** What the recorded stream says in full. */
const RECORDED =
  "I am OpenAI's language model, known as GPT-3. I'm an artificial intelligence designed to comprehend text inputs and " +
  "generate text outputs based on those inputs. I'm trained on a wide range of internet text, but I don't have personal " +
  'experiences because I am a machine learning model.'

const begun: (() => unknown)[] = []
let upstream: ResponsesServer
let page: Page

beforeAll(async () => {
  const script = await bundleOf('test/e2e/resume-page.ts')
  upstream = await responsesServer([
    readFixture('streams/openai/prism-openai-stream-basic-text-responses-1.sse'),
  ])
  begun.push(upstream.stop)
  const proxy = createProxyHandler({
    basePath: '/llm',
    upstreams: {
      openai: {
        baseURL: upstream.url,
        paths: ['/responses', '/responses/*', '/responses/*/cancel'],
        methods: ['GET', 'POST'],
        query: ['stream', 'starting_after'],
      },
    },
  })
  const server = await serveScript('Resume', script, proxy)
  begun.push(() => server.close())
  const browser = await launchBrowser()
  begun.push(() => browser.close())
  page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${server.port}/`)
})

afterAll(async () => {
  for (const end of begun.toReversed()) await end()
})

const shown = async () => {
  await page.waitForFunction(() => 'resume' in window)
  return page.evaluate(() => window.resume.shown())
}

test('an answer goes on in the same message after the page was loaded again, twice, and no letter is doubled', async () => {
  await page.waitForFunction(() => 'resume' in window)
  await page.evaluate(() => window.resume.ask('What is two plus two?'))
  const patience = { timeout: 30_000 }
  await expect.poll(() => upstream.asked, patience).toEqual(['POST /responses'])
  upstream.writeTo(0, 20)
  await expect.poll(async () => (await shown())[1]?.text.length, patience).toBeGreaterThan(0)
  const [, half] = await shown()
  await page.reload()
  await expect.poll(async () => (await shown())[1]?.status, patience).toBe('streaming')
  upstream.writeTo(0, 40)
  await expect
    .poll(async () => (await shown())[1]?.text.length, patience)
    .toBeGreaterThan(half?.text.length ?? 0)
  await page.reload()
  await expect.poll(() => upstream.asked.length, patience).toBe(3)
  upstream.writeTo(0, upstream.eventsOf(0))
  await expect.poll(async () => (await shown())[1]?.status, patience).toBe('completed')
  const [question, answer] = await shown()
  expect(question?.status).toBe('completed')
  expect(answer?.id).toBe(half?.id)
  expect(answer?.text.startsWith(half?.text ?? '-')).toBe(true)
  const again = 'GET /responses/resp_0?stream=true'
  expect(upstream.asked).toEqual(['POST /responses', again, again])
  expect(answer?.text).toBe(RECORDED)
})
