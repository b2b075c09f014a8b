import { describe, expect, test } from 'vitest'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { shown, statuses } from '../chat/direct-chat.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { type Client, expectInStep, openClient, watch } from './client.ts'
import type { Seen } from './line.ts'
import { ended, pass, type Server, settle, startServer, until } from './server.ts'

noStrayRejections()

const isFeed = ({ path }: Seen) => path.endsWith('/events')
const feeds = ({ line }: Client) => line.requests.filter(isFeed).length

async function talked(server: Server, world = server.world): Promise<Client> {
  const client = openClient({ ...server, world })
  const sent = await client.session.send('one')
  let over = false
  void sent.answer.then(() => {
    over = true
  })
  for (let turn = 0; !over; turn++) {
    await pass(server, 20)
    await world.pass(20)
    if (turn > 500) throw new Error('never answered')
  }
  await world.pass(500)
  await pass(server, 500)
  return client
}

/** Somebody else says something meanwhile. */
async function sayElsewhere(server: Server, text: string): Promise<void> {
  const other = openClient(server, { name: 'elsewhere' })
  await until(server, () => other.session.get().messages.length > 0)
  await ended(server, (await other.session.send(text)).answer)
  await other.chat.close()
}

describe('14: a socket is half open for ten minutes, while the device sleeps:', () => {
  test.each([
    ['it is looked at again', (client: Client) => client.page.show('visible')],
    ['its page comes back from the back-forward cache', (client: Client) => client.page.window('pageshow')],
    ['it is thawed', (client: Client) => client.page.document('resume')],
    ['the network is there again', (client: Client) => client.page.window('online')],
  ])('%s, and is in sync within a second', async (_, wake) => {
    const server = startServer()
    // The device's own clock: asleep, no timer of it ends, and then ten minutes have passed.
    const device = createWorld({ name: 'device' })
    const client = await talked(server, device)
    const before = feeds(client)
    client.line.numb()
    await sayElsewhere(server, 'meanwhile')
    await pass(server, 600_000)
    expect(shown(client.session.get().messages)).toEqual(['one', 're: one'])
    wake(client)
    await settle(server)
    await device.pass(900)
    await settle(server)
    expect(shown(client.session.get().messages)).toEqual(['one', 're: one', 'meanwhile', 're: meanwhile'])
    expect(feeds(client)).toBe(before + 1)
  })

  test('nobody says so: the jump of its clock is noticed at the next look at the line', async () => {
    const server = startServer({ heartbeat: 15_000 })
    const device = createWorld({ name: 'device' })
    const client = await talked(server, device)
    client.line.numb()
    await sayElsewhere(server, 'meanwhile')
    await pass(server, 600_000)
    await device.pass(600_000)
    await settle(server)
    await device.pass(1_000)
    await settle(server)
    expect(shown(client.session.get().messages).length).toBe(4)
  })
})

test('15, silence: only comments for minutes: no reconnect. No bytes: reconnect after 2.5 heartbeats', async () => {
  const server = startServer({ heartbeat: 15_000 })
  const client = openClient(server)
  await ended(server, (await client.session.send('one')).answer)
  await pass(server, 1_000)
  const before = feeds(client)
  await pass(server, 600_000)
  expect(feeds(client)).toBe(before)
  expect(client.session.get().connection).toBe('online')
  client.line.numb()
  await pass(server, 30_000)
  expect(feeds(client)).toBe(before)
  await pass(server, 15_000)
  expect(feeds(client)).toBe(before + 1)
  await sayElsewhere(server, 'heard')
  await expectInStep(client)
})

describe('16: a line', () => {
  test('that is closed every few seconds loses nothing, and is asked for with patience', async () => {
    const world = createWorld()
    const model = scriptedModel(() => 'A long answer, told in many little pieces, over some time.', {
      chunkSize: 3,
      pace: () => world.env.sleep(1_000),
    })
    const server = startServer({ world, model })
    const client = openClient(server)
    const watched = watch(client)
    const sent = await client.session.send('one')
    let over = false
    void sent.answer.then(() => {
      over = true
    })
    for (let round = 0; !over && round < 60; round++) {
      await pass(server, 3_000)
      client.line.cut()
    }
    watched.expectTruthful()
    expect(statuses(await expectInStep(client))).toEqual(['user completed', 'assistant completed'])
    expect(client.line.requests.length).toBeLessThan(120)
  })

  test('that buffers to the end brings the answer at the end, and nothing twice', async () => {
    const server = startServer()
    const client = openClient(server, { silence: 45_000 })
    client.line.fault = () => ({ type: 'buffered' })
    const watched = watch(client)
    const sent = await client.session.send('one')
    expect(shown([await ended(server, sent.answer)])).toEqual(['re: one'])
    await ended(server, (await client.session.send('two')).answer)
    watched.expectTruthful()
    client.line.fault = undefined
    await expectInStep(client)
  })

  test('that is answered from a stale cache does no harm, and is in step once it is not', async () => {
    const server = startServer()
    const client = openClient(server)
    await ended(server, (await client.session.send('one')).answer)
    await pass(server, 300)
    const kept = new Map<string, string>()
    for (const path of ['/sessions/s/messages?changedSince=0&limit=200', '/sessions?limit=50'])
      kept.set(path.split('?')[0] ?? '', await (await server.ask('GET', path)).text())
    const old = await server.ask('GET', '/sessions/s/events')
    const reader = old.body?.getReader()
    const bytes = (await reader?.read())?.value
    await reader?.cancel()
    client.line.fault = ({ method, path }) => {
      if (method !== 'GET') return undefined
      const body = isFeed({ path } as Seen) ? new TextDecoder().decode(bytes) : kept.get(path)
      const type = isFeed({ path } as Seen) ? 'text/event-stream' : 'application/json'
      return { type: 'instead', response: () => new Response(body, { headers: { 'content-type': type } }) }
    }
    client.line.cut()
    const sent = await client.session.send('two')
    await pass(server, 60_000)
    expect(shown(client.session.get().messages).slice(0, 3)).toEqual(['one', 're: one', 'two'])
    expect(client.line.requests.length).toBeLessThan(80)
    client.line.fault = undefined
    expect(shown([await ended(server, sent.answer)])).toEqual(['re: two'])
    await expectInStep(client)
  })
})

test('17: hidden for an hour: the data are complete, and no timer is in their path', async () => {
  const server = startServer({ heartbeat: 120_000, lease: 900_000 })
  // Of this page no timer ends at all.
  const clock = createWorld({ name: 'hidden' })
  const client = openClient({ ...server, world: clock })
  client.page.show('hidden')
  await client.session.send('one')
  await pass(server, 1_000)
  const before = feeds(client)
  for (const text of ['two', 'three']) await sayElsewhere(server, text)
  await pass(server, 3_600_000)
  const texts = ['one', 're: one', 'two', 're: two', 'three', 're: three']
  expect(shown(client.session.get().messages)).toEqual(texts)
  const { rows } = await client.storage.window('s', { limit: 99 })
  expect(shown(rows.map(({ message }) => message))).toEqual(texts)
  expect(feeds(client)).toBe(before)
})
