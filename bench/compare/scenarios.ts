import type { Browser, BrowserContext } from 'playwright-core'
import { ask, heal, inProfiles, type Outcome, openClient, openPage } from './drive.ts'
import type { Faults } from './faults.ts'
import type { CompareServer, ServedChat } from './server.ts'
import { breakWrites } from './storage-fault.ts'
import { PIECES } from './story.ts'

export interface World {
  browser: Browser
  server: CompareServer
  library: string
  /** Every so many bytes a cut. */
  stride: number
}

export interface Scenario {
  /** By the numbers of the scenarios that our own tests bear. */
  name: string
  run(world: World): Promise<Outcome[]>
}

let chats = 0
const newId = (): string => `chat-${++chats}`

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

type Entry = { faults?: Faults; holdBefore?: number }

/** Asks the question in a new chat under the given faults. */
async function begin(world: World, context: BrowserContext, entry: Entry) {
  const { server, library } = world
  const chat = server.chat(library, newId(), entry)
  const page = await openPage(context, server.origin, library, chat.url)
  await ask(page)
  return { chat, page }
}

const under = (world: World, entries: readonly Faults[]): Promise<Outcome[]> =>
  inProfiles(world.browser, entries, async (context, faults) => {
    const { chat, page } = await begin(world, context, { faults })
    return await heal(page, world.library, chat)
  })

/** How many bytes the answer takes on this library's line. */
async function lengthOf(world: World): Promise<number> {
  const [length = 0] = await inProfiles(world.browser, [0], async (context) => {
    const { chat, page } = await begin(world, context, {})
    await heal(page, world.library, chat)
    return chat.bytes()
  })
  return length
}

async function cuts(world: World, how: 'reset' | 'end'): Promise<Outcome[]> {
  const length = await lengthOf(world)
  const places = range(Math.ceil(length / world.stride)).map((at) => 1 + at * world.stride)
  return await under(
    world,
    places.filter((after) => after < length).map((after) => ({ cut: { after, how } })),
  )
}

/** Waits until a run has said all it may say before it is released, and the page has it. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 250))

async function reloads(world: World): Promise<Outcome[]> {
  return await inProfiles(world.browser, range(PIECES.length + 1), async (context, holdBefore) => {
    const { chat, page } = await begin(world, context, { holdBefore })
    await settle()
    await page.reload()
    await openClient(page, world.library, chat.url)
    chat.release()
    return await heal(page, world.library, chat)
  })
}

/** Two to eight tabs of one profile: what the tab sees that did not ask. */
async function tabs(world: World): Promise<Outcome[]> {
  const { server, library } = world
  const perCount = await inProfiles(world.browser, [2, 8], async (context, count) => {
    const chat: ServedChat = server.chat(library, newId())
    const pages = []
    for (const _ of range(count)) pages.push(await openPage(context, server.origin, library, chat.url))
    const [first, ...others] = pages
    if (!first) return []
    await ask(first)
    const outcomes = [await heal(first, library, chat)]
    for (const page of others) outcomes.push(await heal(page, library, chat))
    return outcomes
  })
  return perCount.flat()
}

/** The n-th write to IndexedDB fails, for every n that there is: the page goes on, and the next page has everything. */
async function storageFaults(world: World): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (let first = 1; ; first += 6) {
    const round = await inProfiles(world.browser, range(6), async (context, at) => {
      const { server, library } = world
      const chat = server.chat(library, newId())
      await breakWrites(context, first + at)
      const page = await openPage(context, server.origin, library, chat.url)
      await ask(page)
      const here = await heal(page, library, chat)
      const broken = await page.evaluate(() => window.writesBroken)
      await page.evaluate(() => {
        window.writesBroken = -1
      })
      await page.close()
      if (here.step !== 'by itself') return { broken, outcome: here }
      const next = await openPage(context, server.origin, library, chat.url)
      return { broken, outcome: await heal(next, library, chat) }
    })
    outcomes.push(...round.filter(({ broken }) => broken > 0).map(({ outcome }) => outcome))
    if (round.some(({ broken }) => broken <= 0)) return outcomes
  }
}

export const SCENARIOS: readonly Scenario[] = [
  { name: '1 the stream breaks off', run: (world) => cuts(world, 'reset') },
  { name: '1 the stream ends early', run: (world) => cuts(world, 'end') },
  {
    name: '2 every event comes twice, a replay starts anew',
    run: (world) =>
      under(world, [
        { twice: true },
        ...range(4).map((at): Faults => ({ stale: true, cut: { after: 200 + at * 150, how: 'reset' } })),
      ]),
  },
  { name: '3 the page is reloaded in mid-answer', run: reloads },
  {
    name: '7 the answer to the question is lost',
    run: (world) =>
      under(
        world,
        range(4).map(() => ({ loseAnswer: true })),
      ),
  },
  { name: '19 a write to IndexedDB fails', run: storageFaults },
  { name: '22 other tabs, two and eight', run: tabs },
]
