import { describe, expect, test } from 'vitest'
import { noStrayRejections } from '../chat/world.ts'
import { pass } from '../simulation/act.ts'
import type { Tab } from '../simulation/clients.ts'
import { differences } from '../simulation/converge.ts'
import { watch } from '../simulation/watch.ts'
import type { Planted, World } from '../simulation/world.ts'
import { askedByThree, ended, sessionOf, spoken, twoTabs } from './two-tabs.ts'

noStrayRejections()

const feedsOf = (world: World, tab: Tab) => world.network.requests(tab.actor)

async function expectAgreed(world: World): Promise<void> {
  await pass(world, 60_000, () => undefined)
  await watch(world)
  expect(world.problems).toEqual([])
  expect(await differences(world)).toEqual([])
}

describe('22: a tab that leads is frozen', () => {
  test('another that somebody looks at takes the session over, and sends; thawed, the first follows', async () => {
    const { world, first, open } = twoTabs()
    await pass(world, 1_000, () => undefined)
    const second = open()
    await pass(world, 1_000, () => undefined)
    first.actor.state = 'frozen'
    await ended(world, (await spoken(world, second, 'is anybody there?')).answer)
    first.actor.state = 'running'
    const before = feedsOf(world, first)
    await pass(world, 10_000, () => undefined)
    await ended(world, (await spoken(world, first, 'and now?')).answer)
    // The second leads, and goes on leading.
    expect(feedsOf(world, first)).toBe(before)
    await expectAgreed(world)
  })

  test('what it wrote when it woke, built on less than is stored, is thought over before it is written', async () => {
    let refused = 0
    const storage: NonNullable<Planted['storage']> = (inner) => ({
      ...inner,
      commit: (changes, options) =>
        inner.commit(changes, options).catch((thrown: unknown) => {
          refused++
          throw thrown
        }),
    })
    const { world, first, open } = twoTabs({ planted: { storage } })
    await pass(world, 1_000, () => undefined)
    const second = open()
    await pass(world, 1_000, () => undefined)
    await spoken(world, first, 'one')
    // In mid-answer.
    await pass(world, 60, () => undefined)
    first.actor.state = 'frozen'
    await pass(world, 20_000, () => undefined)
    await ended(world, (await spoken(world, second, 'two')).answer)
    refused = 0
    first.actor.state = 'running'
    await expectAgreed(world)
    expect(refused).toBeGreaterThan(0)
  })

  test('a page that slept itself takes nothing over, nor does one that nobody looks at', async () => {
    const { world, device, first, open } = twoTabs()
    await pass(world, 1_000, () => undefined)
    const second = open()
    await pass(world, 1_000, () => undefined)
    for (const { actor } of device.tabs) actor.state = 'frozen'
    await pass(world, 3_600_000, () => undefined)
    for (const { actor } of device.tabs) actor.state = 'running'
    second.page.show(false)
    await pass(world, 1_000, () => undefined)
    const before = feedsOf(world, second)
    first.actor.state = 'frozen'
    await pass(world, 60_000, () => undefined)
    expect(feedsOf(world, second)).toBe(before)
    second.page.show(true)
    await pass(world, 20_000, () => undefined)
    expect(feedsOf(world, second)).toBeGreaterThan(before)
    first.actor.state = 'running'
    await expectAgreed(world)
  })
})

/** Lets time pass until it is over; it has five virtual minutes. */
describe('22: tabs that no lock keeps apart', () => {
  test('claim what they send: no two ask for the same at once', async () => {
    const { world, asked } = await askedByThree()
    expect(new Set(asked.map((line) => line.split(' ')[0])).size).toBe(6)
    expect(asked.length).toBe(6)
    await expectAgreed(world)
  })

  test('a claim of a tab that is gone holds for half a minute', async () => {
    const { world, first, open } = twoTabs({ locks: false })
    await pass(world, 1_000, () => undefined)
    await ended(world, (await spoken(world, first, 'zero')).answer)
    world.network.line(first.actor, false)
    await spoken(world, first, 'one')
    first.actor.state = 'frozen'
    const second = open()
    await pass(world, 60_000, () => undefined)
    expect(sessionOf(second).get().messages.at(-1)?.status).toBe('completed')
  })
})

describe('14: the back-forward cache', () => {
  test('a page that is kept aside gives its sessions up, and has them again when it is shown', async () => {
    const { world, first, open } = twoTabs()
    await pass(world, 1_000, () => undefined)
    const second = open()
    await pass(world, 1_000, () => undefined)
    const before = feedsOf(world, second)
    first.page.fire('pagehide')
    await pass(world, 300, () => undefined)
    expect(feedsOf(world, second)).toBeGreaterThan(before)
    first.actor.state = 'frozen'
    await ended(world, (await spoken(world, second, 'while it is away')).answer)
    first.actor.state = 'running'
    first.page.fire('pageshow')
    await pass(world, 1_000, () => undefined)
    expect(sessionOf(first).get().messages.length).toBe(2)
    const { length } = sessionOf(second).get().messages
    expect(length).toBe(2)
    await expectAgreed(world)
  })
})
