import { expect, test } from 'vitest'
import { platformEnv } from '../../src/lib/env.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import { textOf } from '../../src/message/text.ts'
import { createChatHandler } from '../../src/server/chat/handler.ts'
import { sqliteStore } from '../../src/server/sqlite/store.ts'
import { createHold, scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  asker,
  createSession,
  eventsOf,
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
  expect.poll(async () => (await pageOf(ask)).messages.map(textOf)).toContain(text)

/** A clock that is set by hand; of its waits only the shortest end by themselves. */
function frozen() {
  const clock = { now: 1_000 }
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      if (ms < 20) platformEnv.sleep(ms, signal).then(resolve, reject)
      if (signal?.aborted) reject(signal.reason)
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
  return { clock, env: { now: () => clock.now, sleep } }
}

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

/** A clock that only moves when told, with everything that waits for it. */
function virtual(now = 1_000) {
  const clock = { now }
  const waiting = new Set<{ at: number; wake(): void }>()
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const wake = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const sleeper = { at: clock.now + ms, wake }
      const onAbort = () => {
        waiting.delete(sleeper)
        reject(signal?.reason)
      }
      if (signal?.aborted) return reject(signal.reason)
      signal?.addEventListener('abort', onAbort, { once: true })
      waiting.add(sleeper)
    })
  /** Lets time pass, and each waiter do what it waited for in its turn. */
  async function pass(ms: number): Promise<void> {
    const end = clock.now + ms
    for (;;) {
      const [next] = [...waiting].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (!next) break
      clock.now = Math.max(clock.now, next.at)
      waiting.delete(next)
      next.wake()
      await new Promise((resolve) => setImmediate(resolve))
    }
    clock.now = end
  }
  return { env: { now: () => clock.now, sleep }, pass }
}

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
  const two = stage({ lease: 80, env: { now: () => performance.now() } }, file)
  const events = await feedUntil(two.ask, 'run-m1')
  expect(events.at(-1)?.event).toMatchObject({ outcome: 'interrupted' })
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
  await expect.poll(() => errors).toContain(full)
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
