import { describe, expect, test, vi } from 'vitest'
import { context, eventsOf, lastOf, modelStage, piece, SSE } from './model-stage.ts'

const KEY = 'sk-very-secret-key'
const stage = modelStage()

describe('a call', () => {
  test('posts what the adapter says, with the headers of the moment, and tells what it hears', async () => {
    const server = await stage.serve((response) => response.writeHead(200, SSE).end(piece('Hello', 'stop')))
    const model = stage.modelOf(`${server.url}/v1/`, {
      headers: async () => ({ authorization: `Bearer ${KEY}` }),
    })
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
    const server = await stage.serve((response) => response.end(piece('x', 'stop')))
    await lastOf(stage.modelOf(`${server.url}/d?api-version=1`).stream(context))
    expect(server.requests[0]?.url).toBe('/d/chat/completions?api-version=1')
  })

  test('hears a whole JSON answer as well', async () => {
    const body = { choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }] }
    const server = await stage.serve((response) => response.end(JSON.stringify(body)))
    expect(await lastOf(stage.modelOf(server.url).stream(context))).toMatchObject({
      type: 'done',
      message: { content: [{ type: 'text', text: 'Hello' }] },
    })
  })

  test('does nothing before somebody asks for its first event', async () => {
    const server = await stage.serve((response) => response.end())
    stage.modelOf(server.url).stream(context)
    expect(server.requests).toEqual([])
  })

  test('closes the connection when its reader leaves', async () => {
    const server = await stage.serve((response) => response.writeHead(200, SSE).write(piece('x')))
    for await (const event of stage.modelOf(server.url).stream(context)) if (event.type === 'text') break
    await server.closed()
  })

  test('closes it after the end, even if the server would leave it open', async () => {
    const server = await stage.serve((response) =>
      response.writeHead(200, SSE).write(`${piece('x', 'stop')}data: [DONE]\n\n`),
    )
    expect(await lastOf(stage.modelOf(server.url).stream(context))).toMatchObject({ type: 'done' })
    await server.closed()
  })
})

describe('the trace of a call', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

  test.each<[string, string | undefined, { trace?: boolean; headers?: Record<string, string> }, unknown]>([
    ['goes along from a server', undefined, {}, traceparent],
    ['does not where the options say so', undefined, { trace: false }, undefined],
    ['is the one of who sets the header', undefined, { headers: { traceparent: '00-own' } }, '00-own'],
    ['goes to the own origin of a page', 'here', {}, traceparent],
    ['does not go to another one, which would have to allow it', 'http://page.test', {}, undefined],
    ['goes there where the options say so', 'http://page.test', { trace: true }, traceparent],
  ])('%s', async (_, page, options, said) => {
    const server = await stage.serve((response) => response.end(piece('x', 'stop')))
    if (page) vi.stubGlobal('location', new URL(page === 'here' ? server.url : page))
    await lastOf(stage.modelOf(server.url, options).stream(context, { traceparent }))
    vi.unstubAllGlobals()
    expect(server.requests[0]?.headers.traceparent).toBe(said)
  })
})

describe('silence', () => {
  test('before the first byte ends the call after 30 s', async () => {
    let ask = () => {}
    const asked = new Promise<void>((resolve) => {
      ask = resolve
    })
    const server = await stage.serve((response) => {
      response.writeHead(200, SSE).flushHeaders()
      ask()
    })
    const last = lastOf(stage.modelOf(server.url).stream(context))
    await asked
    expect(stage.clock.waiting).toEqual([30_000])
    stage.clock.ring(30_000)
    expect(await last).toMatchObject({ reason: 'error', error: { code: 'timeout', provider: 'p' } })
    await server.closed()
  })

  test('between two pieces ends it after 60 s, with the text kept', async () => {
    const server = await stage.serve((response) => response.writeHead(200, SSE).write(piece('Half')))
    const last = lastOf(stage.modelOf(server.url).stream(context))
    await stage.clock.waitsFor(60_000)
    expect(stage.clock.waiting).toEqual([60_000])
    stage.clock.ring(60_000)
    expect(await last).toMatchObject({
      error: { code: 'timeout' },
      message: { content: [{ type: 'text', text: 'Half' }], stopReason: 'error' },
    })
    await server.closed()
  })

  test('is as long as the options say', async () => {
    const server = await stage.serve((response) => response.writeHead(200, SSE).write(piece('Half')))
    const last = lastOf(
      stage.modelOf(server.url, { timeouts: { firstByte: 5, betweenBytes: 7 } }).stream(context),
    )
    await stage.clock.waitsFor(7)
    stage.clock.ring(7)
    expect(await last).toMatchObject({ error: { code: 'timeout', message: expect.stringContaining('7 ms') } })
  })

  test('of our own reader is not the provider’s', async () => {
    const server = await stage.serve((response) => response.writeHead(200, SSE).write(piece('x')))
    const events = stage.modelOf(server.url).stream(context)[Symbol.asyncIterator]()
    expect((await events.next()).value).toMatchObject({ type: 'start' })
    // The start event is not asked past: nothing is being waited for.
    expect(stage.clock.waiting).toEqual([])
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
    const model = stage.modelOf('http://p.example', { fetch: deaf })
    const last = await lastOf(model.stream(context, { signal: AbortSignal.abort() }))
    expect(last).toMatchObject({ type: 'error', reason: 'aborted', error: { code: 'aborted' } })
    expect(asked).toBe(0)
  })

  test('in mid-answer ends it with what came so far, and the connection', async () => {
    const server = await stage.serve((response) => response.writeHead(200, SSE).write(piece('Half')))
    const control = new AbortController()
    const events = await eventsOf(
      stage.modelOf(server.url).stream(context, { signal: control.signal }),
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
      stage.modelOf('http://p.example', { fetch: deaf }).stream(context, { signal: control.signal }),
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
      stage.modelOf('http://p.example', { fetch: async () => new Response(body) }).stream(context, {
        signal: control.signal,
      }),
      (event) => event.type === 'text' && control.abort(),
    )
    expect(events.at(-1)).toMatchObject({ reason: 'aborted', message: { content: [{ text: 'x' }] } })
    expect(cancelled).toBe(true)
  })

  test('lets go of the signal, so that a long-lived one gathers no listeners', async () => {
    const server = await stage.serve((response) => response.end(piece('x', 'stop')))
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
    await lastOf(stage.modelOf(server.url).stream(context, { signal }))
    expect(listeners).toBe(0)
  })
})
