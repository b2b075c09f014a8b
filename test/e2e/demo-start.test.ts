import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { messages, untilAnswer, write } from './demo-page.ts'

const script = fileURLToPath(new URL('../../scripts/start.mjs', import.meta.url))

let folder: string
let browser: Browser
const running = new Set<ChildProcess>()

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-start-'))
  browser = await launchBrowser()
})

afterEach(async () => {
  await browser.close()
  for (const child of running) child.kill('SIGKILL')
  running.clear()
  await rm(folder, { recursive: true, force: true })
})

/** `npm start` as a process of its own. */
function spawnStart(port: string) {
  const { OPENAI_BASE_URL: _, OPENAI_API_KEY: __, OPENAI_MODEL: ___, ...env } = process.env
  const child = spawn(process.execPath, [script], {
    env: { ...env, NODE_ENV: '', PORT: port, TIDEMARK_DB: join(folder, 'demo.db') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child)
    return code
  })
  return { child, said: () => said, ended }
}

/** The same; resolves when it has said where it is. */
async function start(port: string) {
  const { child, said, ended } = spawnStart(port)
  await expect.poll(said, { timeout: 30_000 }).toContain('\n')
  const url = said().trim()
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    return await ended
  }
  return { url, port: new URL(url).port, said, end }
}

test('npm start says one thing, where it is, and leaves when it is asked to', async () => {
  const { url, said, end } = await start('0')
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(await (await fetch(`${url}/config.json`)).json()).toEqual({ model: 'stand-in', standIn: true })
  expect(await end('SIGTERM')).toBe(0)
  expect(said()).toBe(`${url}\n`)
})

test('a port that is none is refused by name', async () => {
  const { said, ended } = spawnStart('abc')
  expect(await ended).toBe(1)
  expect(said()).toBe('PORT: expected a whole number from 0 to 65535, not "abc"\n')
})

test('a server killed in the middle of an answer comes back, and the page says how far it got', async () => {
  const first = await start('0')
  const page = await browser.newPage()
  await page.goto(first.url)
  await write(page, 'What is a tidemark?')
  await untilAnswer(page, 'streaming', 'On a beach')
  await first.end('SIGKILL')
  await page.getByText('Reconnecting').waitFor()
  const second = await start(first.port)
  expect(second.port).toBe(first.port)
  await untilAnswer(page, 'interrupted', 'On a beach')
  expect(await messages(page).count()).toBe(2)
  await page.getByRole('button', { name: 'Ask again' }).click()
  await untilAnswer(page, 'streaming', 'On a beach')
  await page.getByRole('button', { name: 'Stop' }).click()
  await untilAnswer(page, 'interrupted')
  expect(await second.end('SIGINT')).toBe(0)
}, 120_000)
