import { expect, test } from 'vitest'
import { platformEnv } from '../../src/lib/env.ts'
import { createProxyHandler } from '../../src/server/proxy/handler.ts'
import type { ProxyHandlerOptions, Upstream } from '../../src/server/proxy/options.ts'
import { failureIn } from './stage.ts'
import { upstream } from './upstream.ts'

const KEY = 'sk-secret-0123456789'
const ORIGIN = 'http://proxy.test'

function proxy(baseURL: string, own: Partial<Upstream> = {}, options: Partial<ProxyHandlerOptions> = {}) {
  const errors: unknown[] = []
  const handler = createProxyHandler({
    basePath: '/llm',
    upstreams: {
      openai: {
        baseURL: `${baseURL}/v1`,
        headers: () => ({ authorization: `Bearer ${KEY}` }),
        paths: ['/chat/completions'],
        ...own,
      },
    },
    onError: (error) => errors.push(error),
    ...options,
  })
  const ask = (path: string, init: RequestInit = {}) =>
    handler.fetch(
      new Request(ORIGIN + path, {
        method: 'POST',
        body: '{"model":"small"}',
        ...init,
        headers: { 'content-type': 'application/json', ...init.headers },
      }),
    )
  return { ask, errors, handler }
}

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

test("the caller's own secrets and the line's own headers stay here, both ways", async () => {
  const { url, heard } = await upstream((response) => {
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
  const { ask } = proxy(url, { forward: ['x-mine', 'cookie', 'authorization', 'x-api-key'] })
  const response = await ask('/llm/openai/chat/completions', {
    headers: {
      authorization: 'Bearer mine',
      cookie: 'a=b',
      'x-api-key': 'mine',
      'proxy-authorization': 'mine',
      'x-forwarded-for': '1.2.3.4',
      forwarded: 'for=1.2.3.4',
      te: 'trailers',
      'x-mine': 'goes',
      'x-other': 'stays',
      'anthropic-version': '2023-06-01',
      traceparent: '00-1-1-01',
    },
  })
  const headers: Record<string, unknown> = { ...heard[0]?.headers }
  expect(headers).toMatchObject({
    authorization: `Bearer ${KEY}`,
    'x-mine': 'goes',
    'anthropic-version': '2023-06-01',
    traceparent: '00-1-1-01',
  })
  for (const name of [
    'cookie',
    'x-api-key',
    'proxy-authorization',
    'x-forwarded-for',
    'forwarded',
    'te',
    'x-other',
  ]) {
    expect(headers[name], name).toBeUndefined()
  }
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

test("an upstream's error comes as it is, but never with the key in it", async () => {
  const { url } = await upstream((response) => {
    response.writeHead(401, { 'content-type': 'application/json', 'x-request-id': `for ${KEY}` })
    response.write(`{"error":{"message":"Incorrect API key provided: ${KEY.slice(0, 7)}`)
    setImmediate(() => response.end(`${KEY.slice(7)}. Authorization was Bearer ${KEY}"}}`))
  })
  const { ask, errors } = proxy(url)
  const response = await ask('/llm/openai/chat/completions')
  expect(response.status).toBe(401)
  expect(response.headers.get('x-request-id')).toBe('for [redacted]')
  expect(await response.json()).toEqual({
    error: { message: 'Incorrect API key provided: [redacted]. Authorization was Bearer [redacted]' },
  })
  expect(errors).toEqual([])
})

test('a redirect is not followed: the key stays here', async () => {
  const other = await upstream()
  const { url } = await upstream((response) => {
    response.writeHead(307, { location: `${other.url}/v1/chat/completions` })
    response.end()
  })
  const response = await proxy(url).ask('/llm/openai/chat/completions')
  expect(await failureIn(response)).toEqual({
    status: 502,
    code: 'network',
    message: 'the upstream answered with a redirect',
  })
  expect(response.headers.get('location')).toBeNull()
  expect(other.heard).toEqual([])
})

test('an upstream that cannot be reached is a network error, and only the operator hears why', async () => {
  const failure = new TypeError(`fetch failed for ${KEY}`, { cause: new Error(`refused, ${KEY}`) })
  const { ask, errors } = proxy('http://127.0.0.1:1', {}, { fetch: () => Promise.reject(failure) })
  const response = await ask('/llm/openai/chat/completions')
  expect(await failureIn(response)).toEqual({
    status: 502,
    code: 'network',
    message: 'the upstream cannot be reached',
  })
  expect(errors).toHaveLength(1)
  expect(String(errors[0])).toContain('refused')
  expect(String(errors[0])).not.toContain(KEY)
  expect(JSON.stringify(errors[0])).not.toContain(KEY)
})

test('over a real refused connection, too', async () => {
  const { ask } = proxy('http://127.0.0.1:1')
  expect(await failureIn(await ask('/llm/openai/chat/completions'))).toMatchObject({
    status: 502,
    code: 'network',
  })
})

test('a stream passes unbuffered', async () => {
  let next = () => {}
  const { url } = await upstream((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: one\n\n')
    next = () => response.end('data: two\n\n')
  })
  const response = await proxy(url).ask('/llm/openai/chat/completions')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  const reader = response.body?.getReader()
  const decode = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)
  // The upstream has not said the second yet.
  expect(decode((await reader?.read())?.value)).toBe('data: one\n\n')
  next()
  expect(decode((await reader?.read())?.value)).toBe('data: two\n\n')
  expect((await reader?.read())?.done).toBe(true)
})

test('a client that leaves in mid-stream ends the request to the upstream', async () => {
  const { url, heard } = await upstream((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: one\n\n')
  })
  const response = await proxy(url).ask('/llm/openai/chat/completions')
  const reader = response.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  await heard[0]?.left
})

test('a client that leaves before the answer ends the request to the upstream', async () => {
  const { url, heard } = await upstream(() => undefined)
  const client = new AbortController()
  const { ask, errors } = proxy(url)
  const asked = ask('/llm/openai/chat/completions', { signal: client.signal })
  await expect.poll(() => heard.length).toBe(1)
  client.abort()
  await heard[0]?.left
  expect((await asked).status).toBe(499)
  expect(errors).toEqual([])
})

test('an upstream that is silent too long is given up', async () => {
  const { url, heard } = await upstream(() => undefined)
  const { ask } = proxy(url, {}, { limits: { firstByte: 20 } })
  expect(await failureIn(await ask('/llm/openai/chat/completions'))).toMatchObject({
    status: 504,
    code: 'timeout',
  })
  await heard[0]?.left
})

test('an upstream that is lost in mid-stream is lost for the client, too', async () => {
  const { url } = await upstream((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: one\n\n')
    setImmediate(() => response.destroy())
  })
  const { ask, errors } = proxy(url)
  const response = await ask('/llm/openai/chat/completions')
  await expect(response.text()).rejects.toMatchObject({ code: 'network' })
  expect(errors).toMatchObject([{ code: 'network' }])
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
