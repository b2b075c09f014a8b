import { describe, expect, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { direct } from '../../src/runtime/direct.ts'
import { type Script, scriptedModel } from '../../src/testing/scripted-model.ts'
import { type Tool, type ToolOptions, tool } from '../../src/turn/tool.ts'
import { ending, shown } from '../chat/direct-chat.ts'
import { noStrayRejections } from '../chat/world.ts'
import { pass } from '../simulation/act.ts'
import { openTab, type Tab } from '../simulation/clients.ts'
import { planOf } from '../simulation/plan.ts'
import { createWorld, type Planted, type World } from '../simulation/world.ts'
import { ended, sessionOf, spoken } from './two-tabs.ts'

noStrayRejections()

/** Forty words, told over four seconds. */
const long = Array.from({ length: 40 }, (_, n) => `word${n} `)

const echo: Script = ({ messages }) => {
  const [last] = messages.slice(-1)
  const asked = last ? textOf(last) : ''
  return asked === 'long' ? long : `re: ${asked}`
}

interface Setup {
  seed?: number
  steps?: Script
  tools?: (execute: NonNullable<ToolOptions['execute']>) => Tool[]
  planted?: Planted
  /** Milliseconds after which a tab hears that its lock was taken. */
  late?: number
}

/** Two tabs of one browser whose turns run in the page; a tool takes ten seconds. The first leads. */
async function twoPages({ seed = 1, steps = echo, tools = () => [], planted = {}, late = 0 }: Setup = {}) {
  const made: { world?: World } = {}
  const executed: string[] = []
  const runtime: NonNullable<Planted['runtime']> = (_, actor) => {
    const sleep = async (ms: number) => made.world?.schedule.env(actor).sleep(ms)
    const execute = async () => {
      executed.push(actor.name)
      await sleep(10_000)
      return 'done'
    }
    return direct({ model: scriptedModel(steps, { pace: () => sleep(100) }), tools: tools(execute) })
  }
  const plan = { ...planOf(seed), devices: 1, storageFaults: 0, networkFaults: 0, locks: true, actions: [] }
  /** That its lock was taken, a tab hears only after a while. */
  const page: NonNullable<Planted['page']> = (inner, actor) => {
    const { locks } = inner.platform.navigator ?? {}
    if (!locks || !late) return inner
    const request: typeof locks.request = (...given) =>
      locks.request(...given).catch(async (thrown: unknown) => {
        await made.world?.schedule.env(actor).sleep(late)
        throw thrown
      })
    return {
      ...inner,
      platform: { ...inner.platform, navigator: { ...inner.platform.navigator, locks: { request } } },
    }
  }
  const world = createWorld(plan, { ...planted, runtime, page })
  made.world = world
  const [device] = world.devices
  const [first] = device?.tabs ?? []
  if (!device || !first) throw new Error('no tab')
  const wait = (ms: number) => pass(world, ms, () => undefined)
  await wait(1_000)
  const second = openTab(world, device, ++world.tabsOpened)
  await wait(1_000)
  return { world, first, second, wait, executed }
}

const statusOf = (tab: Tab) => sessionOf(tab).get().status
const textsOf = (tab: Tab) => shown(sessionOf(tab).get().messages)

/** The first tab is frozen in the middle of an answer, or of a call; the second is looked at. */
async function stalled(setup: Setup = {}) {
  const pages = await twoPages(setup)
  const { first, second, wait } = pages
  const asked = sessionOf(first).send('long')
  asked.catch(() => undefined)
  await wait(2_000)
  expect(statusOf(second)).toBe('running')
  first.actor.state = 'frozen'
  await wait(15_000)
  expect(statusOf(second)).toBe('stalled')
  return pages
}

const working: Script = ({ messages }) =>
  messages.at(-1)?.role === 'tool' ? 'Done.' : [{ toolCall: { name: 'work', arguments: {} } }]

/** What a tab shows, and what is beside that. */
const allOf = (tab: Tab): string => {
  const session = sessionOf(tab)
  const { messages } = session.get()
  return JSON.stringify(messages.map((message) => [message, session.branches(message.id)]))
}

/** In how many worlds a tab that was taken over from changed, awake, what is stored: it had a tool's result to tell. */
async function changedBy(planted: Planted): Promise<number> {
  let changed = 0
  for (const seed of SEEDS) {
    const { world, first, second, wait } = await stalled({
      ...{ seed, planted, steps: working, late: 5_000 },
      tools: (execute) => [tool({ name: 'work', parameters: { type: 'object' }, execute })],
    })
    await ended(world, sessionOf(second).takeOver())
    await wait(1_000)
    const before = allOf(second)
    first.actor.state = 'running'
    await wait(30_000)
    if (allOf(second) !== before) changed++
  }
  return changed
}

/** Rows that do not say who has the word. */
const withoutTerm: NonNullable<Planted['storage']> = (inner) => ({
  ...inner,
  commit: (changes, options) =>
    inner.commit(
      changes.map((change) => {
        if (change.type !== 'session') return change
        const { term: _, ...row } = change.row
        return { ...change, row }
      }),
      options,
    ),
})

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8]

describe('22: a tab that runs a turn is frozen', () => {
  test('who takes over twice takes over once, and both hear of it', async () => {
    const { world, first, second, wait } = await stalled()
    const taken = Promise.all([sessionOf(second).takeOver(), sessionOf(second).takeOver()])
    await ended(world, taken)
    first.actor.state = 'running'
    await wait(5_000)
    await ended(world, sessionOf(second).send('and?'))
    await wait(20_000)
    expect(textsOf(second).at(-1)).toBe('re: and?')
  })

  test.each(SEEDS)(
    'two that take over at once, of which one hears late that the other has (seed %i)',
    async (seed) => {
      const { world, first, second, wait } = await stalled({ seed, late: 5_000 })
      const [device] = world.devices
      if (!device) throw new Error('no device')
      const third = openTab(world, device, ++world.tabsOpened)
      await wait(15_000)
      expect(statusOf(third)).toBe('stalled')
      const taken = [second, third].map((tab) => ending(sessionOf(tab).takeOver()))
      await ended(world, Promise.all(taken))
      first.actor.state = 'running'
      await wait(60_000)
      await ended(world, (await spoken(world, second, 'and now?')).answer)
      await wait(20_000)
      for (const tab of [first, second, third]) {
        expect(textsOf(tab).at(-1)).toBe('re: and now?')
        expect(statusOf(tab)).toBe('ready')
        expect(allOf(tab)).toBe(allOf(second))
      }
    },
  )

  test('who takes over and closes is told so', async () => {
    const { world, second } = await stalled()
    const taken = ending(sessionOf(second).takeOver())
    // As far as it goes before the lock is asked for.
    for (let step = 0; step < 10; step++) await undefined
    await ended(world, second.chat.close())
    await ended(world, taken)
    expect(await taken).toBe('aborted')
  })

  test('the others see that it is stalled, and nothing is taken over by itself', async () => {
    const { first, second, wait } = await stalled()
    const before = textsOf(second)
    await wait(600_000)
    expect(statusOf(second)).toBe('stalled')
    expect(textsOf(second)).toEqual(before)
    first.actor.state = 'running'
    await wait(60_000)
    for (const tab of [first, second]) {
      expect(statusOf(tab)).toBe('ready')
      expect(textsOf(tab)).toEqual(['long', long.join('')])
    }
  })

  test('what is not stalled is not taken over', async () => {
    const { first, second } = await twoPages()
    for (const tab of [first, second]) expect(await ending(sessionOf(tab).takeOver())).toBe('conflict')
  })

  test.each(SEEDS)(
    'what another takes over is its own: the first, awake, writes nothing more (seed %i)',
    async (seed) => {
      const { world, first, second, wait } = await stalled({ seed })
      await ended(world, sessionOf(second).takeOver())
      await wait(1_000)
      expect(statusOf(second)).toBe('ready')
      const [, half] = sessionOf(second).get().messages
      expect(half).toMatchObject({ status: 'interrupted' })
      expect(long.join('')).toContain(textOf(half ?? { content: [] }))
      await ended(world, (await spoken(world, second, 'and now?')).answer)
      first.actor.state = 'running'
      await wait(60_000)
      const expected = ['long', textOf(half ?? { content: [] }), 'and now?', 're: and now?']
      for (const tab of [first, second]) {
        expect(textsOf(tab)).toEqual(expected)
        expect(statusOf(tab)).toBe('ready')
        expect(sessionOf(tab).get().messages).toEqual(sessionOf(second).get().messages)
      }
      // And either can go on.
      await ended(world, (await spoken(world, first, 'you there?')).answer)
      await wait(5_000)
      expect(textsOf(second).slice(4)).toEqual(['you there?', 're: you there?'])
    },
  )

  test.each([
    [false, 1],
    [true, 2],
  ])('a call is executed once, or again where that does no harm: %s', async (idempotent, times) => {
    const { world, first, second, wait, executed } = await stalled({
      steps: working,
      tools: (execute) => [tool({ name: 'work', parameters: { type: 'object' }, execute, idempotent })],
    })
    expect(executed).toHaveLength(1)
    await ended(world, sessionOf(second).takeOver())
    await wait(20_000)
    first.actor.state = 'running'
    await wait(60_000)
    expect(executed).toHaveLength(times)
    for (const tab of [first, second]) {
      const [, , result, answer] = sessionOf(tab).get().messages
      expect(result).toMatchObject({ role: 'tool', status: 'completed', isError: !idempotent })
      expect(answer).toMatchObject({ status: 'completed' })
    }
  })

  test('awake, it changes nothing before it has heard of that, either; it would, if rows did not say who has the word', async () => {
    expect(await changedBy({})).toBe(0)
    expect(await changedBy({ storage: withoutTerm })).toBeGreaterThan(0)
  })
})
