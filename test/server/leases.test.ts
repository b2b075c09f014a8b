import { expect, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { createHold, scriptedModel } from '../../src/testing/scripted-model.ts'
import { frozen, virtual } from './clocks.ts'
import {
  createSession,
  eventually,
  feedUntil,
  pageOf,
  type Stage,
  sendBody,
  stage,
  temporaryFolder,
  typesOf,
} from './stage.ts'

const send = (ask: Stage['ask'], id: string, parentId: string | null = null, headers = {}) =>
  ask('POST', '/sessions/s1/messages', sendBody(id, parentId), headers)

/** Waits until the answer has come as far as this. */
const spoken = (ask: Stage['ask'], text: string) =>
  eventually(async () => (await pageOf(ask)).messages.map(textOf)).toContain(text)

test('a run whose producer is gone is interrupted by whichever instance sees it', async () => {
  const file = `${temporaryFolder()}/chat.db`
  const dead = frozen()
  const one = stage({ model: scriptedModel([['so far', { stall: true }]]), env: dead.env, batch: 0 }, file)
  const alive = frozen()
  const two = stage({ env: alive.env }, file)
  await createSession(one.ask)
  await one.ask('POST', '/sessions/s1/messages', sendBody('m1'))
  await spoken(two.ask, 'so far')
  alive.clock.now += 9_999
  expect((await pageOf(two.ask)).messages[1]).toMatchObject({ status: 'streaming' })
  alive.clock.now += 2
  const page = await pageOf(two.ask)
  expect(page.messages[1]).toMatchObject({ status: 'interrupted', content: [{ text: 'so far' }] })
  expect(typesOf(await feedUntil(two.ask, 'run-m1')).slice(-2)).toEqual([
    'message.interrupted',
    'run.finished',
  ])
})

test('a producer that was declared dead and wakes again writes nothing', async () => {
  const file = `${temporaryFolder()}/chat.db`
  const { hold, release } = createHold()
  const dead = frozen()
  const one = stage(
    { model: scriptedModel([['so far', { hold }, ', and more'], 'two']), env: dead.env, batch: 0 },
    file,
  )
  const alive = frozen()
  const two = stage({ env: alive.env, model: scriptedModel(['the next']) }, file)
  await createSession(one.ask)
  await send(one.ask, 'm1')
  await spoken(two.ask, 'so far')
  alive.clock.now += 20_000
  await send(two.ask, 'm2', 'm1')
  await feedUntil(two.ask, 'run-m2')
  const before = await pageOf(two.ask)
  release()
  await one.chat.close()
  expect(await pageOf(two.ask)).toEqual(before)
  expect(before.messages.map(({ status }) => status)).toEqual([
    'completed',
    'interrupted',
    'completed',
    'completed',
  ])
  expect(one.errors).toEqual([])
})

test('a quiet run keeps its lease', async () => {
  const { hold, release } = createHold()
  const { env, pass } = virtual()
  const { ask, errors } = stage({ model: scriptedModel([[{ hold }, 'late']]), env })
  await createSession(ask)
  await send(ask, 'm1')
  await pass(600_000)
  expect(errors).toEqual([])
  expect((await pageOf(ask)).messages[1]).toMatchObject({ status: 'pending' })
  release()
  const events = await feedUntil(ask, 'run-m1')
  expect(events.at(-1)?.event).toMatchObject({ outcome: 'completed' })
})

test('at its start an instance ends what a dead one left, and begins what waits', async () => {
  const file = `${temporaryFolder()}/chat.db`
  const dead = frozen()
  const one = stage({ model: scriptedModel([['so far', { stall: true }]]), env: dead.env, batch: 0 }, file)
  await createSession(one.ask)
  await send(one.ask, 'm1')
  await spoken(one.ask, 'so far')
  await send(one.ask, 'm2', 'm1')
  const two = stage({ env: { now: () => 100_000 }, model: scriptedModel(['later']) }, file)
  await two.chat.start()
  await feedUntil(two.ask, 'run-m2')
  expect((await pageOf(two.ask)).messages.map(({ status }) => status)).toEqual([
    'completed',
    'interrupted',
    'completed',
    'completed',
  ])
})

test('an instance that lives on notices by itself that another one died', async () => {
  const file = `${temporaryFolder()}/chat.db`
  const dead = frozen()
  const one = stage(
    { model: scriptedModel([['so far', { stall: true }]]), env: dead.env, batch: 0, lease: 80 },
    file,
  )
  await createSession(one.ask)
  await send(one.ask, 'm1')
  await spoken(one.ask, 'so far')
  const two = stage({ lease: 80, env: { now: () => performance.now() } }, file)
  const events = await feedUntil(two.ask, 'run-m1')
  expect(events.at(-1)?.event).toMatchObject({ outcome: 'interrupted' })
})
