import { describe, expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import { createHold, scriptedModel } from '../../src/testing/scripted-model.ts'
import { shown } from '../chat/direct-chat.ts'
import { watchedStorage } from '../chat/storages.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { expectInStep, openClient, reload } from './client.ts'
import type { Seen } from './line.ts'
import { createBrowser } from './page.ts'
import { ended, pass, type Server, startServer, truthOf, until } from './server.ts'

noStrayRejections()

const isSend = ({ method, path }: Seen) => method === 'POST' && path.endsWith('/messages')

async function expectOne(server: Server, text = 'one'): Promise<void> {
  expect(shown((await truthOf(server)).messages)).toEqual([text, `re: ${text}`])
}

describe('7: the answer to a question is lost after it was accepted:', () => {
  test('it is sent again with the same key and body, and is one message', async () => {
    const server = startServer()
    const client = openClient(server)
    let losses = 3
    client.line.fault = (seen) => (isSend(seen) && losses-- > 0 ? { type: 'unanswered' } : undefined)
    const sent = await client.session.send('one')
    expect(shown([await ended(server, sent.answer)])).toEqual(['re: one'])
    await expectInStep(client)
    await expectOne(server)
    const sends = client.line.requests.filter(isSend)
    expect(sends.length).toBe(4)
    expect(new Set(sends.map(({ body }) => body)).size).toBe(1)
    expect(new Set(sends.map(({ headers }) => headers.get('idempotency-key')))).toEqual(new Set([sent.id]))
  })

  test('also where the server is started again in between', async () => {
    const hold = createHold()
    const model = scriptedModel((_, call) => (call === 0 ? ['so far', hold] : 'not asked'))
    const server = startServer({ model })
    const client = openClient(server)
    let losses = 1
    client.line.fault = (seen) => (isSend(seen) && losses-- > 0 ? { type: 'unanswered' } : undefined)
    const sent = await client.session.send('one')
    await pass(server, 100)
    server.die()
    client.line.cut()
    await pass(server, 1_000)
    server.start()
    const answer = await ended(server, sent.answer)
    expect(answer).toMatchObject({ status: 'interrupted', stopReason: 'aborted' })
    expect(model.calls.length).toBe(1)
    await expectInStep(client)
    expect(shown((await truthOf(server)).messages)).toEqual(['one', 'so far'])
  })

  test('also where the page is gone in between', async () => {
    const server = startServer()
    const first = openClient(server, { name: 'first' })
    first.line.fault = (seen) => (isSend(seen) ? { type: 'unanswered' } : undefined)
    await first.session.send('one')
    await until(server, () => first.line.requests.some(isSend))
    await pass(server, 50)
    const again = await reload(first, 'again')
    await expectInStep(again)
    await expectOne(server)
  })
})

test('7: retries that arrive at once are one message and one run', async () => {
  const server = startServer()
  const client = openClient(server)
  client.line.fault = (seen) => (isSend(seen) ? { type: 'doubled' } : undefined)
  await ended(server, (await client.session.send('one')).answer)
  await expectInStep(client)
  await expectOne(server)
})

test('7: two tabs that cannot know of each other send what both have stored as one message', async () => {
  const server = startServer()
  // Without locks and channels: each believes to be alone.
  const storage = watchedStorage(memoryStorage(), 'shared')
  const browser = createBrowser({ locks: false })
  const first = openClient(server, { name: 'first', storage, page: browser.page() })
  first.line.online = false
  await first.session.send('one')
  await pass(server, 1_000)
  const second = openClient(server, { name: 'second', storage: storage.reopen(), page: browser.page() })
  first.line.online = true
  await until(server, () => second.session.get().messages.at(-1)?.status === 'completed')
  await pass(server, 60_000)
  await expectOne(server)
  for (const client of [first, second])
    expect(shown(client.session.get().messages)).toEqual(['one', 're: one'])
})

test('7: the same key with another body is refused, on whatever instance', async () => {
  const world = createWorld()
  const server = startServer({ world })
  const client = openClient(server)
  const { id, answer } = await client.session.send('one')
  await ended(server, answer)
  const [send] = client.line.requests.filter(isSend)
  const other = { ...JSON.parse(send?.body ?? ''), content: [{ type: 'text', text: 'another' }] }
  for (let round = 0; round < 2; round++) {
    const refused = await server.ask('POST', '/sessions/s/messages', other, { 'idempotency-key': id })
    expect(refused.status).toBe(409)
    expect(await refused.json()).toMatchObject({ error: { code: 'conflict' } })
    server.die()
    server.start()
  }
  await expectOne(server)
})
