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
const snippetAfter = (heading: string): string =>
  /```ts\n([\s\S]*?)```/.exec(readme.slice(readme.indexOf(heading)))?.[1] ?? ''
const snippet = snippetAfter('# tidemark')
/** The button is the page's. */
const toolSnippet = snippetAfter('\n## Tools\n')
/** The snippet with the button that it presumes, and with what the test looks at. */
const withButton = (code: string): string =>
  code
    .replace('\n\n', "\nconst allow = document.body.appendChild(document.createElement('button'))\n")
    .replace('session.subscribe', 'Object.assign(globalThis, { session })\nsession.subscribe')

const closing: (() => Promise<unknown>)[] = []
let url: string

/** What the snippet needs around it: a page that loads it, and a thin proxy in front of something that answers. */
beforeAll(async () => {
  const files = new Map<string, string>()
  async function entryOf(folder: string, entry: string): Promise<string> {
    const built = await bundle({ entry })
    for (const { fileName, code } of built) files.set(`${folder}/${fileName}`, code)
    return `${folder}/${built[0]?.fileName}`
  }
  const entries = new Map([
    ['/', await entryOf('/first', snippet)],
    ['/tools', await entryOf('/second', withButton(toolSnippet))],
  ])
  const standIn = await listen(createStandIn({ pace: 0 }), { port: 0 })
  closing.push(standIn.close)
  const proxy = createProxyHandler({
    basePath: '/llm',
    upstreams: { openai: { baseURL: `http://127.0.0.1:${standIn.port}/v1`, paths: ['/chat/completions'] } },
  })
  const page = (entry: string) =>
    `<!doctype html><meta charset="utf-8"><title>README</title><body><script type="module" src="${entry}"></script>`
  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname.startsWith('/llm/')) return proxy.fetch(request)
    const code = files.get(pathname)
    if (code !== undefined) return new Response(code, { headers: { 'content-type': 'text/javascript' } })
    return new Response(page(entries.get(pathname) ?? ''), { headers: { 'content-type': 'text/html' } })
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

test('the tool with approval takes fifteen lines, which work as printed', async () => {
  expect(toolSnippet.trimEnd().split('\n')).toHaveLength(15)
  const browser = await launchBrowser()
  closing.push(() => browser.close())
  const page = await browser.newPage()
  await page.goto(`${url}/tools`)
  const said = () => page.evaluate(() => JSON.stringify(Reflect.get(globalThis, 'session')?.get() ?? ''))
  await expect.poll(said).toContain('"stage":"approval"')
  await page.click('button')
  await expect.poll(said).toContain('as far as your clock knows')
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
