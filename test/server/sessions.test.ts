import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { Session } from '../../src/message/schema.ts'
import {
  createSession,
  failureIn,
  feedUntil,
  pageOf,
  type Stage,
  sendBody,
  sessionIn,
  stage,
  typesOf,
} from './stage.ts'

const SessionList = z.object({ sessions: z.array(Session), hasMore: z.boolean() })

async function list(ask: Stage['ask'], query = '', headers: Record<string, string> = {}) {
  const { sessions, hasMore } = SessionList.parse(
    await (await ask('GET', `/sessions${query}`, undefined, headers)).json(),
  )
  return { ids: sessions.map(({ id }) => id), hasMore }
}

/** Everyone is who their header says. */
const accounts = { authorize: (request: Request) => request.headers.get('authorization') }
const as = (account: string) => ({ authorization: account })

test('a session is created once, under the id that the client brings', async () => {
  const { ask } = stage()
  const first = await ask('POST', '/sessions', { id: 's1', title: 'One', metadata: { a: 1 } })
  expect(first.status).toBe(201)
  const session = await sessionIn(first)
  expect(session).toMatchObject({ id: 's1', title: 'One', metadata: { a: 1 }, headId: null, rev: 1 })
  const again = await ask('POST', '/sessions', { id: 's1', title: 'Two' })
  expect(again.status).toBe(200)
  expect(await sessionIn(again)).toEqual(session)
})

test('a session without an id gets one', async () => {
  const { ask } = stage()
  const { id } = await sessionIn(await ask('POST', '/sessions', {}))
  expect((await ask('GET', `/sessions/${id}`)).status).toBe(200)
})

test('creating the same session at once makes one of it', async () => {
  const { ask } = stage()
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask('POST', '/sessions', { id: 's1' })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201])
})

test('title, metadata and head can be changed, and the feed tells of it', async () => {
  const { ask } = stage()
  await createSession(ask)
  await ask('POST', '/sessions/s1/messages', sendBody('m1'))
  const events = await feedUntil(ask, 'run-m1')
  const patched = await ask('PATCH', '/sessions/s1', { title: 'New', metadata: { b: 2 }, headId: 'm1' })
  expect(patched.status).toBe(200)
  const session = await sessionIn(patched)
  expect(session).toMatchObject({ title: 'New', metadata: { b: 2 }, headId: 'm1' })
  expect(await sessionIn(await ask('GET', '/sessions/s1'))).toEqual(session)
  const page = await pageOf(ask)
  expect(page.eventId).not.toBe(`${events.at(-1)?.id?.n}.${events.at(-1)?.id?.tag}`)
  // What is so already is no change.
  await ask('PATCH', '/sessions/s1', { title: 'New', headId: 'm1' })
  expect((await pageOf(ask)).eventId).toBe(page.eventId)
})

test('the head must be a message of the session', async () => {
  const { ask } = stage()
  await createSession(ask)
  expect(await failureIn(await ask('PATCH', '/sessions/s1', { headId: 'nobody' }))).toEqual({
    status: 400,
    code: 'invalid-request',
    message: 'headId: nobody is not in this session',
    field: 'headId',
  })
  expect((await ask('PATCH', '/sessions/s1', { headId: null })).status).toBe(200)
})

test('a deleted session is gone for everything but a repeated delete', async () => {
  const { ask } = stage()
  await createSession(ask)
  await ask('POST', '/sessions/s1/messages', sendBody('m1'))
  const events = await feedUntil(ask, 'run-m1')
  const last = events.at(-1)?.id
  const feed = await ask('GET', '/sessions/s1/events', undefined, {
    'last-event-id': `${last?.n}.${last?.tag}`,
  })
  expect((await ask('DELETE', '/sessions/s1')).status).toBe(204)
  const text = await feed.text()
  expect(text).toContain('event: session.deleted')
  expect(text.trimEnd().split('\n\n').at(-1)).toMatch(/^id: \d+\./)
  expect((await ask('DELETE', '/sessions/s1')).status).toBe(204)
  const requests = [
    ask('GET', '/sessions/s1'),
    ask('PATCH', '/sessions/s1', { title: 'x' }),
    ask('POST', '/sessions', { id: 's1' }),
    ask('GET', '/sessions/s1/messages'),
    ask('POST', '/sessions/s1/messages', sendBody('m2')),
    ask('GET', '/sessions/s1/events'),
    ask('POST', '/sessions/s1/commands', { id: 'c1', type: 'cancel', runId: 'r1' }),
  ]
  for (const request of requests) {
    expect(await failureIn(await request)).toMatchObject({ status: 410, code: 'not-found' })
  }
  expect(await list(ask)).toEqual({ ids: [], hasMore: false })
})

test('an unknown session is not found by any route', async () => {
  const { ask } = stage()
  const requests = [
    ask('GET', '/sessions/s1'),
    ask('PATCH', '/sessions/s1', { title: 'x' }),
    ask('DELETE', '/sessions/s1'),
    ask('GET', '/sessions/s1/messages'),
    ask('POST', '/sessions/s1/messages', sendBody('m1')),
    ask('GET', '/sessions/s1/events'),
    ask('POST', '/sessions/s1/commands', { id: 'c1', type: 'cancel', runId: 'r1' }),
  ]
  for (const request of requests) {
    expect(await failureIn(await request)).toMatchObject({ status: 404, code: 'not-found' })
  }
})

test('sessions are listed by what happened last, page by page', async () => {
  const { ask } = stage({ env: { now: () => 7 } })
  for (const id of ['a', 'b', 'c', 'd', 'e']) await createSession(ask, id)
  await ask('PATCH', '/sessions/b', { title: 'touched' })
  await ask('DELETE', '/sessions/d')
  expect(await list(ask)).toEqual({ ids: ['b', 'e', 'c', 'a'], hasMore: false })
  expect(await list(ask, '?limit=2')).toEqual({ ids: ['b', 'e'], hasMore: true })
  expect(await list(ask, '?limit=2&after=e')).toEqual({ ids: ['c', 'a'], hasMore: false })
  expect(await list(ask, '?after=d')).toEqual({ ids: ['b', 'e', 'c', 'a'].slice(-2), hasMore: false })
  expect(await failureIn(await ask('GET', '/sessions?after=x'))).toMatchObject({ status: 404 })
})

test("another account's sessions are not there, and their ids are taken", async () => {
  const { ask } = stage(accounts)
  await ask('POST', '/sessions', { id: 's1' }, as('anna'))
  await ask('POST', '/sessions/s1/messages', sendBody('m1'), as('anna'))
  const foreign = as('bert')
  expect(await failureIn(await ask('POST', '/sessions', { id: 's1' }, foreign))).toMatchObject({
    status: 409,
    code: 'conflict',
  })
  const requests = [
    ask('GET', '/sessions/s1', undefined, foreign),
    ask('PATCH', '/sessions/s1', { title: 'mine' }, foreign),
    ask('DELETE', '/sessions/s1', undefined, foreign),
    ask('GET', '/sessions/s1/messages', undefined, foreign),
    ask('POST', '/sessions/s1/messages', sendBody('m2'), foreign),
    ask('GET', '/sessions/s1/events', undefined, foreign),
    ask('POST', '/sessions/s1/commands', { id: 'c1', type: 'cancel', runId: 'run-m1' }, foreign),
  ]
  for (const request of requests) {
    expect(await failureIn(await request)).toMatchObject({ status: 404, code: 'not-found' })
  }
  expect(await list(ask, '', foreign)).toEqual({ ids: [], hasMore: false })
  expect(await list(ask, '', as('anna'))).toEqual({ ids: ['s1'], hasMore: false })
  expect(await failureIn(await ask('GET', '/sessions?after=s1', undefined, foreign))).toMatchObject({
    status: 404,
  })
})

test('two accounts may use the same message, run and command ids', async () => {
  const { ask } = stage(accounts)
  for (const account of ['anna', 'bert']) {
    await ask('POST', '/sessions', { id: account }, as(account))
    const sent = await ask('POST', `/sessions/${account}/messages`, sendBody('m1'), as(account))
    expect(sent.status).toBe(202)
    const command = { id: 'c1', type: 'cancel', runId: 'other' }
    expect((await ask('POST', `/sessions/${account}/commands`, command, as(account))).status).toBe(202)
  }
})

test('the first event of a session is the session', async () => {
  const { ask } = stage()
  const session = await createSession(ask)
  await ask('POST', '/sessions/s1/messages', sendBody('m1'))
  const [first] = await feedUntil(ask, 'run-m1')
  expect(first?.event).toEqual({ type: 'session.updated', session })
  expect(typesOf(first ? [first] : [])).toEqual(['session.updated'])
})
