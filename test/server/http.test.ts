import { request as nodeRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { expect, onTestFinished, test } from 'vitest'
import type { ChatHandlerOptions } from '../../src/server/chat/options.ts'
import { createHold, scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  createSession,
  eventsOf,
  eventually,
  failureIn,
  pageOf,
  type Stage,
  sendBody,
  stage,
  typesOf,
} from './stage.ts'

/** A chat handler behind a real port. */
async function listen(options: Partial<ChatHandlerOptions> = {}): Promise<Stage & { url: string }> {
  const given = stage(options)
  const url = await new Promise<string>((resolve) => {
    const server = serve(
      { fetch: (request) => given.chat.fetch(request), port: 0, hostname: '127.0.0.1' },
      (info: AddressInfo) => resolve(`http://127.0.0.1:${info.port}`),
    )
    onTestFinished(() => {
      server.close()
    })
  })
  const ask: Stage['ask'] = (method, path, body, headers = {}) =>
    fetch(url + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  return { ...given, ask, url }
}

test('over real HTTP an answer streams while it is made', async () => {
  const { hold, release } = createHold()
  const { ask } = await listen({ model: scriptedModel([['one', { hold }, ' two']]) })
  await createSession(ask)
  const response = await ask('POST', '/sessions/s1/messages', sendBody('m1'), { accept: 'text/event-stream' })
  expect(response.headers.get('cache-control')).toBe('no-store, no-transform')
  // Only once the first part has been read does the model say the second.
  const events = await eventsOf(response, ({ type }) => type === 'message.delta')
  release()
  const again = await ask('POST', '/sessions/s1/messages', sendBody('m1'), { accept: 'text/event-stream' })
  const all = await eventsOf(again)
  expect(all.slice(0, events.length)).toEqual(events)
  expect(typesOf(all).at(-1)).toBe('run.finished')
})

test('over real HTTP a reader that leaves gives its place back', async () => {
  const { ask } = await listen({ limits: { feeds: 1 } })
  await createSession(ask)
  const first = await ask('GET', '/sessions/s1/events')
  expect((await ask('GET', '/sessions/s1/events')).status).toBe(429)
  await first.body?.cancel()
  await eventually(async () => {
    const next = await ask('GET', '/sessions/s1/events')
    await next.body?.cancel()
    return next.status
  }).toBe(200)
})

test('over real HTTP a body that is too large is refused, announced or not', async () => {
  const { ask, url } = await listen({ limits: { body: 1000 } })
  await createSession(ask)
  const long = sendBody('m1', null, 'x'.repeat(2000))
  expect(await failureIn(await ask('POST', '/sessions/s1/messages', long))).toMatchObject({
    status: 413,
    code: 'invalid-request',
  })
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const request = nodeRequest(
      `${url}/sessions/s1/messages`,
      { method: 'POST', headers: { 'content-type': 'application/json' } },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      },
    )
    request.on('error', reject)
    // In chunks, without a length.
    for (let at = 0; at < 20; at++) request.write(' '.repeat(100))
    request.end('{}')
  })
  expect(status).toBe(413)
  expect((await pageOf(ask)).messages).toEqual([])
})

test('who is nobody gets nothing', async () => {
  const { ask } = stage({ authorize: () => null })
  for (const [method, path] of [
    ['GET', '/sessions'],
    ['GET', '/sessions/s1'],
    ['GET', '/nothing'],
  ] as const) {
    expect(await failureIn(await ask(method, path))).toEqual({
      status: 401,
      code: 'auth',
      message: 'not authorised',
    })
  }
})

test('a failure of the app is told to the operator, and to nobody else', async () => {
  const secret = new Error('password is 1234')
  const { ask, errors } = stage({
    authorize: () => {
      throw secret
    },
  })
  expect(await failureIn(await ask('GET', '/sessions'))).toEqual({
    status: 500,
    code: 'server',
    message: 'the server failed',
  })
  expect(errors).toEqual([secret])
})

test.each([
  ['GET', '/', 404],
  ['GET', '/nothing', 404],
  ['GET', '/sessions/', 404],
  ['GET', '/sessions/s1/messages/m1', 404],
  ['PUT', '/sessions/s1', 405],
  ['DELETE', '/sessions', 405],
  ['POST', '/sessions/s1/events', 405],
  ['GET', '/sessions/s1/commands', 405],
  ['GET', '/sessions/a.b', 400],
  ['GET', '/sessions/%2e%2e', 404],
  ['GET', '/sessions/a%2Fb', 400],
  ['GET', `/sessions/${'a'.repeat(65)}`, 400],
])('%s %s is answered with %i', async (method, path, status) => {
  const { ask } = stage()
  const response = await ask(method, path)
  expect(response.status).toBe(status)
  expect((await failureIn(response)).status).toBe(status)
  expect(response.headers.get('allow') === null).toBe(status !== 405)
})

test('a form of another site is not taken for JSON', async () => {
  const { ask } = stage()
  const response = await ask('POST', '/sessions', '{"id":"s1"}', { 'content-type': 'text/plain' })
  expect(await failureIn(response)).toMatchObject({
    status: 415,
    message: 'content-type: expected application/json',
  })
})

test('below a base path nothing else is answered', async () => {
  const { ask } = stage({ basePath: '/api/chat' })
  expect((await ask('POST', '/api/chat/sessions', { id: 's1' })).status).toBe(201)
  expect((await ask('GET', '/sessions/s1')).status).toBe(404)
  expect((await ask('GET', '/api/chat/sessions/s1')).status).toBe(200)
})

test('an account that asks too often is told how long to wait', async () => {
  const { ask } = stage({
    limits: { requests: { max: 2, per: 10_000 } },
    authorize: (request) => request.headers.get('authorization'),
    env: { now: () => 0 },
  })
  const anna = { authorization: 'anna' }
  expect((await ask('GET', '/sessions', undefined, anna)).status).toBe(200)
  expect((await ask('GET', '/sessions', undefined, anna)).status).toBe(200)
  const refused = await ask('GET', '/sessions', undefined, anna)
  expect(refused.headers.get('retry-after')).toBe('5')
  expect(await failureIn(refused)).toMatchObject({ status: 429, code: 'rate-limit' })
  expect((await ask('GET', '/sessions', undefined, { authorization: 'bert' })).status).toBe(200)
})

const origin = { origin: 'https://app.test' }
const preflight = { ...origin, 'access-control-request-method': 'POST' }

test('other origins are shut out unless they are let in', async () => {
  const closed = stage()
  expect((await closed.ask('OPTIONS', '/sessions', undefined, preflight)).status).toBe(403)
  const answer = await closed.ask('GET', '/sessions', undefined, origin)
  expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])

  const open = stage({ cors: { origins: ['https://app.test'], credentials: true } })
  const allowed = await open.ask('OPTIONS', '/sessions', undefined, preflight)
  expect(allowed.status).toBe(204)
  expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.test')
  expect(allowed.headers.get('access-control-allow-credentials')).toBe('true')
  expect(allowed.headers.get('access-control-allow-methods')).toBe('GET, POST, PATCH, DELETE')
  for (const name of [
    'idempotency-key',
    'last-event-id',
    'traceparent',
    'content-type',
    'authorization',
    'accept',
  ]) {
    expect(allowed.headers.get('access-control-allow-headers')).toContain(name)
  }
  const read = await open.ask('GET', '/sessions', undefined, origin)
  expect(read.headers.get('access-control-allow-origin')).toBe('https://app.test')
  expect(read.headers.get('vary')).toBe('origin')
  expect(read.headers.get('access-control-expose-headers')).toContain('tidemark-heartbeat')
  const other = await open.ask('GET', '/sessions', undefined, { origin: 'https://evil.test' })
  expect(other.headers.get('access-control-allow-origin')).toBeNull()
  expect((await open.ask('OPTIONS', '/sessions', undefined, { ...preflight, origin: 'null' })).status).toBe(
    403,
  )
})

test('an error can be read from another origin, too', async () => {
  const { ask } = stage({ cors: { origins: '*' } })
  const response = await ask('GET', '/sessions/s1', undefined, origin)
  expect(response.status).toBe(404)
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  expect(response.headers.get('access-control-allow-credentials')).toBeNull()
})
