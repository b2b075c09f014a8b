import { expect, test } from 'vitest'
import { platformEnv } from '../../src/lib/env.ts'
import { KEY, proxy } from './proxied.ts'
import { failureIn } from './stage.ts'
import { upstream } from './upstream.ts'

test('a request goes to its upstream with the key added, and the answer comes back', async () => {
  const { url, heard } = await upstream((response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'r1' })
    response.end('{"ok":true}')
  })
  const { ask } = proxy(url)
  const response = await ask('/llm/openai/chat/completions', { headers: { accept: 'application/json' } })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(response.headers.get('x-request-id')).toBe('r1')
  expect(await response.json()).toEqual({ ok: true })
  expect(heard).toMatchObject([
    {
      method: 'POST',
      url: '/v1/chat/completions',
      body: '{"model":"small"}',
      headers: { authorization: `Bearer ${KEY}`, accept: 'application/json' },
    },
  ])
})

test.each([
  ['another path of the upstream', '/llm/openai/models', 404],
  ['a longer path', '/llm/openai/chat/completions/x', 404],
  ['a shorter path', '/llm/openai/chat', 404],
  ['no path', '/llm/openai', 404],
  ['an unknown upstream', '/llm/other/chat/completions', 404],
  ['a property of every object', '/llm/constructor/chat/completions', 404],
  ['a prototype', '/llm/__proto__/chat/completions', 404],
  ['another base', '/openai/chat/completions', 404],
  ['a way up', '/llm/openai/../openai/../../chat/completions', 404],
  ['a way up out of an open path', '/llm/openai/chat/completions/../../models', 404],
  ['an encoded way up', '/llm/openai/%2e%2e/admin', 404],
  ['an encoded way up behind an open path', '/llm/openai/chat/completions/%2e%2e/%2e%2e/models', 404],
  ['an encoded slash', '/llm/openai/chat%2fcompletions', 404],
  ['a doubly encoded slash', '/llm/openai/chat%252fcompletions', 404],
  ['a backslash', '/llm/openai/chat\\..\\..\\models', 404],
  ['another host', '/llm/openai//evil.test/chat/completions', 404],
  ['a whole URL', '/llm/openai/http://evil.test/chat/completions', 404],
  ['a user before the host', '/llm/openai@evil.test/chat/completions', 404],
  ['a NUL', '/llm/openai/chat/completions%00', 404],
  ['other letters', '/llm/openai/Chat/Completions', 404],
  ['a trailing slash', '/llm/openai/chat/completions/', 404],
  ['a query', '/llm/openai/chat/completions?key=x', 400],
])('%s does not get through', async (_, path, status) => {
  const { url, heard } = await upstream()
  const { ask } = proxy(url)
  expect(await failureIn(await ask(path))).toMatchObject({ status })
  expect(heard).toEqual([])
})

test.each(['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD'])(
  '%s does not get through where only POST is open',
  async (method) => {
    const { url, heard } = await upstream()
    const response = await proxy(url).ask('/llm/openai/chat/completions', { method, body: null })
    expect(response.status).toBe(405)
    expect(heard).toEqual([])
  },
)

test('what is open is open: other methods and query parameters', async () => {
  const { url, heard } = await upstream()
  const { ask } = proxy(url, { methods: ['GET'], paths: ['/models'], query: ['alt'] })
  expect((await ask('/llm/openai/models?alt=sse', { method: 'GET', body: null })).status).toBe(200)
  expect(heard).toMatchObject([{ method: 'GET', url: '/v1/models?alt=sse', body: '' }])
})

test('an id in a path is any id, and nothing but an id', async () => {
  const { url, heard } = await upstream()
  const open = { paths: ['/responses', '/responses/*', '/responses/*/cancel'], methods: ['GET', 'POST'] }
  const { ask } = proxy(url, { ...open, models: ['small'], query: ['stream'] })
  const get = { method: 'GET', body: null }
  await ask('/llm/openai/responses/resp_1-A?stream=true', get)
  await ask('/llm/openai/responses/resp_1/cancel', { body: '{}' })
  expect(heard.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET /v1/responses/resp_1-A?stream=true',
    'POST /v1/responses/resp_1/cancel',
  ])
  const shut = [
    '',
    '*',
    'resp.1',
    '%2e%2e',
    'resp%2f1',
    'resp_1/input_items',
    'resp_1/cancel/x',
    'r:1',
    'r;1',
    '..',
  ]
  for (const id of shut)
    expect((await ask(`/llm/openai/responses/${id}`, get)).status, id).toBeGreaterThanOrEqual(400)
  expect((await ask('/llm/openai/responses', { body: '{"model":"large"}' })).status).toBe(403)
  expect(heard).toHaveLength(2)
})

test("of a request only what is listed goes on, and never the caller's own secrets", async () => {
  const { url, heard } = await upstream()
  const { ask } = proxy(url, { forward: ['x-mine', 'cookie', 'authorization', 'x-api-key'] })
  const refused = {
    cookie: 'a=b',
    'x-api-key': 'mine',
    'proxy-authorization': 'mine',
    'x-forwarded-for': '1.2.3.4',
    forwarded: 'for=1.2.3.4',
    te: 'trailers',
    'x-other': 'stays',
  }
  const sent = { 'x-mine': 'goes', 'anthropic-version': '2023-06-01', 'idempotency-key': 'once' }
  await ask('/llm/openai/chat/completions', {
    headers: { ...refused, ...sent, authorization: 'Bearer mine' },
  })
  const headers: Record<string, unknown> = { ...heard[0]?.headers }
  expect(headers).toMatchObject({ ...sent, authorization: `Bearer ${KEY}` })
  for (const name of Object.keys(refused)) expect(headers[name], name).toBeUndefined()
})

test("of an answer's headers only what is listed comes back", async () => {
  const { url } = await upstream((response) => {
    response.writeHead(200, {
      'set-cookie': 'session=1',
      'x-api-key': 'theirs',
      authorization: 'theirs',
      'access-control-allow-origin': '*',
      location: 'http://evil.test',
      'x-ratelimit-remaining-tokens': '5',
      'retry-after': '1',
      'keep-alive': 'timeout=5',
      server: 'nginx',
      'clear-site-data': '"*"',
    })
    response.end('{}')
  })
  const response = await proxy(url).ask('/llm/openai/chat/completions')
  expect([...response.headers.keys()].sort()).toEqual([
    'cache-control',
    'date',
    'retry-after',
    'x-content-type-options',
    'x-ratelimit-remaining-tokens',
  ])
})

test('only listed models get through, whatever the body says twice or besides', async () => {
  const { url, heard } = await upstream()
  const { ask } = proxy(url, { models: ['small', 'smaller'] })
  const send = (body: string) => ask('/llm/openai/chat/completions', { body })
  for (const body of [
    '{"model":"large"}',
    '{"model":["small"]}',
    '{"model":"small ","x":1}',
    '{}',
    '{"model":"small","models":["small","large"]}',
    '{"model":"small","models":"large"}',
  ]) {
    expect(await failureIn(await send(body)), body).toMatchObject({
      status: 403,
      message: 'model: expected small or smaller',
    })
  }
  for (const body of ['[]', '"small"', 'null', 'not json', '']) {
    expect(await failureIn(await send(body)), body).toMatchObject({ status: 400 })
  }
  expect(heard).toEqual([])
  // Of two, the one that was checked is the one that is sent.
  expect((await send('{"model":"large","model":"small","messages":[]}')).status).toBe(200)
  expect((await send('{"model":"small","models":["smaller"]}')).status).toBe(200)
  expect(heard.map(({ body }) => body)).toEqual([
    '{"model":"small","messages":[]}',
    '{"model":"small","models":["smaller"]}',
  ])
})

test('a body that is too large is refused before the upstream hears of it', async () => {
  const { url, heard } = await upstream()
  const { ask } = proxy(url, {}, { limits: { body: 10 } })
  expect(await failureIn(await ask('/llm/openai/chat/completions'))).toMatchObject({ status: 413 })
  expect(heard).toEqual([])
})

test('no more requests are under way than allowed, and each that ends makes room', async () => {
  const { url } = await upstream((response) => {
    response.writeHead(200)
    response.write('x')
  })
  const { ask } = proxy(url, {}, { limits: { concurrent: 2 } })
  const path = '/llm/openai/chat/completions'
  const first = await ask(path)
  await ask(path)
  expect(await failureIn(await ask(path))).toMatchObject({ status: 429, code: 'rate-limit' })
  await first.body?.cancel()
  expect((await ask(path)).status).toBe(200)
  // Refused requests take no place.
  for (let times = 0; times < 3; times++) await ask('/llm/openai/nothing')
})

test('who asks too often, or is nobody, is refused', async () => {
  const { url, heard } = await upstream()
  const limits = { requests: { max: 1, per: 60_000 } }
  const authorize = (request: Request) => request.headers.get('authorization')
  const { ask } = proxy(url, {}, { limits, authorize })
  const path = '/llm/openai/chat/completions'
  expect(await failureIn(await ask(path))).toMatchObject({ status: 401, code: 'auth' })
  expect((await ask(path, { headers: { authorization: 'anna' } })).status).toBe(200)
  expect(await failureIn(await ask(path, { headers: { authorization: 'anna' } }))).toMatchObject({
    status: 429,
  })
  expect((await ask(path, { headers: { authorization: 'bert' } })).status).toBe(200)
  expect(heard).toHaveLength(2)
})

test('other origins are shut out unless they are let in', async () => {
  const { url } = await upstream()
  const headers = { origin: 'https://app.test', 'access-control-request-method': 'POST' }
  const closed = proxy(url)
  const path = '/llm/openai/chat/completions'
  expect((await closed.ask(path, { method: 'OPTIONS', body: null, headers })).status).toBe(403)
  const open = proxy(url, {}, { cors: { origins: ['https://app.test'], headers: ['anthropic-version'] } })
  const allowed = await open.ask(path, { method: 'OPTIONS', body: null, headers })
  expect(allowed.status).toBe(204)
  expect(allowed.headers.get('access-control-allow-headers')).toContain('anthropic-version')
  expect((await open.ask(path, { headers })).headers.get('access-control-allow-origin')).toBe(
    'https://app.test',
  )
})

test('a secret that fails to be had is a failure of the server, in no detail', async () => {
  const { url, heard } = await upstream()
  const { ask, errors } = proxy(url, {
    headers: async () => {
      await platformEnv.sleep(1)
      throw new Error(`vault says ${KEY}`)
    },
  })
  expect(await failureIn(await ask('/llm/openai/chat/completions'))).toEqual({
    status: 500,
    code: 'server',
    message: 'the server failed',
  })
  expect(errors).toHaveLength(1)
  expect(heard).toEqual([])
})
