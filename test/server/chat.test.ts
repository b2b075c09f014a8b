import { expect, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { acceptedIn, createSession, feedUntil, pageOf, sendBody, stage, typesOf } from './stage.ts'

test('a message goes round: accepted, answered, told on the feed, and read back', async () => {
  const { ask, errors } = stage()
  await createSession(ask)
  const response = await ask('POST', '/sessions/s1/messages', sendBody('m1'), { 'idempotency-key': 'm1' })
  expect(response.status).toBe(202)
  const { message, runId } = await acceptedIn(response)
  expect(message).toMatchObject({ id: 'm1', role: 'user', status: 'completed', seq: 1, parentId: null })
  expect(runId).toBe('run-m1')
  const events = await feedUntil(ask, 'run-m1')
  expect(typesOf(events)).toEqual([
    'session.updated',
    'message.created',
    'session.updated',
    'run.started',
    'message.created',
    'session.updated',
    'message.started',
    'message.delta',
    'message.completed',
    'run.finished',
  ])
  expect(events.map(({ id }) => id?.n)).toEqual(events.map((_, at) => at + 1))
  const page = await pageOf(ask)
  expect(page.messages.map((row) => [row.role, row.status, row.seq, textOf(row)])).toEqual([
    ['user', 'completed', 1, 'say m1'],
    ['assistant', 'completed', 2, 'Hello there.'],
  ])
  expect(page.session?.headId).toBe(page.messages[1]?.id)
  expect(errors).toEqual([])
})
