import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ModelEvent } from '../../src/adapters/contract.ts'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import { type HttpModelOptions, httpModel } from '../../src/runtime/http-model.ts'
import { userMessage } from '../support/messages.ts'
import { type Clock, type ModelServer, modelServer, stoppedClock } from './model-server.ts'

const KEY = 'sk-very-secret-key'
const context = { messages: [userMessage('1', 'Hi')] }
const piece = (content: string, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', model: 'm-1', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`
const SSE = { 'content-type': 'text/event-stream' }

let clock: Clock
let servers: ModelServer[]
beforeEach(() => {
  clock = stoppedClock()
  servers = []
})
afterEach(async () => {
  for (const server of servers) await server.stop()
  // Whatever happened, no timer waits for a call that is over.
  expect(clock.waiting).toEqual([])
})

async function serve(answer: Parameters<typeof modelServer>[0]): Promise<ModelServer> {
  const server = await modelServer(answer)
  servers.push(server)
  return server
}

const modelOf = (baseURL: string, more: Partial<HttpModelOptions> = {}) =>
  httpModel({
    adapter: chatAdapter({ provider: 'p' }),
    provider: 'p',
    model: 'm',
    baseURL,
    env: clock,
    ...more,
  })

async function eventsOf(events: AsyncIterable<ModelEvent>, onEvent?: (event: ModelEvent) => void) {
  const heard: ModelEvent[] = []
  for await (const event of events) {
    heard.push(event)
    onEvent?.(event)
  }
  return heard
}
const lastOf = async (events: AsyncIterable<ModelEvent>) => (await eventsOf(events)).at(-1)

describe('a call', () => {
  test('posts what the adapter says, with the headers of the moment, and tells what it hears', async () => {
    const server = await serve((response) => response.writeHead(200, SSE).end(piece('Hello', 'stop')))
    const model = modelOf(`${server.url}/v1/`, { headers: async () => ({ authorization: `Bearer ${KEY}` }) })
    const events = await eventsOf(model.stream(context, { temperature: 0 }))
    expect(events.map(({ type }) => type)).toEqual(['start', 'text', 'done'])
    const [request] = server.requests
    expect(request).toMatchObject({ method: 'POST', url: '/v1/chat/completions' })
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
    })
    expect(JSON.parse(request?.body ?? '')).toMatchObject({ model: 'm', stream: true, temperature: 0 })
    expect([model.provider, model.id]).toEqual(['p', 'm'])
  })

  test('keeps a query of the base URL behind the path', async () => {
    const server = await serve((response) => response.end(piece('x', 'stop')))
    await lastOf(modelOf(`${server.url}/d?api-version=1`).stream(context))
    expect(server.requests[0]?.url).toBe('/d/chat/completions?api-version=1')
  })

  test('hears a whole JSON answer as well', async () => {
    const body = { choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }] }
    const server = await serve((response) => response.end(JSON.stringify(body)))
    expect(await lastOf(modelOf(server.url).stream(context))).toMatchObject({
      type: 'done',
      message: { content: [{ type: 'text', text: 'Hello' }] },
    })
  })

  test('does nothing before somebody asks for its first event', async () => {
    const server = await serve((response) => response.end())
    modelOf(server.url).stream(context)
    expect(server.requests).toEqual([])
  })

  test('closes the connection when its reader leaves', async () => {
    const server = await serve((response) => response.writeHead(200, SSE).write(piece('x')))
    for await (const event of modelOf(server.url).stream(context)) if (event.type === 'text') break
    await server.closed()
  })

  test('closes it after the end, even if the server would leave it open', async () => {
    const server = await serve((response) =>
      response.writeHead(200, SSE).write(`${piece('x', 'stop')}data: [DONE]\n\n`),
    )
    expect(await lastOf(modelOf(server.url).stream(context))).toMatchObject({ type: 'done' })
    await server.closed()
  })
})

describe('a call that fails says so in its last event', () => {
  test('with the code and the words of the provider, its request id and when to try again', async () => {
    const server = await serve((response) =>
      response
        .writeHead(429, { 'retry-after': '7', 'x-request-id': 'req_1' })
        .end('{"error":{"message":"slow down","code":"rate_limit_exceeded"}}'),
    )
    expect(await lastOf(modelOf(server.url).stream(context))).toEqual({
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
    const server = await serve((response) => response.writeHead(503, headers).end())
    const last = await lastOf(modelOf(server.url).stream(context))
    expect(last?.type === 'error' && last.error.retryAfter).toBe(expected)
  })

  test('network, where nobody is there', async () => {
    const server = await modelServer(() => {})
    await server.stop()
    const last = await lastOf(modelOf(server.url).stream(context))
    expect(last).toMatchObject({ type: 'error', reason: 'error', error: { code: 'network', provider: 'p' } })
  })

  test('network, where the line breaks in mid-answer, with the text kept', async () => {
    const server = await serve((response) => {
      response.writeHead(200, SSE).write(piece('Half'), () => response.destroy())
    })
    expect(await lastOf(modelOf(server.url).stream(context))).toMatchObject({
      error: { code: 'network' },
      message: { content: [{ type: 'text', text: 'Half' }], stopReason: 'error' },
    })
  })

  test('whatever headers() says, where it fails', async () => {
    const headers = () => Promise.reject(new TidemarkError('auth', 'signed out'))
    expect(await lastOf(modelOf('http://127.0.0.1:1', { headers }).stream(context))).toMatchObject({
      error: { code: 'auth', message: 'signed out' },
    })
  })

  test('invalid-request, where the adapter cannot say it', async () => {
    const last = await lastOf(modelOf('http://127.0.0.1:1').stream(context, { toolChoice: { name: 'none' } }))
    expect(last).toMatchObject({ type: 'error', error: { code: 'invalid-request' } })
  })

  test('without ever repeating a key, whoever else does', async () => {
    const secretive = { headers: { authorization: `Bearer ${KEY}` } }
    const server = await serve((response) =>
      response.writeHead(401).end(`{"error":{"message":"Incorrect API key provided: ${KEY}"}}`),
    )
    const answered = await lastOf(modelOf(server.url, secretive).stream(context))
    expect(answered).toMatchObject({ error: { code: 'auth', message: 'Incorrect API key provided: ***' } })
    const thrown: typeof fetch = (url) =>
      Promise.reject(new TypeError(`cannot fetch ${url} with Bearer ${KEY}`))
    const failed = await lastOf(
      modelOf(`https://p.example?key=${KEY}`, { ...secretive, fetch: thrown }).stream(context),
    )
    expect(failed).toMatchObject({ error: { code: 'network' } })
    expect(JSON.stringify([answered, failed])).not.toContain(KEY)
  })
})

describe('silence', () => {
  test('before the first byte ends the call after 30 s', async () => {
    let ask = () => {}
    const asked = new Promise<void>((resolve) => {
      ask = resolve
    })
    const server = await serve((response) => {
      response.writeHead(200, SSE).flushHeaders()
      ask()
    })
    const last = lastOf(modelOf(server.url).stream(context))
    await asked
    expect(clock.waiting).toEqual([30_000])
    clock.ring(30_000)
    expect(await last).toMatchObject({ reason: 'error', error: { code: 'timeout', provider: 'p' } })
    await server.closed()
  })

  test('between two pieces ends it after 60 s, with the text kept', async () => {
    const server = await serve((response) => response.writeHead(200, SSE).write(piece('Half')))
    const last = lastOf(modelOf(server.url).stream(context))
    await clock.waitsFor(60_000)
    expect(clock.waiting).toEqual([60_000])
    clock.ring(60_000)
    expect(await last).toMatchObject({
      error: { code: 'timeout' },
      message: { content: [{ type: 'text', text: 'Half' }], stopReason: 'error' },
    })
    await server.closed()
  })

  test('is as long as the options say', async () => {
    const server = await serve((response) => response.writeHead(200, SSE).write(piece('Half')))
    const last = lastOf(modelOf(server.url, { timeouts: { firstByte: 5, betweenBytes: 7 } }).stream(context))
    await clock.waitsFor(7)
    clock.ring(7)
    expect(await last).toMatchObject({ error: { code: 'timeout', message: expect.stringContaining('7 ms') } })
  })

  test('of our own reader is not the provider’s', async () => {
    const server = await serve((response) => response.writeHead(200, SSE).write(piece('x')))
    const events = modelOf(server.url).stream(context)[Symbol.asyncIterator]()
    expect((await events.next()).value).toMatchObject({ type: 'start' })
    // The start event is not asked past: nothing is being waited for.
    expect(clock.waiting).toEqual([])
    await events.return?.()
  })
})

describe('aborting', () => {
  test('before the call sends nothing', async () => {
    let asked = 0
    const deaf: typeof fetch = async () => {
      asked++
      return new Response(piece('x', 'stop'))
    }
    const model = modelOf('http://p.example', { fetch: deaf })
    const last = await lastOf(model.stream(context, { signal: AbortSignal.abort() }))
    expect(last).toMatchObject({ type: 'error', reason: 'aborted', error: { code: 'aborted' } })
    expect(asked).toBe(0)
  })

  test('in mid-answer ends it with what came so far, and the connection', async () => {
    const server = await serve((response) => response.writeHead(200, SSE).write(piece('Half')))
    const control = new AbortController()
    const events = await eventsOf(
      modelOf(server.url).stream(context, { signal: control.signal }),
      (event) => {
        if (event.type === 'text') control.abort()
      },
    )
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      reason: 'aborted',
      message: { content: [{ type: 'text', text: 'Half' }], stopReason: 'aborted' },
    })
    await server.closed()
  })

  test('works on a fetch that knows no signal, and cancels what it answers too late', async () => {
    const control = new AbortController()
    let answer: (response: Response) => void = () => {}
    const deaf: typeof fetch = () => {
      control.abort()
      return new Promise((resolve) => {
        answer = resolve
      })
    }
    const last = await lastOf(
      modelOf('http://p.example', { fetch: deaf }).stream(context, { signal: control.signal }),
    )
    expect(last).toMatchObject({ reason: 'aborted' })
    const cancelled = new Promise((resolve) => {
      answer(new Response(new ReadableStream({ cancel: resolve })))
    })
    await cancelled
  })

  test('works on a body that never ends, and cancels it', async () => {
    const control = new AbortController()
    let cancelled = false
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(piece('x'))),
      cancel: () => {
        cancelled = true
      },
    })
    const events = await eventsOf(
      modelOf('http://p.example', { fetch: async () => new Response(body) }).stream(context, {
        signal: control.signal,
      }),
      (event) => event.type === 'text' && control.abort(),
    )
    expect(events.at(-1)).toMatchObject({ reason: 'aborted', message: { content: [{ text: 'x' }] } })
    expect(cancelled).toBe(true)
  })

  test('lets go of the signal, so that a long-lived one gathers no listeners', async () => {
    const server = await serve((response) => response.end(piece('x', 'stop')))
    const control = new AbortController()
    let listeners = 0
    const { signal } = control
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++
      add(...args)
    }
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--
      remove(...args)
    }
    await lastOf(modelOf(server.url).stream(context, { signal }))
    expect(listeners).toBe(0)
  })
})
