import { expect, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { createHold, scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  command,
  createSession,
  eventsOf,
  eventually,
  feedUntil,
  pageOf,
  sendBody,
  stage,
  turn,
  typesOf,
} from './stage.ts'

test('cancelling a run keeps what it said, as interrupted, and nothing more of it comes', async () => {
  const { ask } = stage({ model: scriptedModel([['so ', 'far', { stall: true }]]) })
  await createSession(ask)
  const stream = await ask('POST', '/sessions/s1/messages', sendBody('m1'), { accept: 'text/event-stream' })
  const live = eventsOf(stream)
  await eventually(async () => (await pageOf(ask)).messages.map(textOf)).toContain('so far')
  const response = await command(ask, { id: 'c1', type: 'cancel', runId: 'run-m1' })
  expect(response.status).toBe(202)
  expect(await response.json()).toMatchObject({ id: 'c1', type: 'cancel', runId: 'run-m1' })
  const events = await live
  expect(typesOf(events).slice(-2)).toEqual(['message.interrupted', 'run.finished'])
  expect(events.at(-1)?.event).toMatchObject({ outcome: 'interrupted' })
  const [, answer] = (await pageOf(ask)).messages
  expect(answer).toMatchObject({ status: 'interrupted', content: [{ type: 'text', text: 'so far' }] })
})

test('cancelling what has not been committed yet keeps it, too', async () => {
  const { ask } = stage({ model: scriptedModel([['never committed', { stall: true }]]), batch: 1e6 })
  await createSession(ask)
  const stream = await ask('POST', '/sessions/s1/messages', sendBody('m1'), { accept: 'text/event-stream' })
  await eventsOf(stream, ({ type }) => type === 'message.created')
  await eventually(async () => {
    await command(ask, { id: 'c1', type: 'cancel', runId: 'run-m1' })
    return (await pageOf(ask)).messages.at(1)?.status
  }).toBe('interrupted')
})

test('a cancelled run that waits never begins, and what waits behind it does', async () => {
  const { hold, release } = createHold()
  const { ask } = stage({ model: scriptedModel([['one', { hold }], 'three']) })
  await createSession(ask)
  for (const id of ['m1', 'm2', 'm3']) await ask('POST', '/sessions/s1/messages', sendBody(id))
  await command(ask, { id: 'c1', type: 'cancel', runId: 'run-m2' })
  release()
  const events = await feedUntil(ask, 'run-m3')
  const started = events.flatMap(({ event }) => (event.type === 'run.started' ? [event.runId] : []))
  expect(started).toEqual(['run-m1', 'run-m3'])
  expect(events.map(({ event }) => event)).toContainEqual({
    type: 'run.finished',
    runId: 'run-m2',
    outcome: 'interrupted',
  })
})

test('a run that is cancelled before it is known never starts', async () => {
  const model = scriptedModel(() => 'no')
  const { ask } = stage({ model })
  await createSession(ask)
  await command(ask, { id: 'c1', type: 'cancel', runId: 'run-m1' })
  const stream = await ask('POST', '/sessions/s1/messages', sendBody('m1'), { accept: 'text/event-stream' })
  const events = await eventsOf(stream)
  const said = ['message.created', 'session.updated']
  expect(typesOf(events)).toEqual([...said, ...said, 'run.finished'])
  expect(events.at(-1)?.event).toMatchObject({ outcome: 'interrupted' })
  expect(model.calls).toHaveLength(0)
  const silence = { role: 'assistant', parentId: 'm1', status: 'interrupted', content: [] }
  expect((await pageOf(ask)).messages).toMatchObject([{ id: 'm1', status: 'completed' }, silence])
  // And again: the same message, the same end.
  const again = await ask('POST', '/sessions/s1/messages', sendBody('m1'), { accept: 'text/event-stream' })
  expect(await eventsOf(again)).toEqual(events)
  const other = await ask('POST', '/sessions/s1/messages', { ...sendBody('m2'), runId: 'run-m1' })
  expect(other.status).toBe(409)
})

test('cancelling a run that has ended changes nothing', async () => {
  const { ask } = stage()
  await createSession(ask)
  await turn(ask, 'm1')
  const before = await pageOf(ask)
  expect((await command(ask, { id: 'c1', type: 'cancel', runId: 'run-m1' })).status).toBe(202)
  expect(await pageOf(ask)).toEqual(before)
})

test('going on from an answer, cancelled before anything was said, ends beside that answer', async () => {
  const { hold, release } = createHold()
  const steps = (_: unknown, call: number) =>
    call === 0 ? ['so far', { error: 'auth' as const }] : [{ hold }, { stall: true as const }]
  const { ask } = stage({ model: scriptedModel(steps) })
  await createSession(ask)
  const half = await turn(ask, 'm1')
  await command(ask, { id: 'c1', type: 'cancel', runId: 'r2' })
  await command(ask, { id: 'c2', type: 'continue', messageId: half, runId: 'r2' })
  await ask('POST', '/sessions/s1/messages', sendBody('m2', half))
  await command(ask, { id: 'c3', type: 'continue', messageId: half, runId: 'r3' })
  await command(ask, { id: 'c4', type: 'cancel', runId: 'r3' })
  release()
  const { messages } = await pageOf(ask)
  const ended = messages.filter((row) => row.role === 'assistant' && row.runId === 'r3')
  expect(ended).toMatchObject([{ parentId: 'm1', status: 'interrupted' }])
})
