import { describe, expect, test } from 'vitest'
import { collect } from '../../src/adapters/collect.ts'
import { type OpenAIOptions, openai } from '../../src/openai.ts'
import { context, eventsOf, lastOf, modelStage, SSE } from './model-stage.ts'

const stage = modelStage()
const model = (baseURL: string, more: OpenAIOptions = {}) =>
  openai('gpt-5', { baseURL, env: stage.clock, ...more })

type Json = Record<string, unknown>

/** Events as they stand in a stream, numbered from `first` on. */
const stream = (first: number, events: Json[]): string =>
  events
    .map((event, i) => ({ ...event, type: `response.${event.type}`, sequence_number: first + i }))
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('')

const created = (more: Json = {}): Json => ({
  type: 'created',
  response: { id: 'resp_1', model: 'gpt-5', status: 'in_progress', ...more },
})
const text = (delta: string): Json => ({
  type: 'output_text.delta',
  output_index: 0,
  content_index: 0,
  delta,
})
const completed: Json = { type: 'completed', response: { id: 'resp_1', status: 'completed' } }

describe('openai', () => {
  test('speaks to the Responses API with the key it was given', async () => {
    const asked: { url: string; headers: Headers }[] = []
    const fetchIt: typeof fetch = async (url, init) => {
      asked.push({ url: String(url), headers: new Headers(init?.headers) })
      return new Response(stream(0, [created(), text('Hello'), completed]))
    }
    const message = await collect(openai('gpt-5', { apiKey: 'sk-1', fetch: fetchIt }).stream(context))
    expect(message).toMatchObject({
      provider: 'openai',
      model: 'gpt-5',
      responseId: 'resp_1',
      content: [{ type: 'text', text: 'Hello' }],
    })
    expect(asked[0]?.url).toBe('https://api.openai.com/v1/responses')
    expect(asked[0]?.headers.get('authorization')).toBe('Bearer sk-1')
  })

  test('stores who answered by the name it was given', () => {
    const other = openai('grok-4', { provider: 'xai', baseURL: 'https://api.x.ai/v1' })
    expect([other.provider, other.id, other.resume]).toEqual(['xai', 'grok-4', undefined])
  })
})

describe('an answer in the background', () => {
  const half = stream(0, [created({ background: true }), text('Hel')])
  const rest = stream(2, [text('lo'), completed])

  test('is heard to its end although the line breaks, each piece once', async () => {
    const server = await stage.serve((response, { method }) => {
      response.writeHead(200, SSE)
      if (method === 'GET') response.end(rest)
      else response.write(half, () => response.destroy())
    })
    const answer = eventsOf(model(`${server.url}?v=1`, { background: true, apiKey: 'sk-1' }).stream(context))
    await stage.clock.waitsFor(500)
    stage.clock.ring(500)
    const events = await answer
    expect(events.flatMap((event) => (event.type === 'text' ? [event.delta] : []))).toEqual(['Hel', 'lo'])
    expect(events.at(-1)).toMatchObject({ type: 'done', message: { content: [{ text: 'Hello' }] } })
    expect(server.requests.map(({ method, url }) => [method, url])).toEqual([
      ['POST', '/responses?v=1'],
      ['GET', '/responses/resp_1?stream=true&starting_after=1&v=1'],
    ])
    expect(server.requests[1]).toMatchObject({ headers: { authorization: 'Bearer sk-1' }, body: '' })
  })

  test('is heard to its end although the bytes are over too soon', async () => {
    const server = await stage.serve((response, { method }) =>
      response.writeHead(200, SSE).end(method === 'GET' ? rest : half),
    )
    const answer = lastOf(model(server.url, { background: true }).stream(context))
    await stage.clock.waitsFor(500)
    stage.clock.ring(500)
    expect(await answer).toMatchObject({ type: 'done', message: { content: [{ text: 'Hello' }] } })
  })

  test('is given up after five tries in vain, with the text kept', async () => {
    const server = await stage.serve((response, { method }) => {
      if (method === 'GET') response.destroy()
      else response.writeHead(200, SSE).write(half, () => response.destroy())
    })
    const answer = lastOf(model(server.url, { background: true }).stream(context))
    for (const ms of [500, 1000, 2000, 4000, 8000]) {
      await stage.clock.waitsFor(ms)
      stage.clock.ring(ms)
    }
    expect(await answer).toMatchObject({
      reason: 'error',
      error: { code: 'network' },
      message: { content: [{ text: 'Hel' }], responseId: 'resp_1' },
    })
    expect(server.requests).toHaveLength(6)
  })

  test('that the provider no longer has is an error, with the text kept', async () => {
    const server = await stage.serve((response, { method }) => {
      if (method === 'GET') response.writeHead(404).end('{"error":{"message":"No such response"}}')
      else response.writeHead(200, SSE).write(half, () => response.destroy())
    })
    const answer = lastOf(model(server.url, { background: true }).stream(context))
    await stage.clock.waitsFor(500)
    stage.clock.ring(500)
    expect(await answer).toMatchObject({
      error: { code: 'not-found', message: 'No such response' },
      message: { content: [{ text: 'Hel' }] },
    })
  })

  test('is not waited for any longer once the caller aborts', async () => {
    const server = await stage.serve((response, { url }) => {
      if (url?.endsWith('/cancel')) response.end('{}')
      else response.writeHead(200, SSE).write(half, () => response.destroy())
    })
    const control = new AbortController()
    const answer = lastOf(model(server.url, { background: true }).stream(context, { signal: control.signal }))
    await stage.clock.waitsFor(500)
    control.abort()
    expect(await answer).toMatchObject({ reason: 'aborted', message: { content: [{ text: 'Hel' }] } })
  })

  test('that is aborted is stopped at the provider too', async () => {
    let stopped = () => {}
    const stop = new Promise<void>((resolve) => {
      stopped = resolve
    })
    const server = await stage.serve((response, { url }) => {
      if (!url?.endsWith('/cancel')) response.writeHead(200, SSE).write(half)
      else response.end('{}', stopped)
    })
    const control = new AbortController()
    const answer = model(server.url, { background: true }).stream(context, { signal: control.signal })
    const events = await eventsOf(answer, (event) => event.type === 'text' && control.abort())
    expect(events.at(-1)).toMatchObject({ reason: 'aborted', message: { content: [{ text: 'Hel' }] } })
    await stop
    expect(server.requests.map(({ method, url }) => [method, url])).toEqual([
      ['POST', '/responses'],
      ['POST', '/responses/resp_1/cancel'],
    ])
  })

  test('goes on at the provider when its reader leaves without a word', async () => {
    const server = await stage.serve((response) => response.writeHead(200, SSE).write(half))
    let asked = 0
    const counted: typeof fetch = (...request) => {
      asked++
      return fetch(...request)
    }
    const answer = model(server.url, { background: true, fetch: counted }).stream(context)
    for await (const event of answer) if (event.type === 'text') break
    await server.closed()
    expect(asked).toBe(1)
  })

  test('that is complete is not cancelled by an abortion afterwards', async () => {
    const server = await stage.serve((response) => response.writeHead(200, SSE).end(half + rest))
    const control = new AbortController()
    const answer = model(server.url, { background: true }).stream(context, { signal: control.signal })
    await eventsOf(answer, (event) => event.type === 'done' && control.abort())
    expect(server.requests).toHaveLength(1)
  })

  test('can be heard again from its beginning, by its id', async () => {
    const server = await stage.serve((response) => response.writeHead(200, SSE).end(half + rest))
    const again = model(server.url, { background: true }).resume?.('resp_1')
    expect(again && (await eventsOf(again)).map(({ type }) => type)).toEqual([
      'start',
      'text',
      'text',
      'done',
    ])
    expect(server.requests).toMatchObject([{ method: 'GET', url: '/responses/resp_1?stream=true', body: '' }])
  })
})

test('an answer that nobody keeps is over when its line breaks, and is not cancelled', async () => {
  const server = await stage.serve((response) =>
    response.writeHead(200, SSE).write(stream(0, [created(), text('Hel')]), () => response.destroy()),
  )
  expect(await lastOf(model(server.url).stream(context))).toMatchObject({
    error: { code: 'network' },
    message: { content: [{ text: 'Hel' }] },
  })
  expect(server.requests).toHaveLength(1)
})
