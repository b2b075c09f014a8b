import { describe, expect, test } from 'vitest'
import { TidemarkError } from '../../src/lib/errors.ts'
import { modelServer } from './model-server.ts'
import { context, lastOf, modelStage, piece, SSE } from './model-stage.ts'

const KEY = 'sk-very-secret-key'
const stage = modelStage()

describe('a call that fails says so in its last event', () => {
  test('with the code and the words of the provider, its request id and when to try again', async () => {
    const server = await stage.serve((response) =>
      response
        .writeHead(429, { 'retry-after': '7', 'x-request-id': 'req_1' })
        .end('{"error":{"message":"slow down","code":"rate_limit_exceeded"}}'),
    )
    expect(await lastOf(stage.modelOf(server.url).stream(context))).toEqual({
      type: 'error',
      reason: 'error',
      error: {
        code: 'rate-limit',
        message: 'slow down (rate_limit_exceeded)',
        status: 429,
        retryAfter: 7_000,
        requestId: 'req_1',
        provider: 'p',
      },
      message: { role: 'assistant', content: [], provider: 'p', stopReason: 'error' },
    })
  })

  test.each([
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1_500],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': new Date(1_005_000).toUTCString() }, 5_000],
    [{ 'retry-after': new Date(0).toUTCString() }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('waits as %j asks', async (headers, expected) => {
    const server = await stage.serve((response) => response.writeHead(503, headers).end())
    const last = await lastOf(stage.modelOf(server.url).stream(context))
    expect(last?.type === 'error' && last.error.retryAfter).toBe(expected)
  })

  test('network, where nobody is there', async () => {
    const server = await modelServer(() => {})
    await server.stop()
    const last = await lastOf(stage.modelOf(server.url).stream(context))
    expect(last).toMatchObject({ type: 'error', reason: 'error', error: { code: 'network', provider: 'p' } })
  })

  test('network, where the line breaks in mid-answer, with the text kept', async () => {
    const server = await stage.serve((response) => {
      response.writeHead(200, SSE).write(piece('Half'), () => response.destroy())
    })
    expect(await lastOf(stage.modelOf(server.url).stream(context))).toMatchObject({
      error: { code: 'network' },
      message: { content: [{ type: 'text', text: 'Half' }], stopReason: 'error' },
    })
  })

  test('whatever headers() says, where it fails', async () => {
    const headers = () => Promise.reject(new TidemarkError('auth', 'signed out'))
    expect(await lastOf(stage.modelOf('http://127.0.0.1:1', { headers }).stream(context))).toMatchObject({
      error: { code: 'auth', message: 'signed out' },
    })
  })

  test('invalid-request, where the adapter cannot say it', async () => {
    const last = await lastOf(
      stage.modelOf('http://127.0.0.1:1').stream(context, { toolChoice: { name: 'none' } }),
    )
    expect(last).toMatchObject({ type: 'error', error: { code: 'invalid-request' } })
  })

  test('without ever repeating a key, whoever else does', async () => {
    const secretive = { headers: { authorization: `Bearer ${KEY}` } }
    const server = await stage.serve((response) =>
      response.writeHead(401).end(`{"error":{"message":"Incorrect API key provided: ${KEY}"}}`),
    )
    const answered = await lastOf(stage.modelOf(server.url, secretive).stream(context))
    expect(answered).toMatchObject({ error: { code: 'auth', message: 'Incorrect API key provided: ***' } })
    const thrown: typeof fetch = (url) =>
      Promise.reject(new TypeError(`cannot fetch ${url} with Bearer ${KEY}`))
    const failed = await lastOf(
      stage.modelOf(`https://p.example?key=${KEY}`, { ...secretive, fetch: thrown }).stream(context),
    )
    expect(failed).toMatchObject({ error: { code: 'network' } })
    expect(JSON.stringify([answered, failed])).not.toContain(KEY)
  })
})
