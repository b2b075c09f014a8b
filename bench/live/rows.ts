import { quantile } from '../measure.ts'
import type { LivePage, Stage } from './browser.ts'
import type { LiveRow, RowFigure } from './figures.ts'
import { killFigures } from './kill.ts'
import type { Kind } from './missed.ts'
import type { StreamOptions, WriteOptions } from './write.ts'

/** Does something in a page that nothing has happened in yet. */
async function inPage<T>(stage: Stage, work: (live: LivePage) => Promise<T>): Promise<T> {
  const context = await stage.context()
  try {
    return await work(await stage.open(context))
  } finally {
    await context.close()
  }
}

async function times<T>(count: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let at = 0; at < count; at++) results.push(await work())
  return results
}

/** Streams to an answer, and says what the main thread did meanwhile, in milliseconds. */
const streamed = (stage: Stage, writing: WriteOptions, stream: StreamOptions) =>
  inPage(stage, async ({ page, busy }) => {
    await page.evaluate((options) => window.live.openWriting(options), writing)
    const before = await busy()
    const told = await page.evaluate((options) => window.live.stream(options), stream)
    const took = (await busy()) - before
    await page.evaluate(() => window.live.closeWriting())
    return { ...told, took }
  })

const SPEED = { deltas: 200, perSecond: 100 }
const LENGTHS = [2_000, 20_000, 200_000]
const kilobytes = (characters: number): string => `${characters / 1_000} kB`

/** What a delta costs to write, at an answer of that length: the same stream twice, once over a storage that keeps nothing. */
async function costAt(stage: Stage, before: number): Promise<{ bytes: number; micros: number }> {
  const { bytes } = await streamed(stage, { where: 'disk', before, weigh: true }, SPEED)
  const disk = await streamed(stage, { where: 'disk', before }, SPEED)
  const nowhere = await streamed(stage, { where: 'nowhere', before }, SPEED)
  return { bytes: bytes / SPEED.deltas, micros: ((disk.took - nowhere.took) * 1_000) / SPEED.deltas }
}

async function writeFigures(stage: Stage): Promise<RowFigure[]> {
  const rounds = await times(3, async () => {
    const costs: { bytes: number; micros: number }[] = []
    for (const length of LENGTHS) costs.push(await costAt(stage, length))
    return costs
  })
  const at = (place: number, of: 'bytes' | 'micros') =>
    rounds.map((costs) => costs[place]?.[of] ?? Number.NaN)
  const last = LENGTHS.length - 1
  const flat = at(last, 'bytes').map((bytes, round) => bytes / (at(0, 'bytes')[round] ?? Number.NaN))
  const burst = await times(2, () =>
    streamed(stage, { where: 'disk', before: 2_000 }, { deltas: 5_000, perSecond: 1_000 }),
  )
  return [
    ...LENGTHS.flatMap((length, place): RowFigure[] => [
      {
        name: `handed to IndexedDB at ${kilobytes(length)}`,
        unit: 'B a delta',
        samples: at(place, 'bytes'),
        most: 200,
        by: 'median',
      },
      {
        name: `main thread at ${kilobytes(length)}`,
        unit: 'µs a delta',
        samples: at(place, 'micros'),
        most: 50,
        by: 'median',
      },
    ]),
    { name: 'bytes at 200 kB ÷ at 2 kB', unit: 'times', samples: flat, most: 1.2, by: 'median' },
    {
      name: 'longest wait at 1,000 deltas/s',
      unit: 'ms',
      samples: burst.map(({ late }) => late),
      most: 300,
      by: 'median',
    },
  ]
}

/** From when the leading tab hears a delta until another appends it, in milliseconds. */
const mirrored = (stage: Stage, database: string): Promise<number[]> =>
  inPage(stage, async ({ page }) => {
    const messageId = await page.evaluate(
      (name) => window.live.openWriting({ where: 'disk', before: 2_000, name }),
      database,
    )
    const { page: other } = await stage.open(page.context())
    await page.evaluate(() => window.live.tellTime())
    await other.evaluate(([name, id]) => window.live.openMirror(name, id), [database, messageId] as const)
    const ahead = await other.evaluate(() => window.live.askTime())
    const { said } = await page.evaluate((stream) => window.live.stream(stream), {
      deltas: 300,
      perSecond: 100,
    })
    const seen = await other.evaluate(async (last) => {
      while (!window.live.seen().some(([end]) => end > last))
        await new Promise((resolve) => setTimeout(resolve, 10))
      return window.live.seen()
    }, said.at(-1)?.[0] ?? 0)
    return said.map(([offset, at]) => (seen.find(([end]) => end > offset)?.[1] ?? Number.NaN) - (at - ahead))
  })

async function tabFigures(stage: Stage): Promise<RowFigure[]> {
  let count = 0
  const tries = await times(3, () => mirrored(stage, `mirrored-${count++}`))
  const part = (of: number) => tries.map((samples) => quantile(samples, of))
  return [
    { name: 'another tab appends a delta, p50', unit: 'ms', samples: part(0.5), most: 2, by: 'median' },
    { name: 'another tab appends a delta, p95', unit: 'ms', samples: part(0.95), most: 5, by: 'median' },
  ]
}

async function openingFigures(stage: Stage): Promise<RowFigure[]> {
  const figures: RowFigure[] = []
  for (const count of [10_000, 100_000]) {
    const { session, database, rows } = await inPage(stage, ({ page }) =>
      page.evaluate((messages) => window.live.measureOpening(messages, 25), count),
    )
    const of = `the newest 50 of ${count.toLocaleString('en')}`
    figures.push(
      { name: `${of} ÷ IndexedDB alone`, unit: 'times', samples: [session], most: 1.3, by: 'median' },
      { name: `${of}, with opening the database`, unit: 'times', samples: [database], by: 'median' },
      { name: `rows read for ${of}`, unit: 'rows', samples: [rows], most: 53, by: 'worst' },
    )
  }
  return figures
}

const MISSED = 10_000

async function resyncFigures(stage: Stage): Promise<RowFigure[]> {
  const figures: RowFigure[] = []
  for (const kind of ['one answer', 'many messages'] as const satisfies Kind[]) {
    const tries = await times(3, () =>
      inPage(stage, async ({ page, busy }) => {
        await page.evaluate(([what, count]) => window.live.openMissing(what, count), [kind, MISSED] as const)
        const before = await busy()
        const healed = await page.evaluate(() => window.live.heal())
        return { ...healed, busy: (await busy()) - before }
      }),
    )
    const perFrame = tries.map(({ renders, frames }) => renders / frames)
    figures.push(
      {
        name: `10,000 events of ${kind}: main thread`,
        unit: 'ms',
        samples: tries.map(({ busy }) => busy),
        most: 200,
        by: 'median',
      },
      { name: `10,000 events of ${kind}: renders`, unit: 'a frame', samples: perFrame, most: 1, by: 'worst' },
    )
  }
  return figures
}

/** Milliseconds: the longest pause of the client's back-off. */
const CAP = 30_000

async function healingFigures(stage: Stage): Promise<RowFigure[]> {
  const samples = await inPage(stage, ({ page }) =>
    times(10, () => page.evaluate((down) => window.live.measureHealing(down), 4 * CAP)),
  )
  return [
    {
      name: 'in step after two minutes down',
      unit: 'back-off caps',
      samples: samples.map((ms) => ms / CAP),
      most: 1,
      by: 'worst',
    },
  ]
}

const RECALLED = { facts: 100_000, dims: 384 }

/** Fills in one page, searches in others: nothing is read before the first search. */
async function recallFigures(stage: Stage): Promise<RowFigure[]> {
  const context = await stage.context()
  try {
    const { page: filling } = await stage.open(context)
    await filling.evaluate((sizes) => window.live.fillRecall(sizes), RECALLED)
    await filling.close()
    const tries = await times(3, async () => {
      const { page } = await stage.open(context)
      const told = await page.evaluate((sizes) => window.live.measureFirstSearch(sizes), RECALLED)
      await page.close()
      return told
    })
    const ratios = tries.map(({ first, raw }) => first / raw)
    return [
      {
        name: 'first search of 100,000 facts ÷ reading them',
        unit: 'times',
        samples: ratios,
        most: 1.5,
        by: 'median',
      },
    ]
  } finally {
    await context.close()
  }
}

export const LIVE_ROWS: readonly LiveRow<Stage>[] = [
  { name: 'write', measure: writeFigures },
  { name: 'kill', measure: killFigures },
  { name: 'tabs', measure: tabFigures },
  { name: 'open', measure: openingFigures },
  { name: 'resync', measure: resyncFigures },
  { name: 'memory', measure: recallFigures },
  { name: 'heal', measure: healingFigures },
]
