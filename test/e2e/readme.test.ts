import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createProxyHandler } from 'tidemark/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listen } from '../../demo/server/listen.ts'
import { createStandIn } from '../../demo/stand-in.ts'
import { root } from '../../scripts/bootstrap.mjs'
import { launchBrowser } from '../support/browser.ts'
import { bundle } from '../support/measure-bundle.ts'

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const [, snippet = ''] = /```ts\n([\s\S]*?)```/.exec(readme) ?? []

const closing: (() => Promise<unknown>)[] = []
let url: string

/** What the snippet needs around it: a page that loads it, and a thin proxy in front of something that answers. */
beforeAll(async () => {
  const files = new Map(
    (await bundle({ entry: snippet })).map(({ fileName, code }) => [`/${fileName}`, code]),
  )
  const [entry] = files.keys()
  const standIn = await listen(createStandIn({ pace: 0 }), { port: 0 })
  closing.push(standIn.close)
  const proxy = createProxyHandler({
    basePath: '/llm',
    upstreams: { openai: { baseURL: `http://127.0.0.1:${standIn.port}/v1`, paths: ['/chat/completions'] } },
  })
  const page = `<!doctype html><meta charset="utf-8"><title>README</title><body><script type="module" src="${entry}"></script>`
  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname.startsWith('/llm/')) return proxy.fetch(request)
    const code = files.get(pathname)
    if (code !== undefined) return new Response(code, { headers: { 'content-type': 'text/javascript' } })
    return new Response(page, { headers: { 'content-type': 'text/html' } })
  }
  const server = await listen(answer, { port: 0 })
  closing.push(server.close)
  url = `http://127.0.0.1:${server.port}`
})

afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

test('the first screen says it in one sentence, twelve lines and one picture', () => {
  const screen = readme.split('\n## ')[0] ?? ''
  expect(snippet.trimEnd().split('\n')).toHaveLength(12)
  expect(screen.match(/^\*\*.*\*\*$/gm)).toHaveLength(1)
  expect(screen.match(/!\[[^\]]*\]\([^)]*\)/g)).toHaveLength(1)
})

test('the snippet works as printed', async () => {
  const browser = await launchBrowser()
  closing.push(() => browser.close())
  const page = await browser.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  await page.goto(url)
  await page.mouse.click(50, 50)
  await expect.poll(() => page.evaluate(() => document.body.textContent)).toContain('What is a tidemark?')
  await expect
    .poll(() => page.evaluate(() => (document.body.textContent ?? '').length), { timeout: 20_000 })
    .toBeGreaterThan(60)
  expect(errors).toEqual([])
})
