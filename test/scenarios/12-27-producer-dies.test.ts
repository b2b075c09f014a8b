import { expect, test } from 'vitest'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { createHold, scriptedModel } from '../../src/testing/scripted-model.ts'
import { shown, statuses } from '../chat/direct-chat.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { temporaryFolder } from '../server/stage.ts'
import { expectInStep, openClient, watch } from './client.ts'
import { ended, pass, settle, startServer, truthOf, until } from './server.ts'

noStrayRejections()

const LEASE = 10_000

test('12: the producer dies in mid-answer: it is streaming until the lease is over, and then interrupted, with its text', async () => {
  const world = createWorld()
  const server = startServer({ world, lease: LEASE, model: scriptedModel(() => ['so far', { stall: true }]) })
  const client = openClient(server)
  const watched = watch(client)
  const sent = await client.session.send('one')
  await until(server, () => shown(client.session.get().messages).at(-1) === 'so far')
  const died = world.env.now()
  server.die()
  client.line.cut()
  server.start({ model: scriptedModel(['another']) })
  await pass(server, LEASE / 2)
  expect(statuses(client.session.get().messages)).toEqual(['user completed', 'assistant streaming'])
  const answer = await ended(server, sent.answer)
  expect(answer).toMatchObject({ status: 'interrupted', stopReason: 'aborted' })
  expect(shown([answer])).toEqual(['so far'])
  expect(world.env.now() - died).toBeLessThan(LEASE * 2)
  watched.expectTruthful()
  await ended(server, (await client.session.send('two')).answer)
  expect(shown(await expectInStep(client))).toEqual(['one', 'so far', 'two', 'another'])
})

test('27: a producer that was declared dead wakes and writes: nothing of it is stored or shown', async () => {
  const file = `${temporaryFolder()}/chat.db`
  const hold = createHold()
  const asleep = createWorld({ name: 'asleep' })
  // Its clock stands still: it renews nothing, and knows of nothing.
  const old = startServer({
    world: asleep,
    store: sqliteStore(file),
    lease: LEASE,
    batch: 0,
    model: scriptedModel(() => ['so far', hold, ', and on and on', ', to the end']),
  })
  const world = createWorld({ name: 'awake' })
  const server = startServer({
    world,
    store: sqliteStore(file),
    lease: LEASE,
    model: scriptedModel(['next']),
  })
  const body = { id: 'q', runId: 'r', parentId: null, content: [{ type: 'text', text: 'one' }] }
  await old.ask('POST', '/sessions', { id: 's' })
  await old.ask('POST', '/sessions/s/messages', body)
  for (let turn = 0; turn < 20; turn++) await asleep.pass(0)
  const client = openClient(server)
  const watched = watch(client)
  await until(server, () => statuses(client.session.get().messages).at(-1) === 'assistant interrupted')
  await ended(server, (await client.session.send('two')).answer)
  const before = await truthOf(server)
  hold.release()
  await asleep.pass(60_000)
  await settle(old)
  expect(await truthOf(server)).toEqual(before)
  expect(shown(await expectInStep(client))).toEqual(['one', 'so far', 'two', 'next'])
  watched.expectTruthful()
})
