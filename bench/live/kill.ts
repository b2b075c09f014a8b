import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launchMortal } from '../../test/support/mortal-browser.ts'
import { answerOf } from '../answer.ts'
import { openLive, type Stage } from './browser.ts'
import type { RowFigure } from './figures.ts'
import { textSoFar } from './write.ts'

const BEFORE = 2_000
const PER_SECOND = 100
/** More deltas than are sent. */
const MOST = 1_000

/** How many milliseconds of an answer were lost that was killed after it had streamed for so long. */
async function lostAfter(stage: Stage, ms: number): Promise<number> {
  const profile = mkdtempSync(join(tmpdir(), 'tidemark-kill-'))
  let mortal = await launchMortal(profile)
  try {
    const page = await openLive(mortal.context, stage.origin)
    await page.evaluate(
      (before) => window.live.openWriting({ where: 'disk', before, name: 'killed' }),
      BEFORE,
    )
    const begun = await page.evaluate((perSecond) => window.live.streamOn(perSecond), PER_SECOND)
    await new Promise((resolve) => setTimeout(resolve, ms))
    const killed = Date.now()
    await mortal.kill()
    mortal = await launchMortal(profile)
    const again = await openLive(mortal.context, stage.origin)
    const text = await again.evaluate(() => window.live.read('killed'))
    if (text !== textSoFar(BEFORE, text.length))
      throw new Error('what is left of the answer is torn or doubled')
    return killed - begun - streamedMs(text.length)
  } finally {
    await mortal.kill()
    rmSync(profile, { recursive: true, force: true })
  }
}

/** For how long deltas have come when the answer has so many characters: as if none had ever been late. */
function streamedMs(characters: number): number {
  let length = BEFORE
  let count = 0
  for (const { length: own } of answerOf(MOST).deltas) {
    if (length >= characters) break
    length += own
    count++
  }
  return (count * 1_000) / PER_SECOND
}

export async function killFigures(stage: Stage): Promise<RowFigure[]> {
  const samples: number[] = []
  for (const ms of [1_010, 1_240, 1_470, 1_730, 1_960]) samples.push(await lostAfter(stage, ms))
  return [{ name: 'of an answer lost with the browser', unit: 'ms', samples, most: 150, by: 'worst' }]
}
