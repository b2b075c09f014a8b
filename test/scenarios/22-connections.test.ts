import { expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { shown } from '../chat/direct-chat.ts'
import { watchedStorage } from '../chat/storages.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { type Client, openClient } from './client.ts'
import { createBrowser } from './page.ts'
import { ended, pass, type Server, settle, startServer, until } from './server.ts'

noStrayRejections()

/** Tabs of one browser, each with a session of its own, which the server has unless it is new; only the newest is looked at, unless all are. */
async function openTabs(
  server: Server,
  count: number,
  { allSeen = false, isNew = false } = {},
): Promise<Client[]> {
  const storage = watchedStorage(memoryStorage(), 'shared')
  const browser = createBrowser()
  const tabs: Client[] = []
  for (let at = 0; at < count; at++) {
    if (!allSeen) tabs.at(-1)?.page.show('hidden')
    if (!isNew) await server.ask('POST', '/sessions', { id: `s${at}` })
    const own = at === 0 ? storage : storage.reopen()
    tabs.push(
      openClient(server, { name: `tab-${at}`, session: `s${at}`, storage: own, page: browser.page() }),
    )
    await settle(server)
  }
  return tabs
}

const open = (tabs: readonly Client[]) => tabs.reduce((sum, { line }) => sum + line.lasting(), 0)

/** Says something in a tab, and looks at every step whether the connections stay few. */
async function say(tabs: readonly Client[], { server, session }: Client, text: string): Promise<void> {
  const { answer } = await session.send(text)
  let told = false
  void answer.then(() => {
    told = true
  })
  await until(server, () => {
    expect(open(tabs)).toBeLessThanOrEqual(4)
    return told
  })
}

test.each([true, false])(
  '22: eight tabs of eight sessions hold four connections that last, and each is answered (all are seen: %s)',
  async (allSeen) => {
    const server = startServer()
    const tabs = await openTabs(server, 8, { allSeen })
    for (const [at, tab] of tabs.entries()) {
      if (!allSeen) tab.page.show('visible')
      await say(tabs, tab, `from ${at}`)
      expect(shown(tab.session.get().messages)).toEqual([`from ${at}`, `re: from ${at}`])
      if (!allSeen) tab.page.show('hidden')
    }
    await pass(server, 60_000)
    expect(open(tabs)).toBe(4)
  },
)

test('22: answers that come at length in eight tabs at once leave connections for what else is asked', async () => {
  const world = createWorld()
  const model = scriptedModel(() => 'An answer of some length.', {
    chunkSize: 1,
    pace: () => world.env.sleep(400),
  })
  const server = startServer({ world, model })
  const tabs = await openTabs(server, 8, { isNew: true })
  let most = 0
  const answers: Promise<unknown>[] = []
  for (const tab of tabs) {
    tab.page.show('visible')
    answers.push((await tab.session.send('and?')).answer)
    await pass(server, 300)
    most = Math.max(most, open(tabs))
    tab.page.show('hidden')
  }
  let told = false
  void Promise.all(answers).then(() => {
    told = true
  })
  await until(server, () => {
    most = Math.max(most, open(tabs))
    return told
  })
  expect(most).toBe(4)
})

test('22: the tab that is looked at has a connection, though hidden ones had all', async () => {
  const server = startServer()
  const tabs = await openTabs(server, 6)
  for (const tab of [...tabs, ...tabs.slice(0, 2)]) {
    tab.page.show('visible')
    await pass(server, 100)
    expect(tab.line.lasting()).toBe(1)
    expect(open(tabs)).toBeLessThanOrEqual(4)
    tab.page.show('hidden')
  }
})

test('22: who waits for a connection has that of a tab that is closed, frozen or kept aside', async () => {
  const server = startServer()
  const tabs = await openTabs(server, 7, { allSeen: true })
  await pass(server, 1_000)
  const [first, second, third, , ...waiting] = tabs as [Client, Client, Client, Client, ...Client[]]
  expect(waiting.map(({ line }) => line.lasting())).toEqual([0, 0, 0])
  await first.chat.close()
  second.page.document('freeze')
  third.page.window('pagehide')
  await pass(server, 1_000)
  expect(waiting.map(({ line }) => line.lasting())).toEqual([1, 1, 1])
  expect(open(tabs)).toBe(4)
  const said = await waiting[2]?.session.send('heard')
  if (said) await ended(server, said.answer)
  third.page.window('pageshow')
  await say(tabs, third, 'back')
})

test('22: of the sessions of one tab that is seen, the one that was asked for last has a connection first', async () => {
  const server = startServer()
  const [busy, other] = (await openTabs(server, 2, { allSeen: true })) as [Client, Client]
  for (const id of ['a', 'b', 'c']) {
    await ended(server, (await busy.chat.session(id).send(id)).answer)
    await pass(server, 200)
    expect(other.line.lasting()).toBe(1)
  }
  expect(open([busy, other])).toBe(4)
  const feeds = busy.line.requests.filter(({ path }) => path.endsWith('/events'))
  expect(feeds.at(-1)?.path).toBe('/sessions/c/events')
})

test('22: where locks are refused, every tab has its connection', async () => {
  const server = startServer()
  const { platform } = createBrowser().page()
  const locks = { request: async () => Promise.reject(new DOMException('no', 'SecurityError')) }
  const page = { ...createBrowser().page(), platform: { ...platform, navigator: { onLine: true, locks } } }
  const tab = openClient(server, { storage: watchedStorage(memoryStorage(), 'refused'), page })
  await ended(server, (await tab.session.send('one')).answer)
  await pass(server, 200)
  expect(tab.line.lasting()).toBe(1)
})
