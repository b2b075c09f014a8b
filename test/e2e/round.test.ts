import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import type { Message } from 'tidemark'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../../scripts/bootstrap.mjs'
import { launchBrowser } from '../support/browser.ts'
import { inDatabase } from './database.ts'
import { answers, messages, untilAnswer, write } from './demo-page.ts'
import { type ScriptedUpstream, startUpstream } from './upstream.ts'

/** One message as page, database and server can all tell it. */
interface Row {
  id: string
  role: string
  status: string
  text: string
}

let folder: string
let upstream: ScriptedUpstream
let browser: Browser
let server: { process: ChildProcess; url: string }

/** The demo's server as `npm start` runs it: a process of its own, that can be killed. */
async function startServer(port: number): Promise<typeof server> {
  const child = spawn(process.execPath, ['--import', 'tsx', join(root, 'demo', 'start.ts')], {
    cwd: root,
    env: { ...process.env, ...upstream.env, PORT: String(port), TIDEMARK_DB: join(folder, 'round.db') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    let printed = ''
    child.stdout.on('data', (chunk) => {
      printed += chunk
      const [address] = /http:\/\/\S+/.exec(printed) ?? []
      if (address) resolve(address)
    })
    child.once('exit', () => reject(new Error(`the server ended before it was ready: ${printed}`)))
  })
  return { process: child, url }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-round-'))
  upstream = await startUpstream()
  server = await startServer(0)
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser?.close()
  if (server) await kill(server.process)
  await upstream?.close()
  if (folder) await rm(folder, { recursive: true, force: true })
})

const plain = (text: string) => text.replace(/\s+/g, ' ').trim()
const textIn = (message: Message) =>
  plain(message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''))
const rowOf = (message: Message): Row => ({
  id: message.id,
  role: message.role,
  status: message.status,
  text: textIn(message),
})

const inPage = (page: Page): Promise<Row[]> =>
  messages(page).evaluateAll((articles) =>
    articles.map((article) => ({
      id: article.getAttribute('data-message') ?? '',
      role: article.getAttribute('data-role') ?? '',
      status: article.getAttribute('data-status') ?? '',
      text: (article.querySelector('.markdown, .bubble')?.textContent ?? '').replace(/\s+/g, ' ').trim(),
    })),
  )

const DATABASE = 'tidemark-demo-remote'

async function onServer(): Promise<Row[]> {
  const { sessions } = await (await fetch(`${server.url}/api/sessions`)).json()
  expect(sessions).toHaveLength(1)
  const page = await (await fetch(`${server.url}/api/sessions/${sessions[0].id}/messages?limit=200`)).json()
  return page.messages.map(rowOf)
}

/** Page, database and server tell the same, row by row. */
async function expectAgreement(page: Page): Promise<void> {
  await expect.poll(async () => (await inDatabase(page, DATABASE)).outbox).toBe(0)
  await expect.poll(async () => (await inDatabase(page, DATABASE)).journal).toBe(0)
  const truth = await onServer()
  await expect.poll(async () => (await inDatabase(page, DATABASE)).messages.map(rowOf)).toEqual(truth)
  await expect.poll(() => inPage(page)).toEqual(truth)
}

/** Sent, streamed, and reloaded in the middle: the answer carries on where it was. */
async function reloadInTheMiddle(page: Page): Promise<void> {
  await write(page, 'first, answer slowly')
  await untilAnswer(page, 'streaming', 'It begins slowly,')
  await page.reload()
  await untilAnswer(page, 'streaming', 'It begins slowly,')
  upstream.release()
  await untilAnswer(page, 'completed', 'It begins slowly, and it ends.')
}

/** The server dies in the middle of an answer, and comes back. */
async function killInTheMiddle(page: Page): Promise<void> {
  await write(page, 'second, answer slowly')
  await answers(page).nth(1).waitFor()
  await untilAnswer(page, 'streaming', 'It begins slowly,')
  const port = Number(new URL(server.url).port)
  await kill(server.process)
  await untilAnswer(page, 'streaming', 'It begins slowly,')
  server = await startServer(port)
  await untilAnswer(page, 'interrupted', 'It begins slowly,')
}

/** Written offline, sent once the line is back, and once. */
async function writeOffline(page: Page): Promise<void> {
  const heard = () => upstream.asked.filter((question) => question.includes('tunnel'))
  await page.context().setOffline(true)
  await write(page, 'third, from the tunnel')
  await page.locator('article[data-role="user"][data-status="pending"]', { hasText: 'tunnel' }).waitFor()
  expect(heard()).toHaveLength(0)
  await page.context().setOffline(false)
  await untilAnswer(page, 'completed', 'You said: third, from the tunnel')
  expect(heard()).toHaveLength(1)
}

test('a message goes all the way round: streamed, reloaded, killed, offline, and told the same everywhere', async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  await page.goto(server.url)
  for (const journey of [reloadInTheMiddle, killInTheMiddle, writeOffline]) {
    await journey(page)
    await expectAgreement(page)
  }
  const rows = await inPage(page)
  expect(rows.map(({ role, status }) => `${role} ${status}`)).toEqual([
    'user completed',
    'assistant completed',
    'user completed',
    'assistant interrupted',
    'user completed',
    'assistant completed',
  ])
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)

  // Closed and opened again without any server: the history is there all the same.
  const address = page.url()
  await page.close()
  const again = await context.newPage()
  await again.route('**/api/**', (route) => route.abort())
  await again.goto(address)
  await expect.poll(() => inPage(again)).toEqual(rows)
  await context.close()
})
