import { expect, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  command,
  createSession,
  failureIn,
  feedUntil,
  headOf,
  pageOf,
  type Stage,
  stage,
  turn,
} from './stage.ts'

async function answersOf(ask: Stage['ask'], parentId: string): Promise<string[]> {
  const { messages } = await pageOf(ask)
  return messages.filter((row) => row.parentId === parentId).map(textOf)
}

const numbered = () => scriptedModel((_, call) => `answer ${call + 1}`)

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
  expect(failure.field).toBe(message.endsWith('is not in this session') ? 'messageId' : undefined)
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
