import type { Page } from 'playwright-core'
import { validateConversation } from 'tidemark'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type KillsStage, openKills, PATIENCE, shown, untilShown } from './kills-stage.ts'

const RUNTIMES = ['direct', 'remote'] as const
type Pages = Record<(typeof RUNTIMES)[number], Page>

let stage: KillsStage

beforeAll(async () => {
  stage = await openKills()
})

afterAll(() => stage?.close())

let session = ''
let sessions = 0
let before = 0

/** A page over each runtime, of this session. */
async function open(): Promise<Pages> {
  const [direct, remote] = await Promise.all(RUNTIMES.map((runtime) => stage.open(runtime, session)))
  if (!direct || !remote) throw new Error('two pages are expected')
  return { direct, remote }
}

/** The same question in both. */
async function ask(question: string): Promise<Pages> {
  session = `s${++sessions}`
  before = stage.world.effects.length
  const pages = await open()
  await Promise.all(
    Object.values(pages).map((page) => page.evaluate((text) => window.kills.ask(text), question)),
  )
  return pages
}

const effects = () => stage.world.effects.slice(before)

const CALLED = ['user completed: ', 'assistant completed: ']
const DONE = 'assistant completed: All done.'
const CHARGED = 'tool completed: {"ok":true,"data":"charged"}'
const CUT_OFF =
  'tool completed: {"ok":false,"error":"cut off before it answered; it may have been carried out"}'

const answered = (question: string, result: string) => [`${CALLED[0]}${question}`, CALLED[1], result, DONE]

afterEach(async () => {
  stage.world.release()
  // One effect for each call, whatever happened; what is shown is a history that a model can be sent.
  expect(new Set(effects()).size).toBe(effects().length)
})

async function expectWhole(pages: Pages): Promise<void> {
  for (const page of Object.values(pages)) {
    const messages = await page.evaluate(() => window.kills.messages())
    expect(validateConversation(messages).errors).toEqual([])
    await page.close()
  }
  expect(effects()).toHaveLength(2)
}

async function kill(victim: string): Promise<void> {
  if (victim === 'browser') await stage.killBrowser()
  else await stage.killServer()
}

/** Starts again what was killed, with its pages. */
async function revive(victim: string, pages: Pages): Promise<Pages> {
  if (victim === 'server') {
    await stage.startServer()
    return pages
  }
  await stage.startBrowser()
  return open()
}

describe.each(['browser', 'server'])('the %s is killed', (victim) => {
  test('during a tool: what it did is done once, the model is told what is known, and the run goes on', async () => {
    stage.world.hold('effect')
    const pages = await ask('a tool')
    await expect.poll(() => effects().length, PATIENCE).toBe(2)
    await kill(victim)
    const revived = await revive(victim, pages)
    stage.world.release()
    // Whoever executed it is gone where the browser did; over a server, where the server did.
    await untilShown(revived.direct, answered('a tool', victim === 'browser' ? CUT_OFF : CHARGED))
    await untilShown(revived.remote, answered('a tool', victim === 'server' ? CUT_OFF : CHARGED))
    await expectWhole(revived)
  })

  test('while a call waits to be allowed: it still waits, is allowed, and executed once', async () => {
    const pages = await ask('an approval')
    const waits = [`${CALLED[0]}an approval`, CALLED[1], 'tool approval']
    for (const page of Object.values(pages)) await untilShown(page, waits)
    await kill(victim)
    const revived = await revive(victim, pages)
    for (const page of Object.values(revived)) await untilShown(page, waits)
    expect(effects()).toEqual([])
    for (const page of Object.values(revived)) await page.evaluate(() => window.kills.approve())
    for (const page of Object.values(revived)) await untilShown(page, answered('an approval', CHARGED))
    await expectWhole(revived)
  })

  test('between two model calls: the run goes on, and nothing is executed again', async () => {
    const { asked } = stage.world
    stage.world.hold('model')
    const pages = await ask('a tool')
    await expect.poll(() => stage.world.asked - asked, PATIENCE).toBe(2)
    await kill(victim)
    const revived = await revive(victim, pages)
    stage.world.release()
    await untilShown(revived.remote, answered('a tool', CHARGED))
    if (victim === 'browser') await untilShown(revived.direct, answered('a tool', CHARGED))
    else {
      // The page has asked again meanwhile, or has given up: then it says so.
      const ended = (lines: string[]) =>
        lines.length === 4 && /^assistant (completed: All done|failed)/.test(lines[3] ?? '')
      await expect.poll(async () => ended(await shown(revived.direct)), PATIENCE).toBe(true)
      expect((await shown(revived.direct))[2]).toBe(CHARGED)
    }
    await expectWhole(revived)
  })
})

test('a page that is loaded again during a tool does not execute it again', async () => {
  stage.world.hold('effect')
  const pages = await ask('a tool')
  await expect.poll(() => effects().length, PATIENCE).toBe(2)
  await Promise.all(Object.values(pages).map((page) => page.reload()))
  stage.world.release()
  await untilShown(pages.direct, answered('a tool', CUT_OFF))
  await untilShown(pages.remote, answered('a tool', CHARGED))
  await expectWhole(pages)
})

test('of two tabs that say something else of the same call at once, one is heard, and both show it', async () => {
  const pages = await ask('an approval')
  const others = await open()
  for (const page of [...Object.values(pages), ...Object.values(others)])
    await expect.poll(() => page.evaluate(() => window.kills.waiting()), PATIENCE).toBe(1)
  for (const runtime of RUNTIMES) {
    const [one, other] = [pages[runtime], others[runtime]]
    await Promise.all([
      one.evaluate(() => window.kills.approve()),
      other.evaluate(() => window.kills.reject()),
    ])
    await expect.poll(async () => (await shown(one)).at(-1), PATIENCE).toBe(DONE)
    const lines = await shown(one)
    await untilShown(other, lines)
    const isAllowed = lines[2] === CHARGED
    expect(lines[2]).toBe(
      isAllowed ? CHARGED : 'tool completed: {"ok":false,"error":"the user did not allow this call"}',
    )
  }
})
