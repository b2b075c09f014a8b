import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { platformEnv } from '../../src/lib/env.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import { Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { createChatHandler } from '../../src/server/chat/handler.ts'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { createHold, scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  asker,
  createSession,
  eventsOf,
  eventually,
  failureIn,
  feedUntil,
  pageOf,
  type Stage,
  sendBody,
  stage,
  temporaryFolder,
  typesOf,
} from './stage.ts'

const stream = { accept: 'text/event-stream' }
const send = (ask: Stage['ask'], id: string, parentId: string | null = null, headers = {}) =>
  ask('POST', '/sessions/s1/messages', sendBody(id, parentId), headers)

/** Waits until the answer has come as far as this. */
const spoken = (ask: Stage['ask'], text: string) =>
  eventually(async () => (await pageOf(ask)).messages.map(textOf)).toContain(text)

test('a reader that leaves does not stop the run', async () => {
  const { hold, release } = createHold()
  const { ask } = stage({ model: scriptedModel([['one', { hold }, ' two']]) })
  await createSession(ask)
  const response = await send(ask, 'm1', null, stream)
  await eventsOf(response, ({ type }) => type === 'message.delta')
  release()
  await feedUntil(ask, 'run-m1')
  expect((await pageOf(ask)).messages[1]).toMatchObject({
    status: 'completed',
    content: [{ text: 'one two' }],
  })
})

test('closing ends feeds, keeps partial answers as interrupted, and refuses what comes later', async () => {
  const store = sqliteStore(':memory:')
  const { ask, chat, errors } = stage({ store, model: scriptedModel([['so far', { stall: true }], 'two']) })
  await createSession(ask)
  await send(ask, 'm1')
  await send(ask, 'm2', 'm1')
  await spoken(ask, 'so far')
  const feed = eventsOf(await ask('GET', '/sessions/s1/events'))
  await chat.close()
  await feed
  expect(await failureIn(await ask('GET', '/sessions/s1'))).toMatchObject({ status: 503, code: 'server' })
  expect(errors).toEqual([])
  // Another one goes on: what waited is answered.
  const next = stage({ store, model: scriptedModel(['later']) })
  const events = await feedUntil(next.ask, 'run-m2')
  expect(events.map(({ event }) => event)).toContainEqual({
    type: 'run.finished',
    runId: 'run-m1',
    outcome: 'interrupted',
  })
  expect((await pageOf(next.ask)).messages[1]).toMatchObject({
    status: 'interrupted',
    content: [{ text: 'so far' }],
  })
})

test('deleting a session stops its run', async () => {
  const model = scriptedModel([['so far', { stall: true }]])
  const { ask, errors, chat } = stage({ model })
  await createSession(ask)
  const live = eventsOf(await send(ask, 'm1', null, stream))
  await spoken(ask, 'so far')
  await ask('DELETE', '/sessions/s1')
  expect(typesOf(await live).at(-1)).toBe('session.deleted')
  await chat.close()
  expect(errors).toEqual([])
})

test('a store that fails ends the run, and the operator hears why', async () => {
  const store = sqliteStore(':memory:')
  const full = new TidemarkError('quota', 'the disk is full')
  let broken = false
  const transact: typeof store.transact = (...given) =>
    broken ? Promise.reject(full) : store.transact(...given)
  const { hold, release } = createHold()
  const { ask, errors } = stage({
    store: { ...store, transact },
    model: scriptedModel([['a', { hold }, 'b']]),
  })
  await createSession(ask)
  await send(ask, 'm1')
  await spoken(ask, 'a')
  broken = true
  release()
  await eventually(() => errors).toContain(full)
  expect(await failureIn(await ask('PATCH', '/sessions/s1', { title: 'x' }))).toMatchObject({
    status: 507,
    code: 'quota',
  })
  broken = false
})

test('many sessions run at once, one run each', async () => {
  let running = 0
  let most = 0
  const model = scriptedModel(() => 'one two three', {
    chunkSize: 3,
    pace: async () => {
      most = Math.max(most, ++running)
      await platformEnv.sleep(1)
      running--
    },
  })
  const { ask } = stage({ model })
  const ids = Array.from({ length: 10 }, (_, at) => `s${at}`)
  await Promise.all(
    ids.map(async (id) => {
      await createSession(ask, id)
      for (const n of [1, 2, 3]) await ask('POST', `/sessions/${id}/messages`, sendBody(`${id}-${n}`))
      await feedUntil(ask, `run-${id}-3`, undefined, id)
    }),
  )
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(10)
})

test('work that outlives the answer is handed to the platform', async () => {
  const store = sqliteStore(':memory:')
  const chat = createChatHandler({ store, model: scriptedModel(['done']) })
  const ask = asker(chat)
  await createSession(ask)
  const work: Promise<unknown>[] = []
  const body = JSON.stringify(sendBody('m1'))
  const headers = { 'content-type': 'application/json' }
  await chat.fetch(new Request('http://chat.test/sessions/s1/messages', { method: 'POST', body, headers }), {
    waitUntil: (promise) => work.push(promise),
  })
  expect(work).toHaveLength(1)
  await work[0]
  expect((await pageOf(ask)).messages[1]).toMatchObject({ status: 'completed' })
  await chat.close()
  await store.close()
})
test('a long answer is written into its row now and then, not with each delta', async () => {
  const file = `${temporaryFolder()}/chat.db`
  const { hold, release } = createHold()
  const text = 'x'.repeat(300)
  const model = scriptedModel([[text, { hold }]], { chunkSize: 1, pace: () => platformEnv.sleep(0) })
  const { ask } = stage({ model, batch: 0 }, file)
  await createSession(ask)
  await send(ask, 'm1')
  await spoken(ask, text)
  const db = new Sqlite(file, { readonly: true })
  const row = db
    .prepare<[], { folded: number; data: string }>('select folded, data from messages where unsettled = 1')
    .get()
  const deltas = db.prepare('select count(*) from events where message is not null').pluck().get()
  db.close()
  const written = Message.parse(JSON.parse(row?.data ?? ''))
  expect(textOf(written).length).toBeGreaterThan(0)
  expect(textOf(written).length).toBeLessThan(300)
  expect(Number(deltas)).toBeGreaterThan(128)
  release()
  await feedUntil(ask, 'run-m1')
  expect((await pageOf(ask)).messages.map(textOf)).toEqual(['say m1', text])
})
