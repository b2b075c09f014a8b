import { expect, test } from 'vitest'
import { KEY, proxy } from './proxied.ts'
import { eventually, failureIn } from './stage.ts'
import { upstream } from './upstream.ts'

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
  await eventually(() => heard.length).toBe(1)
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
