import type { Page } from 'playwright-core'
import { textOf } from 'tidemark'
import { createHold } from 'tidemark/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectInStep, openStage, ready, type Stage } from './stage.ts'
import type { Asked } from './stage-server.ts'

const BEGUN = 'Told in very '
const WHOLE = `${BEGUN}small pieces 😀.`

/** A session's first event is of itself; those of the run come after, up to the one in which the model pauses. */
const [FIRST, PAUSE] = [2, 8]

let stage: Stage

beforeAll(async () => {
  stage = await openStage()
})

afterAll(() => stage?.close())

const isFeed = ({ line }: Asked) => /^GET .*\/events$/.test(line)
const isPage = ({ line }: Asked) => /^GET .*\/messages$/.test(line)

/** Lets requests of a kind wait: before the server hears of them, or with the answer that it gave. */
function holdBack(isMeant: (asked: Asked) => boolean, where: 'before' | 'after'): () => void {
  const { hold, release } = createHold()
  stage.between = async (asked, serve) => {
    if (!isMeant(asked)) return serve()
    if (where === 'before') await hold
    const response = await serve()
    await hold
    return response
  }
  return release
}

const isWhole = (page: Page) =>
  page.waitForFunction(() => window.stage.session.get().messages.at(-1)?.status === 'completed')

interface Case {
  page: Page
  session: string
  /** Loads the page again, and keeps nothing back from it any more. */
  reload(): Promise<void>
  /** Lets the model speak on. */
  speakOn(): void
}

/** When the history is asked for: before the feed is opened, while it speaks, or after it has said all. */
const moments: Record<string, (given: Case) => Promise<unknown>> = {
  async before({ page, reload, speakOn }) {
    const release = holdBack(isFeed, 'before')
    await reload()
    await page.evaluate(() => window.stage.session.resync())
    release()
    speakOn()
    await isWhole(page)
  },
  async while({ page, session, reload, speakOn }) {
    // The page of history is as old as the moment at which it was asked for, and arrives when the run is over.
    const release = holdBack(isPage, 'after')
    await reload()
    // The page before this one may still have the session when it is asked for the first time.
    await expect.poll(() => page.evaluate(() => window.stage.session.get().connection)).not.toBe('idle')
    const before = stage.asked.length
    const loaded = page.evaluate(() =>
      Promise.all([window.stage.session.resync(), window.stage.session.loadOlder()]),
    )
    await expect.poll(() => stage.asked.slice(before).some(isPage), { timeout: 10_000 }).toBe(true)
    speakOn()
    await expect.poll(async () => (await stage.truth(session)).at(-1)?.status).toBe('completed')
    release()
    await loaded
    await isWhole(page)
  },
  async after({ page, reload, speakOn }) {
    speakOn()
    await reload()
    await isWhole(page)
    await page.evaluate(() => window.stage.session.resync())
  },
}

/** Loads a page again that has heard everything up to an event, and nothing after that. */
async function reloadedAt(page: Page, n: number, moment: string): Promise<string> {
  const session = `${moment}-${n}`
  const { hold, release } = createHold()
  stage.answer = () => [BEGUN, { hold }, WHOLE.slice(BEGUN.length)]
  stage.upTo(session, n)
  stage.between = undefined
  await stage.open(session, { page, query: '&listen' })
  await page.evaluate(() => void window.stage.session.send('go'))
  if (n > PAUSE) release()
  await page.waitForFunction((last) => window.stage.heard === last, n)
  const [before, wrong] = await page.evaluate(() => [window.stage.shown()[1]?.text ?? '', window.stage.wrong])
  expect(wrong).toEqual([])
  const reload = async () => {
    stage.release(session)
    await page.reload()
    await ready(page)
  }
  await moments[moment]?.({ page, session, reload, speakOn: release })
  expect((await expectInStep(stage, page, session)).map((message) => textOf(message))).toEqual(['go', WHOLE])
  return before
}

test.each(Object.keys(moments))(
  '3: reloaded at every event of a run, the history loaded %s it resumes: the rows of the server, once',
  async (moment) => {
    const page = await stage.open('none')
    const seen = new Set<string>()
    for (let [n, last] = [FIRST, FIRST]; n <= last; n++) {
      seen.add(await reloadedAt(page, n, moment))
      last = await stage.lastEvent(`${moment}-${n}`)
      // Else the pause is not where it is said to be.
      expect(last).toBeGreaterThan(PAUSE + 1)
    }
    expect(seen).toEqual(new Set(['', BEGUN, WHOLE]))
    await page.close()
  },
)
