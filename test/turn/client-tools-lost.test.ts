import { describe, expect, test } from 'vitest'
import { TidemarkError } from '../../src/lib/errors.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { createHold } from '../../src/testing/scripted-model.ts'
import { type WatchedStorage, watchedStorage } from '../chat/storages.ts'
import { noStrayRejections } from '../chat/world.ts'
import { openClient, reload } from '../scenarios/client.ts'
import { createBrowser } from '../scenarios/page.ts'
import { pass, until } from '../scenarios/server.ts'
import { asked, CUT_OFF, ends, never, paged, serverOf } from './client-tools.ts'
import { calling, resultsIn, stages } from './scenes.ts'

noStrayRejections()

describe('a page that goes while it executes a tool', () => {
  test.each<[string, boolean, unknown, number]>([
    ['is not executed again', false, CUT_OFF, 1],
    ['is, where that does no harm', true, { ok: true, data: 'again' }, 2],
  ])('leaves a call that %s', async (_, idempotent, result, times) => {
    let life = 0
    const { made, executed } = paged({ idempotent, execute: () => (life++ === 0 ? never() : 'again') })
    const { server, client } = await asked([made])
    await until(server, () => executed.length > 0)
    const back = await reload(client, 'back', { tools: [made] })
    await ends(server, back)
    expect(executed).toHaveLength(times)
    expect(resultsIn(back.session)).toEqual([result])
  })

  test('does not execute for ever what ends it each time', async () => {
    const { made, executed } = paged({ idempotent: true, execute: never })
    const { server, client } = await asked([made])
    let page = client
    for (let times = 1; times <= 3; times++) {
      await until(server, () => executed.length === times)
      page = await reload(page, `page-${times}`, { tools: [made] })
    }
    await ends(server, page)
    expect(executed).toHaveLength(3)
    expect(resultsIn(page.session)).toEqual([CUT_OFF])
  })

  test('after it has its result, and before that is in the outbox, says it once it is back', async () => {
    const disk = watchedStorage()
    const storage: WatchedStorage = {
      ...disk,
      commit: (changes, options) =>
        changes.some((change) => change.type === 'outbox' && change.row.request.type === 'command')
          ? Promise.reject(new TidemarkError('storage', 'full'))
          : disk.commit(changes, options),
    }
    let cut = () => {}
    const { made, executed } = paged({
      execute: () => {
        cut()
        return 'the kitchen'
      },
    })
    const { server, client } = await asked([made], { storage })
    cut = () => {
      client.line.online = false
    }
    await until(server, () => executed.length > 0)
    await pass(server, 1_000)
    expect((await disk.reopen().window('s', { limit: 9 })).outbox).toEqual([])
    const back = await reload(client, 'back', { tools: [made] })
    expect(stages(back.session)).not.toContain('completed')
    await ends(server, back)
    expect(executed).toHaveLength(1)
    expect(resultsIn(back.session)).toEqual([{ ok: true, data: 'the kitchen' }])
  })
})

test('of the tabs of one browser, one executes a call, whichever goes and comes', async () => {
  const storage = watchedStorage(memoryStorage(), 'shared')
  const browser = createBrowser()
  const { made, executed } = paged({ execute: never, timeout: 30_000 })
  const { server, client } = await asked([made], { storage, page: browser.page() })
  await until(server, () => executed.length > 0)
  const second = openClient(server, {
    tools: [made],
    name: 'second',
    storage: storage.reopen(),
    page: browser.page(),
  })
  await pass(server, 2_000)
  expect(executed).toHaveLength(1)
  storage.fail(() => true)
  await client.chat.close()
  await ends(server, second)
  expect(executed).toHaveLength(1)
  expect(resultsIn(second.session)).toEqual([CUT_OFF])
})

test('tabs that no lock keeps apart execute a call once, and none answers for the other', async () => {
  const storage = watchedStorage(memoryStorage(), 'shared')
  const browser = createBrowser({ locks: false })
  const { hold, release } = createHold()
  const { made, executed } = paged({ execute: () => hold.then(() => 'the kitchen') })
  const server = serverOf(calling(['place']))
  const tabs = ['one', 'two', 'three'].map((name, at) =>
    openClient(server, {
      ...{ name, tools: [made], page: browser.page() },
      storage: at === 0 ? storage : storage.reopen(),
    }),
  )
  const [first] = tabs
  if (!first) throw new Error('no tab')
  await first.session.send('Please.')
  await until(server, () => tabs.every(({ session }) => stages(session)[0] === 'client'))
  await pass(server, 2_000)
  release()
  for (const tab of tabs) await ends(server, tab)
  expect(executed).toHaveLength(1)
  expect(resultsIn(first.session)).toEqual([{ ok: true, data: 'the kitchen' }])
})
