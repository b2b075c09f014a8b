import type { Page } from 'playwright-core'
import type { Message } from 'tidemark'
import { textOf } from 'tidemark'
import { createHold } from 'tidemark/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectInStep, openStage, ready, type Stage } from './stage.ts'
import type { Asked } from './stage-server.ts'

const PIECES = ['An answer ', 'that is ', 'stopped ', 'somewhere.']
const WHOLE = PIECES.join('')

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})

afterAll(() => stage?.close())

const isSend = ({ line }: Asked) => /^POST .*\/messages$/.test(line)
const isCancel = ({ line }: Asked) => /^POST .*\/commands$/.test(line)
const patience = { timeout: 30_000 }

/** A model that goes on by one piece when it is told to. */
function steps(): () => void {
  const holds = PIECES.map(() => createHold())
  stage.answer = () => PIECES.flatMap((piece, at) => [piece, { hold: holds[at]?.hold ?? Promise.resolve() }])
  let next = 0
  return () => holds[next++]?.release()
}

/** Lets requests of a kind wait, before the server hears of them or with its answer. */
function holdBack(isMeant: (asked: Asked) => boolean, where: 'before' | 'after') {
  const { hold, release } = createHold()
  let reached = () => {}
  const waits = new Promise<void>((resolve) => {
    reached = resolve
  })
  stage.between = async (asked, serve) => {
    if (!isMeant(asked)) return serve()
    if (where === 'before') {
      reached()
      await hold
    }
    const response = await serve()
    if (where === 'after') {
      reached()
      await hold
    }
    return response
  }
  return { release, waits }
}

/** Stops, and notes from the moment at which that resolved whether anything more of an answer is shown as it is said. */
const stop = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const { session, wrong } = window.stage
    await session.stop()
    const answerOf = () => session.get().messages.find(({ role }) => role === 'assistant')
    const textIn = () => window.stage.shown().find(({ role }) => role === 'assistant')?.text ?? ''
    const kept = textIn()
    session.subscribe(() => {
      const isOpen = answerOf()?.status === 'streaming' || answerOf()?.status === 'pending'
      if (isOpen && textIn() !== kept) wrong.push(`after stop: ${textIn()}`)
    })
    const answer = answerOf()
    if (answer) session.message(answer.id).onAppend(({ text }) => wrong.push(`appended after stop: ${text}`))
    return kept
  })

const send = (page: Page) => page.evaluate(() => void window.stage.session.send('go'))

const says = (page: Page, text: string) => page.waitForFunction((want) => window.stage.last() === want, text)

/** However the race between the stop and the run ended, both sides say the same, and the text is as far as it came. */
async function expectStopped(page: Page, session: string, kept: string): Promise<Message | undefined> {
  const [, answer] = await expectInStep(stage, page, session)
  expect(await page.evaluate(() => window.stage.session.get().status)).toBe('ready')
  if (!answer) return undefined
  expect(['interrupted', 'completed']).toContain(answer.status)
  expect(textOf(answer).startsWith(kept)).toBe(true)
  expect(WHOLE.startsWith(textOf(answer))).toBe(true)
  if (answer.status === 'completed') expect(textOf(answer)).toBe(WHOLE)
  return answer
}

interface Case {
  page: Page
  session: string
  /** Lets the model go on by a piece. */
  speak(): void
}

/** Where a run is when it is stopped. Resolves with what goes on when that is done. */
const moments: Record<string, (given: Case) => Promise<(() => unknown) | undefined>> = {
  async 'in the very call that sends'({ page }) {
    await page.evaluate(() => {
      void window.stage.session.send('go')
      void window.stage.session.stop()
    })
    return undefined
  },
  async 'before the POST is heard'({ page }) {
    const { release, waits } = holdBack(isSend, 'before')
    await send(page)
    await waits
    return release
  },
  async 'before the POST is answered'({ page }) {
    const { release, waits } = holdBack(isSend, 'after')
    await send(page)
    await waits
    return release
  },
  async 'when the POST is answered and nothing is said'({ page, session }) {
    stage.upTo(session, 1)
    await send(page)
    await expect.poll(() => stage.feeds(), patience).toBeGreaterThan(0)
    return () => stage.release(session)
  },
  async 'in the middle, while the server speaks on'({ page, session, speak }) {
    await send(page)
    await says(page, PIECES[0] ?? '')
    const { release } = holdBack(isCancel, 'before')
    return async () => {
      // The server has not heard of it, says more, and the page hears that.
      speak()
      const more = PIECES.slice(0, 2).join('')
      const said = async () => (await stage.truth(session)).map((message) => textOf(message)).at(-1)
      await expect.poll(said, patience).toBe(more)
      await page.waitForFunction((n) => window.stage.heard >= n, await stage.lastEvent(session))
      release()
    }
  },
  async 'when the server is through and the page is not'({ page, session, speak }) {
    await send(page)
    await says(page, PIECES[0] ?? '')
    stage.upTo(session, await stage.lastEvent(session))
    for (const _ of PIECES) speak()
    await expect.poll(async () => (await stage.truth(session)).at(-1)?.status).toBe('completed')
    return () => stage.release(session)
  },
  async 'when all is said'({ page, speak }) {
    for (const _ of PIECES) speak()
    await send(page)
    await says(page, WHOLE)
    return undefined
  },
}

test.each(Object.entries(moments))(
  '5: stopped %s, the text so far is kept, and nothing of the run is shown after that',
  async (name, moment) => {
    const session = name.replaceAll(/\W/g, '-')
    stage.between = undefined
    const page = await stage.open(session, { query: '&listen' })
    const goOn = await moment({ page, session, speak: steps() })
    const kept = await stop(page)
    await goOn?.()
    await expectStopped(page, session, kept)
    await page.context().close()
  },
)

test('5: another tab stops a run: both show what the server says of it', async () => {
  stage.between = undefined
  const speak = steps()
  const first = await stage.open('tab')
  const second = await stage.open('tab', { context: first.context() })
  await send(first)
  speak()
  for (const page of [first, second]) await says(page, PIECES.slice(0, 2).join(''))
  const kept = await stop(second)
  speak()
  const answer = await expectStopped(second, 'tab', kept)
  await expectStopped(first, 'tab', kept)
  expect(answer?.status).toBe('interrupted')
  await first.context().close()
})

test('5: a page that was loaded again in mid-answer stops the run that it did not begin', async () => {
  stage.between = undefined
  const speak = steps()
  const page = await stage.open('reload')
  await send(page)
  speak()
  await says(page, PIECES.slice(0, 2).join(''))
  await page.reload()
  await ready(page)
  await page.waitForFunction(() => window.stage.session.get().messages.length === 2)
  const kept = await stop(page)
  speak()
  expect((await expectStopped(page, 'reload', kept))?.status).toBe('interrupted')
  await page.context().close()
})
