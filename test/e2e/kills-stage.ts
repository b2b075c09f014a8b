import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Listening, listen } from '../../demo/server/listen.ts'
import { launchMortal, type MortalBrowser } from '../support/mortal-browser.ts'
import { bundleOf } from './bundle.ts'

/** What is outside, and outlives browsers and servers: it counts what is done, and lets nobody go on until it is told to. */
export interface World {
  /** What was done: the keys of the calls. */
  readonly effects: string[]
  /** Models that were asked for their second answer. */
  readonly asked: number
  /** Answers nothing of this kind from now on. */
  hold(kind: 'effect' | 'model'): void
  release(): void
}

/** Real processes that are killed and started again, over the same profile and the same database. */
export interface KillsStage {
  world: World
  open(runtime: string, session: string): Promise<Page>
  killBrowser(): Promise<void>
  startBrowser(): Promise<void>
  killServer(): Promise<void>
  startServer(): Promise<void>
  close(): Promise<void>
}

async function openWorld(): Promise<{ world: World; outside: Listening }> {
  const effects: string[] = []
  const held = new Set<string>()
  const waiting = new Set<() => void>()
  let asked = 0
  const headers = { 'access-control-allow-origin': '*' }
  const outside = await listen(
    async (request) => {
      const { pathname, searchParams } = new URL(request.url)
      const kind = pathname.slice(1)
      if (kind === 'effect') effects.push(searchParams.get('key') ?? '')
      else asked++
      if (held.has(kind)) await new Promise<void>((resolve) => waiting.add(resolve))
      return new Response(null, { headers })
    },
    { port: 0 },
  )
  const world: World = {
    effects,
    get asked() {
      return asked
    },
    hold: (kind) => void held.add(kind),
    release() {
      held.clear()
      for (const go of waiting) go()
      waiting.clear()
    },
  }
  return { world, outside }
}

const script = fileURLToPath(new URL('kills-server.ts', import.meta.url))

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

export async function openKills(): Promise<KillsStage> {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-kills-'))
  const page = join(folder, 'page.js')
  writeFileSync(page, await bundleOf('test/e2e/kills-page.ts'))
  const { world, outside } = await openWorld()
  const origin = `http://127.0.0.1:${outside.port}`
  let port = '0'
  let server: ChildProcess
  let browser: MortalBrowser

  const startServer = async () => {
    const given = [join(folder, 'chat.db'), page, port, origin]
    server = spawn(process.execPath, ['--import', 'tsx', script, ...given], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const said = server.stdout && (await once(server.stdout, 'data'))
    port = String(said?.[0]).trim()
  }
  const startBrowser = async () => {
    browser = await launchMortal(join(folder, 'profile'))
  }
  await Promise.all([startServer(), startBrowser()])
  return {
    world,
    startServer,
    startBrowser,
    killServer: () => kill(server),
    killBrowser: () => browser.kill(),
    async open(runtime, session) {
      const opened = await browser.context.newPage()
      const query = new URLSearchParams({ runtime, session, world: origin })
      await opened.goto(`http://127.0.0.1:${port}/?${query}`)
      await opened.waitForFunction(() => 'kills' in window)
      return opened
    },
    async close() {
      world.release()
      await browser.kill()
      await kill(server)
      await outside.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What a page shows, each message in a line. */
export const shown = (page: Page): Promise<string[]> => page.evaluate(() => window.kills.shown())

export const PATIENCE = { timeout: 30_000, interval: 50 }

/** Waits until a page shows exactly this. */
export const untilShown = (page: Page, lines: readonly unknown[]): Promise<void> =>
  expect.poll(() => shown(page), PATIENCE).toEqual(lines)
