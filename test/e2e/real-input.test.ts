import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { Browser, Page } from 'playwright-core'
import { createProxyHandler } from 'tidemark/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AssistantMessage } from '../../src/message/schema.ts'
import { answerBytes, cutAt, type Expected, expectedAnswers, recordedCuts } from '../adapters/fixtures.ts'
import { outcomeOf, wantedOf } from '../adapters/outcome.ts'
import { launchBrowser } from '../support/browser.ts'
import { bundleOf } from './bundle.ts'
import { startRawUpstream } from './raw-upstream.ts'
import { serveScript } from './script-page.ts'

/** Recorded answers that do not come out of IndexedDB as expected, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {}

const answers = expectedAnswers('openai-chat')
const byName = new Map(answers)
const begun: { close(): unknown }[] = []
let page: Page

/** Where an answer is cut, by the way it is asked for. */
function cutsOf(file: string, expected: Expected, way: string, length: number): number[] {
  if (way === 'recorded') return recordedCuts(file, expected)
  const cuts = fc.array(fc.nat(length), { minLength: 5, maxLength: 60 })
  return fc.sample(cuts, { numRuns: 1, seed: length })[0] ?? []
}

/** The bytes for `<way>:<file>`. */
function rawAnswer(model: string) {
  const [way = '', file = ''] = model.split(/:(.*)/s)
  const expected = byName.get(file)
  if (!expected) return undefined
  const bytes = answerBytes(file, expected)
  return {
    status: expected.httpStatus,
    contentType: expected.framing === 'json' ? 'application/json' : 'text/event-stream',
    pieces: cutAt(bytes, cutsOf(file, expected, way, bytes.length)),
  }
}

beforeAll(async () => {
  const script = await bundleOf('test/e2e/real-input-page.ts')
  const upstream = await startRawUpstream(rawAnswer)
  begun.push(upstream)
  const proxy = createProxyHandler({
    basePath: '/llm',
    upstreams: { openai: { baseURL: upstream.url, paths: ['/chat/completions'] } },
    limits: { requests: { max: 10_000, per: 60_000 } },
  })
  const server = await serveScript('Real input', script, proxy)
  begun.push(server)
  const browser: Browser = await launchBrowser()
  begun.push(browser)
  page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${server.port}/`)
  await page.waitForFunction(() => 'realInput' in window)
})

afterAll(async () => {
  for (const part of begun.toReversed()) await part.close()
})

describe('every recorded answer goes through proxy, adapter and store, and comes out of IndexedDB as expected', () => {
  test('there are at most five exceptions, and each names an answer', () => {
    expect(Object.keys(EXCEPTIONS).length).toBeLessThanOrEqual(5)
    expect(Object.keys(EXCEPTIONS).filter((file) => !byName.has(file))).toEqual([])
  })

  test.each(['recorded', 'random'])('cut at %s places', { timeout: 180_000 }, async (way) => {
    const names = answers.map(([file]) => `${way}:${file}`)
    await page.evaluate((asked) => window.realInput.ask(asked), names)
    // A fresh page knows only what was written.
    await page.reload()
    await page.waitForFunction(() => 'realInput' in window)
    const stored = await page.evaluate((asked) => window.realInput.stored(asked), names)
    const wrong: string[] = []
    for (const [file, expected] of answers) {
      const message = AssistantMessage.parse(stored[`${way}:${file}`])
      // An answer that does not say who gave it keeps the name of the model that was asked.
      const wanted = wantedOf({ ...expected, model: expected.model ?? 'named' })
      const status = expected.stopReason === 'error' ? 'failed' : 'completed'
      const outcome = outcomeOf(message, expected)
      if ((message.status === status && isDeepStrictEqual(outcome, wanted)) !== file in EXCEPTIONS) continue
      wrong.push(file)
      expect.soft({ status: message.status, outcome }, file).toEqual({ status, outcome: wanted })
    }
    expect(wrong).toEqual([])
  })
})
