import { expect, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { createHold, scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  createSession,
  eventsOf,
  eventually,
  failureIn,
  feedUntil,
  pageOf,
  type Stage,
  sendBody,
  stage,
  typesOf,
} from './stage.ts'

const command = (ask: Stage['ask'], body: object) => ask('POST', '/sessions/s1/commands', body)

async function turn(ask: Stage['ask'], id: string): Promise<string> {
  const parent = (await pageOf(ask)).session?.headId ?? null
  await ask('POST', '/sessions/s1/messages', sendBody(id, parent))
  await feedUntil(ask, `run-${id}`)
  return headOf(ask)
}

const headOf = async (ask: Stage['ask']): Promise<string> => (await pageOf(ask)).session?.headId ?? ''

async function answersOf(ask: Stage['ask'], parentId: string): Promise<string[]> {
  const { messages } = await pageOf(ask)
  return messages.filter((row) => row.parentId === parentId).map(textOf)
}

const numbered = () => scriptedModel((_, call) => `answer ${call + 1}`)

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

test('regenerate adds an answer beside the old one and shows it', async () => {
  const { ask } = stage({ model: numbered() })
  await createSession(ask)
  const first = await turn(ask, 'm1')
  const response = await command(ask, { id: 'c1', type: 'regenerate', messageId: first, runId: 'r2' })
  expect(response.status).toBe(202)
  await feedUntil(ask, 'r2')
  expect(await answersOf(ask, 'm1')).toEqual(['answer 1', 'answer 2'])
  const head = await headOf(ask)
  expect(head).not.toBe(first)
  // Also by the user message itself, and by any message of the turn.
  await command(ask, { id: 'c2', type: 'regenerate', messageId: 'm1', runId: 'r3' })
  await feedUntil(ask, 'r3')
  expect(await answersOf(ask, 'm1')).toEqual(['answer 1', 'answer 2', 'answer 3'])
})

test('what regenerate sends to the model ends before the old answer', async () => {
  const model = numbered()
  const { ask } = stage({ model })
  await createSession(ask)
  await turn(ask, 'm1')
  const second = await turn(ask, 'm2')
  await command(ask, { id: 'c1', type: 'regenerate', messageId: second, runId: 'r3' })
  await feedUntil(ask, 'r3')
  expect(model.calls.at(-1)?.context.messages.map(textOf)).toEqual(['say m1', 'answer 1', 'say m2'])
})

test('edit adds a question beside the old one, answered by a run of its own', async () => {
  const { ask } = stage({ model: numbered() })
  await createSession(ask)
  await turn(ask, 'm1')
  await turn(ask, 'm2')
  const { messages } = await pageOf(ask)
  const old = messages.find(({ id }) => id === 'm2')
  const content = [{ type: 'text', text: 'better' }]
  const body = { id: 'c1', type: 'edit', messageId: 'm2', newId: 'm2b', runId: 'r3', content }
  const response = await command(ask, body)
  expect(await response.json()).toMatchObject({
    runId: 'r3',
    message: { id: 'm2b', parentId: old?.parentId },
  })
  await feedUntil(ask, 'r3')
  expect(await answersOf(ask, 'm2b')).toEqual(['answer 3'])
  expect(await answersOf(ask, old?.parentId ?? '')).toEqual(['say m2', 'better'])
  // The old branch is still there.
  expect(await answersOf(ask, 'm2')).toEqual(['answer 2'])
})

test('selectBranch shows the branch through a message, down to its newest end', async () => {
  const { ask } = stage({ model: numbered() })
  await createSession(ask)
  const first = await turn(ask, 'm1')
  const second = await turn(ask, 'm2')
  await command(ask, { id: 'c1', type: 'regenerate', messageId: first, runId: 'r3' })
  await feedUntil(ask, 'r3')
  const third = await headOf(ask)
  const other = await turn(ask, 'm3')
  await command(ask, { id: 'c2', type: 'selectBranch', messageId: first })
  expect(await headOf(ask)).toBe(second)
  await command(ask, { id: 'c3', type: 'selectBranch', messageId: third })
  expect(await headOf(ask)).toBe(other)
  // What is shown already stays as it is.
  await command(ask, { id: 'c4', type: 'selectBranch', messageId: 'm1' })
  expect(await headOf(ask)).toBe(other)
})

test('a command takes effect once by its id, however often and at once', async () => {
  const model = numbered()
  const { ask } = stage({ model })
  await createSession(ask)
  const first = await turn(ask, 'm1')
  const body = { id: 'c1', type: 'regenerate', messageId: first, runId: 'r2' }
  const answers = await Promise.all(Array.from({ length: 6 }, () => command(ask, body)))
  expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1)
  await feedUntil(ask, 'r2')
  await command(ask, body)
  expect(await answersOf(ask, 'm1')).toHaveLength(2)
  expect(model.calls).toHaveLength(2)
  expect(await failureIn(await command(ask, { ...body, runId: 'r3' }))).toMatchObject({
    status: 409,
    code: 'conflict',
  })
})

test('a command and a message cannot have the same id', async () => {
  const { ask } = stage()
  await createSession(ask)
  await turn(ask, 'm1')
  expect(await failureIn(await command(ask, { id: 'm1', type: 'cancel', runId: 'r' }))).toMatchObject({
    status: 409,
  })
})

test.each([
  ['no type', {}, 'type: expected a known type'],
  ['an unknown type', { type: 'dance', callId: 'x' }, 'type: expected a known type'],
  ['no id', { id: undefined, type: 'cancel', runId: 'r' }, 'id: expected string'],
  ['no run to cancel', { type: 'cancel' }, 'runId: expected string'],
  [
    'nothing to regenerate',
    { type: 'regenerate', messageId: 'nobody', runId: 'r' },
    'messageId: nobody is not in this session',
  ],
  [
    'nothing to edit',
    { type: 'edit', messageId: 'nobody', newId: 'n', runId: 'r', content: [{ type: 'text', text: '' }] },
    'messageId: nobody is not in this session',
  ],
  [
    'nothing to say',
    { type: 'edit', messageId: 'm1', newId: 'n', runId: 'r', content: [] },
    'content: expected at least one block',
  ],
  [
    'nothing to show',
    { type: 'selectBranch', messageId: 'nobody' },
    'messageId: nobody is not in this session',
  ],
])('a command with %s is refused by the name of the field', async (_, body, message) => {
  const { ask } = stage()
  await createSession(ask)
  const failure = await failureIn(await command(ask, { id: 'c1', ...body }))
  expect(failure).toMatchObject({ status: 400, code: 'invalid-request' })
  expect(failure.message).toContain(message)
})

test('an answer cannot be edited', async () => {
  const { ask } = stage()
  await createSession(ask)
  const answer = await turn(ask, 'm1')
  const body = {
    id: 'c1',
    type: 'edit',
    messageId: answer,
    newId: 'n',
    runId: 'r',
    content: [{ type: 'text', text: 'x' }],
  }
  expect(await failureIn(await command(ask, body))).toMatchObject({
    status: 400,
    message: `messageId: ${answer} is not a user message`,
  })
})

test('going on from an answer makes one beside it, once', async () => {
  const model = scriptedModel((_, call) =>
    call === 0 ? ['so far', { error: 'auth' }] : `answer ${call + 1}`,
  )
  const { ask } = stage({ model })
  await createSession(ask)
  const half = await turn(ask, 'm1')
  const going = { id: 'c1', type: 'continue', messageId: half, runId: 'r2' }
  const first = await command(ask, going)
  expect(first.status).toBe(202)
  expect(await (await command(ask, going)).json()).toEqual(await first.json())
  await feedUntil(ask, 'r2')
  expect(await answersOf(ask, 'm1')).toEqual(['so far', 'so faranswer 2'])
  expect(await headOf(ask)).not.toBe(half)
})

test.each([
  ['m1', 400, 'invalid-request'],
  ['nobody', 400, 'invalid-request'],
])('nothing goes on from %s, which is no answer that was cut off', async (messageId, status, code) => {
  const { ask } = stage({ model: numbered() })
  await createSession(ask)
  await turn(ask, 'm1')
  const refused = await command(ask, { id: 'c1', type: 'continue', messageId, runId: 'r2' })
  expect(await failureIn(refused)).toMatchObject({ status, code })
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
