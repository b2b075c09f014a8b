import { describe, expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import { shown } from '../chat/direct-chat.ts'
import { watchedStorage } from '../chat/storages.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { type Client, openClient, reload } from './client.ts'
import { createBrowser } from './page.ts'
import { ended, pass, type Server, settle, startServer, until } from './server.ts'

noStrayRejections()

/** Something that another device says in a session. */
const sayElsewhere = (server: Server, sessionId: string, text: string) =>
  server.ask('POST', `/sessions/${sessionId}/messages`, {
    id: `e-${text}`,
    runId: `r-${text}`,
    parentId: null,
    content: [{ type: 'text', text }],
  })

async function openTabs(server: Server, count: number): Promise<Client[]> {
  const storage = watchedStorage(memoryStorage(), 'shared')
  const browser = createBrowser()
  const tabs: Client[] = []
  for (let at = 0; at < count; at++) {
    await server.ask('POST', '/sessions', { id: `s${at}` })
    const own = at === 0 ? storage : storage.reopen()
    tabs.push(
      openClient(server, { name: `tab-${at}`, session: `s${at}`, storage: own, page: browser.page() }),
    )
    await settle(server)
  }
  return tabs
}

describe('a session without one of the few connections', () => {
  test.each(['hidden', 'visible'] as const)(
    'hears within a minute what is said elsewhere, and asks twice a minute at most: %s',
    async (state) => {
      const server = startServer({ world: createWorld() })
      const tabs = await openTabs(server, 5)
      const last = tabs[4] as Client
      last.page.show(state)
      await pass(server, 5_000)
      const without = tabs.filter(({ line }) => line.lasting() === 0)
      expect(without.length).toBe(1)
      const [tab] = without as [Client]
      const before = tab.line.requests.length
      await pass(server, 120_000)
      expect(tab.line.requests.length - before).toBeLessThanOrEqual(4)
      await sayElsewhere(server, tab.session.id, 'hello')
      await until(server, () => shown(tab.session.get().messages).includes('re: hello'), 60_000)
    },
  )

  test('asks for nothing however often the app asks for the session that it shows anyway', async () => {
    const server = startServer()
    const tabs = await openTabs(server, 5)
    await pass(server, 1_000)
    const tab = tabs.find(({ line }) => line.lasting() === 0) as Client
    const before = tab.line.requests.length
    for (let at = 0; at < 50; at++) {
      tab.chat.session(tab.session.id)
      await settle(server)
    }
    expect(tab.line.requests.length - before).toBeLessThan(3)
  })
})

test('what waits in sessions that nobody asked for takes no connection from the one that is shown', async () => {
  const server = startServer()
  const client = openClient(server, { session: 'old-0' })
  client.line.fault = ({ method }) => (method === 'POST' ? { type: 'lost' } : undefined)
  for (let at = 0; at < 6; at++) await client.chat.session(`old-${at}`).send('waits')
  await server.ask('POST', '/sessions', { id: 's' })
  await settle(server)
  const again = await reload(client, 'again')
  again.line.fault = ({ method }) => (method === 'POST' ? { type: 'lost' } : undefined)
  await pass(server, 5_000)
  expect(again.chat.health.get().outbox).toBe(12)
  expect(again.line.requests.filter(({ path }) => path === '/sessions/s/events').length).toBeGreaterThan(0)
})

test('a page that is left, frozen and shown again, again and again, holds what it held, and leaves nothing behind', async () => {
  const server = startServer()
  const browser = createBrowser()
  const storage = watchedStorage(memoryStorage(), 'shared')
  const client = openClient(server, { storage, page: browser.page() })
  await ended(server, (await client.session.send('one')).answer)
  for (let at = 0; at < 5; at++) {
    await server.ask('POST', '/sessions', { id: `s${at}` })
    client.chat.session(`s${at}`)
  }
  await pass(server, 1_000)
  const held = [server.world.sleeping(), client.line.open()]
  for (let at = 0; at < 20; at++) {
    client.page.window('pagehide')
    if (at % 3 === 0) await settle(server)
    if (at % 7 === 0) client.page.document('freeze')
    client.page.window('pageshow')
    if (at % 2 === 0) client.page.document('resume')
    if (at % 5 === 0) await settle(server)
  }
  await pass(server, 2_000)
  expect([server.world.sleeping(), client.line.open()]).toEqual(held)
  await ended(server, (await client.session.send('two')).answer)
  expect(shown(client.session.get().messages)).toEqual(['one', 're: one', 'two', 're: two'])
  await client.chat.close()
  await pass(server, 100)
  // The server's own wait for lapsed leases.
  expect([server.world.sleeping(), client.line.open()]).toEqual([1, 0])
  const other = openClient(server, { name: 'other', storage: storage.reopen(), page: browser.page() })
  await ended(server, (await other.session.send('three')).answer)
  expect(other.session.get().messages.length).toBe(6)
})

test('sessions that the server does not know are not asked for again, all of them, whenever the page is seen again', async () => {
  const server = startServer()
  const client = openClient(server)
  for (let at = 0; at < 60; at++) client.chat.session(`new-${at}`)
  await pass(server, 2_000)
  const before = client.line.requests.length
  for (const state of ['hidden', 'visible', 'hidden', 'visible'] as const) client.page.show(state)
  await pass(server, 2_000)
  expect(client.line.requests.length - before).toBeLessThan(24)
})

test('a page in which many sessions were looked at looks, when it is seen again, after the newest first and few others', async () => {
  const server = startServer()
  const client = openClient(server, { session: 's0' })
  for (let at = 0; at < 60; at++) {
    await server.ask('POST', '/sessions', { id: `s${at}` })
    client.chat.session(`s${at}`)
    await settle(server)
  }
  await pass(server, 2_000)
  client.page.show('hidden')
  await pass(server, 500)
  const [requests, reads] = [client.line.requests.length, client.storage.asked()]
  client.page.show('visible')
  await settle(server)
  const asked = client.line.requests.slice(requests).filter(({ path }) => path !== '/sessions')
  // What is shown must not wait behind what is not.
  expect(asked.findIndex(({ path }) => path.startsWith('/sessions/s59/'))).toBeLessThan(8)
  expect(asked.length).toBeLessThan(12)
  expect(client.storage.asked() - reads).toBeLessThan(80)
})
