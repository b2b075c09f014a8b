import { expect, test } from 'vitest'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { createHold, scriptedModel } from '../../src/testing/scripted-model.ts'
import { shown } from '../chat/direct-chat.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { eventsOf, temporaryFolder } from '../server/stage.ts'
import { expectInStep, openClient, watch } from './client.ts'
import { ended, type Server, startServer, truthOf, until } from './server.ts'

noStrayRejections()

const numbers = async (server: Server) => {
  const { eventId } = await truthOf(server)
  const feed = await server.ask('GET', '/sessions/s/events')
  const last = Number(eventId?.split('.')[0])
  let n = 0
  return (await eventsOf(feed, () => ++n === last, 's')).map(({ id }) => id?.n)
}

test('11: two instances commit at once: numbers have no hole, and no reader of either misses an event', async () => {
  const file = `${temporaryFolder()}/chat.db`
  const world = createWorld()
  const one = startServer({ world, store: sqliteStore(file) })
  const two = startServer({ world, store: sqliteStore(file) })
  const a = openClient(one, { name: 'a' })
  await ended(one, (await a.session.send('first')).answer)
  const b = openClient(two, { name: 'b' })
  await until(two, () => b.session.get().messages.length === 2)
  const watched = [watch(a), watch(b)]
  for (let round = 0; round < 3; round++) {
    const sent = await Promise.all([a.session.send(`a${round}`), b.session.send(`b${round}`)])
    // Notifications between the two are found by looking, in real time.
    for (const { answer } of sent) {
      let over = false
      void answer.then(() => {
        over = true
      })
      await expect
        .poll(
          () =>
            until(one, () => over, 0).then(
              () => over,
              () => over,
            ),
          { timeout: 20_000 },
        )
        .toBe(true)
    }
  }
  const { messages } = await truthOf(one)
  expect(messages.length).toBe(14)
  await expect.poll(() => b.session.get().messages.length, { timeout: 20_000 }).toBe(14)
  await expect.poll(() => a.session.get().messages.length, { timeout: 20_000 }).toBe(14)
  for (const client of [a, b]) expect((await expectInStep(client)).length).toBe(14)
  for (const { expectTruthful } of watched) expectTruthful()
  const all = await numbers(two)
  expect(all).toEqual(all.map((_, at) => at + 1))
})

test('11: a notification that is lost delays an event by a heartbeat at most', async () => {
  const store = sqliteStore(':memory:')
  const { log } = store
  const never: typeof log.wait = (_, __, signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  const world = createWorld()
  const server = startServer({ world, store, log: { ...log, wait: never }, heartbeat: 15_000 })
  const client = openClient(server)
  await client.session.send('one')
  const before = world.env.now()
  await until(server, () => client.session.get().messages.at(-1)?.status === 'completed')
  expect(world.env.now() - before).toBeLessThan(16_000)
  await expectInStep(client)
})

test('11: a subscriber that is attached late, in mid-run, has everything from its first event', async () => {
  const hold = createHold()
  const server = startServer({ model: scriptedModel(() => ['so far', hold, ', and the rest']) })
  const first = openClient(server, { name: 'first' })
  await first.session.send('one')
  await until(server, () => shown(first.session.get().messages).at(-1) === 'so far')
  const late = openClient(server, { name: 'late' })
  const watched = watch(late)
  await until(server, () => shown(late.session.get().messages).at(-1) === 'so far')
  expect(late.session.get().messages.at(-1)?.status).toBe('streaming')
  hold.release()
  await until(server, () => late.session.get().status === 'ready')
  watched.expectTruthful()
  for (const client of [first, late])
    expect(shown(await expectInStep(client))).toEqual(['one', 'so far, and the rest'])
})
