import { pass } from '../simulation/act.ts'
import { openTab, type Tab } from '../simulation/clients.ts'
import { planOf } from '../simulation/plan.ts'
import { createWorld, type Planted, type World } from '../simulation/world.ts'

/** A world in which nothing goes wrong by itself, and two tabs of one browser. */
export function twoTabs({ locks = true, planted = {} as Planted } = {}) {
  const plan = { ...planOf(1), devices: 1, storageFaults: 0, networkFaults: 0, locks, actions: [] }
  const world = createWorld(plan, planted)
  const [device] = world.devices
  if (!device) throw new Error('no device')
  const [first] = device.tabs
  if (!first) throw new Error('no tab')
  return { world, device, first, open: () => openTab(world, device, ++world.tabsOpened) }
}

export const sessionOf = ({ sessions: [session] }: Tab) => {
  if (!session) throw new Error('no session')
  return session
}

export async function ended(world: World, promise: Promise<unknown>): Promise<void> {
  let over = false
  promise.then(
    () => {
      over = true
    },
    () => {
      over = true
    },
  )
  for (let tries = 0; !over && tries < 300; tries++) await pass(world, 1_000, () => undefined)
  if (!over) throw new Error('it has not ended within five minutes')
}

export async function spoken(world: World, tab: Tab, text: string) {
  const sending = sessionOf(tab).send(text)
  await pass(world, 500, () => undefined)
  return sending
}

/** Three tabs that no lock keeps apart say something twice each: who asked the other side for what, as `key by tab`. */
export async function askedByThree(planted: Planted = {}): Promise<{ world: World; asked: string[] }> {
  const asked: string[] = []
  const runtime: NonNullable<Planted['runtime']> = (inner, { name }) => ({
    ...inner,
    dispatch(request, context) {
      if (request.type === 'send') asked.push(`${context.key} by ${name}`)
      return inner.dispatch(request, context)
    },
  })
  const { world, first, open } = twoTabs({ locks: false, planted: { ...planted, runtime } })
  const tabs = [first, open(), open()]
  await pass(world, 1_000, () => undefined)
  const answers: Promise<unknown>[] = []
  for (let round = 0; round < 2; round++)
    for (const tab of tabs) answers.push((await spoken(world, tab, `${round}`)).answer)
  await pass(world, 60_000, () => undefined)
  await ended(world, Promise.all(answers))
  return { world, asked }
}
