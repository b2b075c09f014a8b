import { describe, expect, test } from 'vitest'
import { createHold, scriptedModel } from '../../src/testing/scripted-model.ts'
import { ending, shown } from '../chat/direct-chat.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { expectInStep as expectInStepWith, remoteChat, requestsTo, SEND } from '../runtime/remote-chat.ts'
import { scriptedServer } from '../runtime/scripted-server.ts'
import { expectInStep, openClient, reload, watch } from './client.ts'
import type { Seen } from './line.ts'
import { ended, pass, startServer, until } from './server.ts'

noStrayRejections()

const isSend = ({ method, path }: Seen) => method === 'POST' && path.endsWith('/messages')
const isFeed = ({ path }: Seen) => path.endsWith('/events')

/** A promise to be kept later. */
function later(): { promise: Promise<void>; now(): void } {
  let now = () => {}
  const promise = new Promise<void>((resolve) => {
    now = resolve
  })
  return { promise, now: () => now() }
}

describe('8: one bubble, although', () => {
  test.each([
    ['the answer to the request comes before its event', isFeed],
    ['the event comes before the answer to the request', isSend],
  ])('%s', async (_, isLate) => {
    const server = startServer()
    const client = openClient(server)
    await ended(server, (await client.session.send('first')).answer)
    const watched = watch(client)
    const { promise, now } = later()
    client.line.fault = (seen) =>
      isLate(seen) ? { type: 'late', until: promise, where: 'after' } : undefined
    if (isLate === isFeed) client.line.cut()
    await client.session.send('one')
    await pass(server, 500)
    const bubbles = () => shown(client.session.get().messages).filter((text) => text === 'one').length
    expect(bubbles()).toBe(1)
    now()
    await pass(server, 500)
    expect(bubbles()).toBe(1)
    watched.expectTruthful()
    expect(shown(await expectInStep(client))).toEqual(['first', 're: first', 'one', 're: one'])
  })

  test('it waits for its turn, and is to be given up: what was accepted stays', async () => {
    const hold = createHold()
    const server = startServer({ model: scriptedModel([['first ', hold, 'answer'], 'second answer']) })
    const client = openClient(server)
    const { session, line } = client
    const one = await session.send('one')
    await until(server, () => client.chat.health.get().outbox === 0)
    const { promise, now } = later()
    line.fault = (seen) => (isSend(seen) ? { type: 'late', until: promise, where: 'after' } : undefined)
    const two = await session.send('two')
    await until(server, () => session.message(two.id).get()?.status === 'completed')
    expect(await ending(session.discard(two.id))).toBe('conflict')
    now()
    hold.release()
    for (const { answer } of [one, two]) await ended(server, answer)
    expect(shown(await expectInStep(client))).toEqual(['one', 'first answer', 'two', 'second answer'])
  })

  test('the page is loaded again between the two', async () => {
    for (const isLost of [isFeed, isSend]) {
      const server = startServer({ world: createWorld({ name: isLost.name }) })
      const first = openClient(server, { name: 'first' })
      await ended(server, (await first.session.send('first')).answer)
      await pass(server, 300)
      first.line.fault = (seen) => (isLost(seen) ? { type: 'unanswered' } : undefined)
      if (isLost === isFeed) first.line.cut()
      await first.session.send('one')
      await pass(server, 200)
      const again = await reload(first, 'again')
      await until(server, () => again.session.get().messages.length === 4)
      expect(shown(await expectInStep(again))).toEqual(['first', 're: first', 'one', 're: one'])
      await again.chat.close()
    }
  })
})

test('8, echo: a server that gives ids of its own renames the bubble in one step, and a list keyed by its key does not flicker', async () => {
  for (const feedFirst of [true, false]) {
    const server = scriptedServer({ renames: true })
    const open = remoteChat({ server, world: createWorld({ name: `w-${feedFirst}` }) })
    const { session, world } = open
    await (await session.send('first')).answer
    await world.until(() => requestsTo(server, 'GET /sessions/s/events').length === 1)
    const { promise, now } = later()
    if (feedFirst)
      server.spoil = async (response, { method, path }) => {
        if (`${method} ${path}` === SEND) await promise
        return response
      }
    const seen: string[][] = []
    const look = () => {
      const { messages } = session.get()
      seen.push(messages.flatMap(({ id, clientId = id, role }) => (role === 'user' ? [clientId] : [])))
      return messages.length === 4
    }
    const sent = await session.send('one')
    await world.until(look)
    now()
    await world.pass(500)
    look()
    for (const keys of seen.filter((list) => list.length > 1)) expect(keys.at(-1)).toBe(sent.id)
    expect(Math.max(...seen.map((keys) => keys.length))).toBe(2)
    // Who holds on to the id that `send` gave still finds the message.
    expect(session.message(sent.id).get()).toMatchObject({ id: `srv-${sent.id}`, status: 'completed' })
    await expectInStepWith(open)
  }
})
