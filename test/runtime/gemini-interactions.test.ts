import { afterEach, describe, expect, test, vi } from 'vitest'
import { collect } from '../../src/adapters/collect.ts'
import { type GeminiInteractionsOptions, geminiInteractions } from '../../src/gemini.ts'
import { context, eventsOf, lastOf, modelStage, SSE } from './model-stage.ts'

const stage = modelStage()
const model = (baseURL: string, more: GeminiInteractionsOptions = {}) =>
  geminiInteractions('gemini-3.8-flash', { baseURL, env: stage.clock, ...more })
const background = (baseURL: string) => model(baseURL, { background: true })

type Json = Record<string, unknown>

/** Events as they stand in a stream, each with the id after which the rest can be asked for. */
const stream = (first: number, events: readonly Json[]): string =>
  events
    .map((event, i) => ({ ...event, event_id: `e/${first + i}` }))
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('')

const created: Json = {
  event_type: 'interaction.created',
  interaction: { id: 'v1_1', model: 'gemini-3.8-flash', status: 'in_progress', object: 'interaction' },
}
const text = (delta: string): Json => ({
  event_type: 'step.delta',
  index: 0,
  delta: { type: 'text', text: delta },
})
const begun: Json = { event_type: 'step.start', index: 0, step: { type: 'model_output' } }
const completed: Json = {
  event_type: 'interaction.completed',
  interaction: { id: 'v1_1', status: 'completed' },
}
/** Not every event has one. */
const half = `${stream(0, [created, begun, text('Hel')])}data: {"event_type":"ping"}\n\n`
const rest = `${stream(3, [text('lo'), completed])}event: done\ndata: [DONE]\n\n`

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('geminiInteractions', () => {
  test('speaks to Google with the key in a header, never in the address', async () => {
    const asked: { url: string; headers: Headers }[] = []
    const fetchIt: typeof fetch = async (url, init) => {
      asked.push({ url: String(url), headers: new Headers(init?.headers) })
      return new Response(half + rest)
    }
    const options = { apiKey: 'AIza-1', fetch: fetchIt }
    expect(await collect(geminiInteractions('gemini-3.8-flash', options).stream(context))).toMatchObject({
      provider: 'google-interactions',
      model: 'gemini-3.8-flash',
      responseId: 'v1_1',
      stopReason: 'stop',
      content: [{ type: 'text', text: 'Hello' }],
    })
    expect(asked[0]?.url).toBe('https://generativelanguage.googleapis.com/v1beta/interactions')
    expect(asked[0]?.headers.get('x-goog-api-key')).toBe('AIza-1')
  })

  test('refuses a key in a page, by the name of the option that allows it', () => {
    vi.stubGlobal('document', {})
    expect(() => geminiInteractions('m', { apiKey: 'AIza-1' })).toThrow(/dangerouslyAllowBrowser: true/)
    expect(() => geminiInteractions('m', { baseURL: '/llm' })).not.toThrow()
  })

  test('stores who answered by the name it was given, and what is known of the model', () => {
    const other = model('/llm', { provider: 'vertex', capabilities: { contextWindow: 9 } })
    expect([other.provider, other.id, other.capabilities]).toEqual([
      'vertex',
      'gemini-3.8-flash',
      { contextWindow: 9 },
    ])
    expect(other.resume).toBeUndefined()
  })

  test('says what is to be said over real HTTP, and hears the answer', async () => {
    const server = await stage.serve((response) => response.writeHead(200, SSE).end(half + rest))
    const events = await eventsOf(model(server.url).stream(context, { thinking: 'low' }))
    expect(events.map(({ type }) => type)).toEqual(['start', 'text', 'text', 'done'])
    const [{ method, url, body = '' } = {}] = server.requests
    expect([method, url]).toEqual(['POST', '/interactions'])
    expect(JSON.parse(body)).toEqual({
      model: 'gemini-3.8-flash',
      input: [{ type: 'user_input', content: [{ type: 'text', text: 'Hi' }] }],
      generation_config: { thinking_level: 'low', thinking_summaries: 'auto' },
      store: false,
      stream: true,
    })
  })

  test('tells of a failure in the provider’s words, without the key that these repeat', async () => {
    const error = { code: 'rate_limit_exceeded', message: 'Slow down, AIza-secret-1.' }
    const server = await stage.serve((response) =>
      response.writeHead(429, { 'retry-after': '2' }).end(JSON.stringify({ error })),
    )
    expect(await lastOf(model(server.url, { apiKey: 'AIza-secret-1' }).stream(context))).toMatchObject({
      error: { code: 'rate-limit', status: 429, retryAfter: 2_000, message: expect.stringMatching(/\*\*\*/) },
    })
  })
})

describe('an answer in the background', () => {
  test('is heard to its end although the line breaks, each piece once', async () => {
    const server = await stage.serve((response, { method }) => {
      response.writeHead(200, SSE)
      if (method === 'GET') response.end(rest)
      else response.write(half, () => response.destroy())
    })
    const answer = eventsOf(background(`${server.url}?v=1`).stream(context))
    await stage.clock.waitsFor(500)
    stage.clock.ring(500)
    const events = await answer
    expect(events.flatMap((event) => (event.type === 'text' ? [event.delta] : []))).toEqual(['Hel', 'lo'])
    expect(events.at(-1)).toMatchObject({ type: 'done', message: { content: [{ text: 'Hello' }] } })
    expect(server.requests.map(({ method, url }) => [method, url])).toEqual([
      ['POST', '/interactions?v=1'],
      ['GET', '/interactions/v1_1?stream=true&last_event_id=e%2F2&v=1'],
    ])
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ background: true, store: true })
  })

  test('is heard to its end although the bytes are over too soon, however that is said', async () => {
    for (const end of ['', 'event: done\ndata: [DONE]\n\n']) {
      const server = await stage.serve((response, { method }) =>
        response.writeHead(200, SSE).end(method === 'GET' ? rest : half + end),
      )
      const answer = lastOf(background(server.url).stream(context))
      await stage.clock.waitsFor(500)
      stage.clock.ring(500)
      expect(await answer).toMatchObject({ type: 'done', message: { content: [{ text: 'Hello' }] } })
    }
  })

  test('that the provider no longer has is an error, with the text kept', async () => {
    const server = await stage.serve((response, { method }) => {
      if (method === 'GET') response.writeHead(404).end('{"error":{"code":"not_found","message":"No such."}}')
      else response.writeHead(200, SSE).write(half, () => response.destroy())
    })
    const answer = lastOf(background(server.url).stream(context))
    await stage.clock.waitsFor(500)
    stage.clock.ring(500)
    expect(await answer).toMatchObject({
      error: { code: 'not-found' },
      message: { content: [{ text: 'Hel' }], responseId: 'v1_1' },
    })
  })

  test('that is aborted is stopped at the provider too', async () => {
    let stopped = () => {}
    const stop = new Promise<void>((resolve) => {
      stopped = resolve
    })
    const server = await stage.serve((response, { url }) => {
      if (url?.endsWith('/cancel')) response.end('{}', stopped)
      else response.writeHead(200, SSE).write(half)
    })
    const control = new AbortController()
    const answer = background(server.url).stream(context, { signal: control.signal })
    const events = await eventsOf(answer, (event) => event.type === 'text' && control.abort())
    expect(events.at(-1)).toMatchObject({ reason: 'aborted', message: { content: [{ text: 'Hel' }] } })
    await stop
    expect(server.requests.map(({ method, url }) => [method, url])).toEqual([
      ['POST', '/interactions'],
      ['POST', '/interactions/v1_1/cancel'],
    ])
  })

  test('can be heard again from its beginning, by its id', async () => {
    const server = await stage.serve((response) => response.writeHead(200, SSE).end(half + rest))
    const again = background(server.url).resume?.('v1_1')
    expect(again && (await eventsOf(again)).map(({ type }) => type)).toEqual([
      'start',
      'text',
      'text',
      'done',
    ])
    expect(server.requests).toMatchObject([
      { method: 'GET', url: '/interactions/v1_1?stream=true', body: '' },
    ])
  })

  test('whose events have no ids is over when its line breaks: else, all of it would come twice', async () => {
    const unnumbered = half.replace(/,"event_id":"[^"]*"/g, '')
    const server = await stage.serve((response) =>
      response.writeHead(200, SSE).write(unnumbered, () => response.destroy()),
    )
    expect(await lastOf(background(server.url).stream(context))).toMatchObject({
      error: { code: 'network' },
      message: { content: [{ text: 'Hel' }] },
    })
    expect(server.requests).toHaveLength(1)
  })
})

test('an answer that nobody keeps is over when its line breaks, and is not cancelled', async () => {
  const server = await stage.serve((response) =>
    response.writeHead(200, SSE).write(half, () => response.destroy()),
  )
  expect(await lastOf(model(server.url).stream(context))).toMatchObject({
    error: { code: 'network' },
    message: { content: [{ text: 'Hel' }] },
  })
  expect(server.requests).toHaveLength(1)
})
