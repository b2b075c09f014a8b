import { expect, test } from 'vitest'
import { createHold, scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  acceptedIn,
  createSession,
  eventsOf,
  failureIn,
  feedUntil,
  pageOf,
  type Stage,
  sendBody,
  stage,
  typesOf,
} from './stage.ts'

const send = (ask: Stage['ask'], body: object, headers: Record<string, string> = {}) =>
  ask('POST', '/sessions/s1/messages', body, headers)

test('the same key and body is one message, however often and at once', async () => {
  const model = scriptedModel(() => 'once')
  const { ask } = stage({ model })
  await createSession(ask)
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => send(ask, sendBody('m1'), { 'idempotency-key': 'm1' })),
  )
  const bodies = await Promise.all(answers.map(acceptedIn))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
  expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
  await feedUntil(ask, 'run-m1')
  expect(await acceptedIn(await send(ask, sendBody('m1')))).toMatchObject({ runId: 'run-m1' })
  expect((await pageOf(ask)).messages).toHaveLength(2)
  expect(model.calls).toHaveLength(1)
})

test('the order of keys in a body makes it no other body', async () => {
  const { ask } = stage()
  await createSession(ask)
  const { id, runId, parentId, content } = sendBody('m1')
  expect((await send(ask, { id, runId, parentId, content })).status).toBe(202)
  expect((await send(ask, { content, parentId, runId, id })).status).toBe(202)
})

test('what is null is absent', async () => {
  const { ask } = stage()
  await createSession(ask)
  const body = sendBody('m1')
  expect((await send(ask, { ...body, name: null, metadata: null, whenBusy: null })).status).toBe(202)
  expect((await send(ask, body)).status).toBe(202)
})

test('the same key with another body is refused', async () => {
  const { ask } = stage()
  await createSession(ask)
  await send(ask, sendBody('m1'))
  expect(await failureIn(await send(ask, sendBody('m1', null, 'else')))).toMatchObject({
    status: 409,
    code: 'conflict',
  })
  await createSession(ask, 's2')
  const elsewhere = await ask('POST', '/sessions/s2/messages', sendBody('m1'))
  expect(await failureIn(elsewhere)).toMatchObject({ status: 409, code: 'conflict' })
})

test('a run id stands for one run', async () => {
  const { ask } = stage()
  await createSession(ask)
  await send(ask, sendBody('m1'))
  expect(await failureIn(await send(ask, { ...sendBody('m2', 'm1'), runId: 'run-m1' }))).toEqual({
    status: 409,
    code: 'conflict',
    message: 'runId: run-m1 is in use',
  })
  await createSession(ask, 's2')
  const elsewhere = await ask('POST', '/sessions/s2/messages', { ...sendBody('m3'), runId: 'run-m1' })
  expect(await failureIn(elsewhere)).toMatchObject({ status: 409 })
})

test('a refused message leaves nothing behind', async () => {
  const { ask } = stage()
  await createSession(ask)
  const before = await pageOf(ask)
  await send(ask, sendBody('m1', 'nobody'))
  expect(await pageOf(ask)).toEqual(before)
  expect((await send(ask, sendBody('m1'))).status).toBe(202)
})

test('the answer may come as a stream, from the message to the end of its run', async () => {
  const { ask } = stage()
  await createSession(ask)
  await send(ask, sendBody('m1'))
  await feedUntil(ask, 'run-m1')
  const { messages } = await pageOf(ask)
  const parent = messages.at(-1)?.id ?? null
  const response = await send(ask, sendBody('m2', parent), { accept: 'text/event-stream' })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const events = await eventsOf(response)
  expect(events[0]?.event).toMatchObject({ type: 'message.created', message: { id: 'm2' } })
  expect(events.at(-1)?.event).toEqual({ type: 'run.finished', runId: 'run-m2', outcome: 'completed' })
})

test('a repeated send attaches to the run it started, in mid-answer and after it', async () => {
  const { hold, release } = createHold()
  const model = scriptedModel([['Hello', { hold }, ' there.']])
  const { ask } = stage({ model })
  await createSession(ask)
  const stream = { accept: 'text/event-stream' }
  const first = await send(ask, sendBody('m1'), stream)
  await eventsOf(await send(ask, sendBody('m1'), stream), ({ type }) => type === 'message.delta')
  const second = await send(ask, sendBody('m1'), stream)
  release()
  const [one, two] = await Promise.all([eventsOf(first), eventsOf(second)])
  const three = await eventsOf(await send(ask, sendBody('m1'), stream))
  expect(two).toEqual(one)
  expect(three).toEqual(one)
  expect(one.at(-1)?.event.type).toBe('run.finished')
})

test.each([
  ['no JSON', '{', 'the body is not JSON'],
  ['no object', '[]', 'body: expected object'],
  ['no id', { ...sendBody('m1'), id: undefined }, 'id: expected string'],
  [
    'a foreign id',
    { ...sendBody('m1'), id: 'a/b' },
    'id: expected 1 to 64 letters, digits, hyphens or underscores',
  ],
  ['no run', { ...sendBody('m1'), runId: undefined }, 'runId: expected string'],
  ['no parent', { ...sendBody('m1'), parentId: undefined }, 'parentId: expected string'],
  ['an unknown parent', sendBody('m1', 'nobody'), 'parentId: nobody is not in this session'],
  ['no content', { ...sendBody('m1'), content: [] }, 'content: expected at least one block'],
  ['an unknown block', { ...sendBody('m1'), content: [{ type: 'x' }] }, 'content.0.type: expected'],
  [
    'a block without its text',
    { ...sendBody('m1'), content: [{ type: 'text' }] },
    'content.0.text: expected string',
  ],
  ['an unknown whenBusy', { ...sendBody('m1'), whenBusy: 'x' }, 'whenBusy: expected "queue" or'],
  [
    'too many blocks',
    { ...sendBody('m1'), content: Array.from({ length: 101 }, () => ({ type: 'text', text: '' })) },
    'content: expected at most 100 blocks',
  ],
  [
    'a prototype',
    `{"id":"m1","runId":"r","parentId":null,"content":[{"type":"text","text":""}],"metadata":{"__proto__":{"x":1}}}`,
    'the body has a key named __proto__',
  ],
  [
    'too deep',
    { ...sendBody('m1'), metadata: JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) },
    'the body is nested deeper',
  ],
])('a message with %s is refused by the name of the field', async (_, body, message) => {
  const { ask } = stage()
  await createSession(ask)
  const failure = await failureIn(await ask('POST', '/sessions/s1/messages', body))
  expect(failure).toMatchObject({ status: 400, code: 'invalid-request' })
  expect(failure.message).toContain(message)
  // By this a client knows that the session has lost something, and reads it anew.
  expect(failure.field).toBe(message.endsWith('is not in this session') ? 'parentId' : undefined)
})

test("the key is the message's id", async () => {
  const { ask } = stage()
  await createSession(ask)
  expect(await failureIn(await send(ask, sendBody('m1'), { 'idempotency-key': 'm2' }))).toEqual({
    status: 400,
    code: 'invalid-request',
    message: 'idempotency-key: expected the id of the message',
  })
})

test('a model that fails fails the answer, and the run says so', async () => {
  const { ask, errors } = stage({ model: scriptedModel([['so far', { error: 'auth' }]]) })
  await createSession(ask)
  await send(ask, sendBody('m1'))
  const events = await feedUntil(ask, 'run-m1')
  expect(typesOf(events)).toContain('message.failed')
  expect(events.at(-1)?.event).toMatchObject({ outcome: 'failed' })
  const [, answer] = (await pageOf(ask)).messages
  expect(answer).toMatchObject({
    status: 'failed',
    error: { code: 'auth' },
    content: [{ type: 'text', text: 'so far' }],
  })
  expect(errors).toEqual([])
})
