import { expect, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { createHold, scriptedModel } from '../../src/testing/scripted-model.ts'
import { tool } from '../../src/turn/tool.ts'
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
} from './stage.ts'

const send = (ask: Stage['ask'], body: object, headers: Record<string, string> = {}) =>
  ask('POST', '/sessions/s1/messages', body, headers)

/** Ids along the selected branch, oldest first. */
async function branch(ask: Stage['ask']): Promise<string[]> {
  const { messages, session } = await pageOf(ask)
  const path: string[] = []
  for (let id = session?.headId ?? null; id !== null; ) {
    const message = messages.find((row) => row.id === id)
    path.unshift(message?.role === 'user' ? message.id : `${message?.role}:${message && textOf(message)}`)
    id = message?.parentId ?? null
  }
  return path
}

test('a message sent during a run waits, and is answered after it on the same branch', async () => {
  const { hold, release } = createHold()
  const model = scriptedModel([['one', { hold }], 'two', 'three'])
  const { ask } = stage({ model })
  await createSession(ask)
  await send(ask, sendBody('m1'))
  // The client knows nothing of the answer: it names the last message it has.
  const queued = await acceptedIn(await send(ask, sendBody('m2', 'm1')))
  expect(queued.message.status).toBe('completed')
  await send(ask, sendBody('m3', 'm2'))
  release()
  await feedUntil(ask, 'run-m3')
  expect(await branch(ask)).toEqual(['m1', 'assistant:one', 'm2', 'assistant:two', 'm3', 'assistant:three'])
  expect(model.calls.map(({ context }) => context.messages.map(textOf))).toEqual([
    ['say m1'],
    ['say m1', 'one', 'say m2'],
    ['say m1', 'one', 'say m2', 'two', 'say m3'],
  ])
})

test('two devices that answer the same message at once do not branch', async () => {
  const { hold, release } = createHold()
  const model = scriptedModel(['one', ['two', { hold }], 'three'])
  const { ask } = stage({ model })
  await createSession(ask)
  await send(ask, sendBody('m1'))
  await feedUntil(ask, 'run-m1')
  const parent = (await pageOf(ask)).session?.headId ?? null
  await send(ask, sendBody('m2', parent))
  await send(ask, sendBody('m3', 'm2'))
  await send(ask, sendBody('m4', 'm2'))
  release()
  await feedUntil(ask, 'run-m4')
  const path = await branch(ask)
  expect(path.filter((id) => id.startsWith('m'))).toEqual(['m1', 'm2', 'm3', 'm4'])
})

test('two devices that go on from the same answer at once, while the first of them is answered, do not branch either', async () => {
  const { hold, release } = createHold()
  const { ask } = stage({ model: scriptedModel(['one', [{ hold }, 'two'], 'three']) })
  await createSession(ask)
  await send(ask, sendBody('m1'))
  await feedUntil(ask, 'run-m1')
  const parent = (await pageOf(ask)).session?.headId ?? null
  await send(ask, sendBody('m2', parent))
  const other = await acceptedIn(await send(ask, sendBody('m3', parent)))
  expect(other.message.parentId).not.toBe(parent)
  release()
  await feedUntil(ask, 'run-m3')
  expect(await branch(ask)).toEqual(['m1', 'assistant:one', 'm2', 'assistant:two', 'm3', 'assistant:three'])
})

test('written offline, a chain of messages is one branch though each names the one before', async () => {
  const { ask } = stage({ model: scriptedModel((_, call) => `answer ${call + 1}`) })
  await createSession(ask)
  await send(ask, sendBody('m1'))
  await feedUntil(ask, 'run-m1')
  await send(ask, sendBody('m2', 'm1'))
  await feedUntil(ask, 'run-m2')
  expect(await branch(ask)).toEqual(['m1', 'assistant:answer 1', 'm2', 'assistant:answer 2'])
})

test('by whenBusy a message is refused during a run, and only then', async () => {
  const { hold, release } = createHold()
  const { ask } = stage({ model: scriptedModel([['one', { hold }], 'two']) })
  await createSession(ask)
  await send(ask, { ...sendBody('m1'), whenBusy: 'refuse' })
  const body = { ...sendBody('m2', 'm1'), whenBusy: 'refuse' }
  expect(await failureIn(await send(ask, body))).toEqual({
    status: 409,
    code: 'conflict',
    message: 'a run is in flight',
  })
  release()
  await feedUntil(ask, 'run-m1')
  expect((await send(ask, body)).status).toBe(202)
})

test('by whenBusy a message interrupts the run; what was said is kept and comes before it', async () => {
  const { ask } = stage({ model: scriptedModel([['one', { stall: true }], 'two']) })
  await createSession(ask)
  const first = await send(ask, sendBody('m1'), { accept: 'text/event-stream' })
  await eventsOf(first, ({ type }) => type === 'message.delta')
  await send(ask, { ...sendBody('m2', 'm1'), whenBusy: 'interrupt' })
  const events = await feedUntil(ask, 'run-m2')
  expect(events.map(({ event }) => event)).toContainEqual({
    type: 'run.finished',
    runId: 'run-m1',
    outcome: 'interrupted',
  })
  expect(await branch(ask)).toEqual(['m1', 'assistant:one', 'm2', 'assistant:two'])
  const [, partial] = (await pageOf(ask)).messages
  expect(partial).toMatchObject({ status: 'interrupted', stopReason: 'aborted' })
})

test('no more runs wait than the limit says', async () => {
  const { ask } = stage({ model: scriptedModel([['one', { stall: true }]]), limits: { queue: 2 } })
  await createSession(ask)
  for (const id of ['m1', 'm2', 'm3']) expect((await send(ask, sendBody(id))).status).toBe(202)
  expect(await failureIn(await send(ask, sendBody('m4')))).toMatchObject({ status: 429, code: 'rate-limit' })
})

test('tools run on the server, and what waits comes after all that the run writes', async () => {
  const add = tool({ name: 'add', parameters: { type: 'object' }, execute: (args) => JSON.stringify(args) })
  const { hold, release } = createHold()
  const calls = [1, 2].map((a) => ({ toolCall: { name: 'add', arguments: { a } } }))
  const { ask } = stage({ model: scriptedModel([[...calls, { hold }], 'done', 'two']), tools: [add] })
  await createSession(ask)
  const stream = await send(ask, sendBody('m1'), { accept: 'text/event-stream' })
  await eventsOf(stream, ({ type }) => type === 'message.delta')
  await send(ask, sendBody('m2', 'm1'))
  release()
  await feedUntil(ask, 'run-m2')
  const { messages } = await pageOf(ask)
  expect(messages.map(({ role, seq, status }) => [role, seq, status])).toEqual([
    ['user', 1, 'completed'],
    ['assistant', 2, 'completed'],
    ['user', 3, 'completed'],
    ['tool', 4, 'completed'],
    ['tool', 5, 'completed'],
    ['assistant', 6, 'completed'],
    ['assistant', 7, 'completed'],
  ])
  const path = await branch(ask)
  expect(path).toEqual([
    'm1',
    'assistant:',
    expect.stringMatching(/^tool:.*1/),
    expect.stringMatching(/^tool:.*2/),
    'assistant:done',
    'm2',
    'assistant:two',
  ])
})

test('an edit of what waits comes after all that the run writes, as what was edited does', async () => {
  const { hold, release } = createHold()
  const calls = [{ hold }, { toolCall: { id: 'c1', name: 'add', arguments: {} } }]
  const { ask } = stage({
    model: scriptedModel([calls, 'one', 'two', 'three']),
    tools: [tool({ name: 'add', parameters: {}, execute: () => 3 })],
  })
  await createSession(ask)
  await send(ask, sendBody('m1'))
  await send(ask, sendBody('m2', 'm1'))
  const content = [{ type: 'text', text: 'say m3' }]
  const edit = { id: 'c1', type: 'edit', messageId: 'm2', newId: 'm3', runId: 'run-m3', content }
  expect((await ask('POST', '/sessions/s1/commands', edit)).status).toBeLessThan(300)
  release()
  await feedUntil(ask, 'run-m3')
  expect(await branch(ask)).toEqual([
    'm1',
    'assistant:',
    'tool:{"ok":true,"data":3}',
    'assistant:one',
    'm3',
    'assistant:three',
  ])
})

test('what waits and is stopped before its turn comes after all that the run writes, too', async () => {
  const { hold, release } = createHold()
  const calls = [{ hold }, { toolCall: { id: 'c1', name: 'add', arguments: {} } }]
  const { ask } = stage({
    model: scriptedModel([calls, 'one']),
    tools: [tool({ name: 'add', parameters: {}, execute: () => 3 })],
  })
  await createSession(ask)
  await send(ask, sendBody('m1'))
  await send(ask, sendBody('m2', 'm1'))
  const cancel = { id: 'c1', type: 'cancel', runId: 'run-m2' }
  expect((await ask('POST', '/sessions/s1/commands', cancel)).status).toBeLessThan(300)
  release()
  await feedUntil(ask, 'run-m1')
  const results = ['assistant:', 'tool:{"ok":true,"data":3}', 'assistant:one']
  expect(await branch(ask)).toEqual(['m1', ...results, 'm2', 'assistant:'])
})
