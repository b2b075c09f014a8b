import { describe, expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { shown } from '../chat/direct-chat.ts'
import { type WatchedStorage, watchedStorage } from '../chat/storages.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { type Client, expectInStep, openClient, watch } from './client.ts'
import type { Seen } from './line.ts'
import { createBrowser } from './page.ts'
import { ended, pass, type Server, settle, startServer, truthOf, until } from './server.ts'

noStrayRejections()

const isFeed = ({ path }: Seen) => path.endsWith('/events')

/** Tabs of one browser over one database, opened one after the other. */
function tabsOf(server: Server, storage: WatchedStorage = watchedStorage(memoryStorage(), 'shared')) {
  const browser = createBrowser()
  let count = 0
  const open = async (): Promise<Client> => {
    const client = openClient(server, {
      name: `tab-${++count}`,
      storage: count === 1 ? storage : storage.reopen(),
      page: browser.page(),
    })
    await settle(server)
    return client
  }
  return { open, storage, browser }
}

const feeds = ({ line }: Client) => line.requests.filter(isFeed).length

/** All tabs show the same, and what the server has. */
async function expectAgreed(
  server: Server,
  tabs: readonly Client[],
  texts: readonly string[],
): Promise<void> {
  const agree = () => tabs.every(({ session }) => shown(session.get().messages).join('|') === texts.join('|'))
  await until(server, agree)
  await until(server, () => tabs.every(({ chat }) => chat.health.get().outbox === 0))
  expect(shown((await truthOf(server)).messages).toSorted()).toEqual(texts.toSorted())
}

describe('22: tabs of one database', () => {
  test.each([2, 5, 8])('%i of them: one connection, all the same, whichever is spoken in', async (count) => {
    const server = startServer()
    const { open } = tabsOf(server)
    const tabs = [await open()]
    await ended(server, (await (tabs[0] as Client).session.send('begin')).answer)
    while (tabs.length < count) tabs.push(await open())
    const watched = tabs.map(watch)
    const texts = ['begin', 're: begin']
    for (const [at, { session }] of tabs.entries()) {
      const sent = await session.send(`from ${at}`)
      texts.push(`from ${at}`, `re: from ${at}`)
      await ended(server, sent.answer)
    }
    await expectAgreed(server, tabs, texts)
    expect(tabs.filter((tab) => feeds(tab) > 0).length).toBe(1)
    expect(tabs.reduce((sum, { line }) => sum + line.lasting(), 0)).toBe(1)
    for (const { expectTruthful } of watched) expectTruthful()
  })

  test('two that lead at once, since neither can know of the other, end with the same rows, and store no hole', async () => {
    const server = startServer()
    const storage = watchedStorage(memoryStorage(), 'shared')
    const open = (name: string, own = storage.reopen()) => openClient(server, { name, storage: own })
    // Pages of browsers of their own: no lock and no channel between them.
    const tabs = [open('first', storage), open('second')]
    const [first, second] = tabs as [Client, Client]
    await ended(server, (await first.session.send('zero')).answer)
    const sent = []
    for (let round = 0; round < 4; round++) {
      sent.push(await first.session.send(`a${round}`), await second.session.send(`b${round}`))
      await pass(server, 300)
    }
    await until(server, () => tabs.every(({ chat }) => chat.health.get().outbox === 0))
    await pass(server, 60_000)
    for (const { session } of tabs) void session.resync()
    const { messages } = await truthOf(server)
    expect(messages.length).toBe(18)
    for (const { session } of tabs)
      await until(server, () => messages.every(({ id, rev }) => session.message(id).get()?.rev === rev))
    // The last one to write has written all of it: its cursor is not ahead of its rows.
    const { session: row, rows } = await storage.window('s', { limit: 99 })
    expect(rows.map(({ message }) => message)).toEqual(
      messages.filter(({ rev = 0 }) => rev <= (row?.rev ?? 0)),
    )
    for (const { id } of sent) expect(messages.filter((message) => message.id === id).length).toBe(1)
  })

  test('one is closed in the middle of a write: nothing is torn, and another goes on', async () => {
    for (let turn = 0; turn < 8; turn++) {
      const world = createWorld({ name: `close-${turn}` })
      const model = scriptedModel(() => 'An answer of some length.', {
        chunkSize: 3,
        pace: () => world.env.sleep(20),
      })
      const server = startServer({ world, model })
      const { open, storage } = tabsOf(server)
      const first = await open()
      const second = await open()
      await first.session.send('one')
      await pass(server, turn * 25)
      const release = storage.hold()
      void first.chat.close()
      await pass(server, 10)
      release()
      await expectAgreed(server, [second], ['one', 'An answer of some length.'])
      await expectInStep(second)
      await second.chat.close()
    }
  })
})
