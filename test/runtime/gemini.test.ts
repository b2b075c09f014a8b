import { afterEach, describe, expect, test, vi } from 'vitest'
import { collect } from '../../src/adapters/collect.ts'
import { gemini } from '../../src/gemini.ts'
import { userMessage } from '../support/messages.ts'
import { modelServer } from './model-server.ts'

const context = { messages: [userMessage('1', 'Hi')] }
const answer = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }],
  modelVersion: 'gemini-2.5-flash',
  responseId: 'r1',
}

/** A fetch that remembers what it was asked. */
function recorder(respond = () => Response.json(answer)) {
  const calls: { url: string; headers: Headers }[] = []
  const fetchIt: typeof fetch = async (url, init) => {
    calls.push({ url: String(url), headers: new Headers(init?.headers) })
    return respond()
  }
  return { calls, fetch: fetchIt }
}

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('gemini', () => {
  test('speaks to Google with the key in a header, never in the address', async () => {
    const { calls, fetch } = recorder()
    const message = await collect(gemini('gemini-2.5-flash', { apiKey: 'AIza-1', fetch }).stream(context))
    expect(message).toMatchObject({
      provider: 'google',
      model: 'gemini-2.5-flash',
      responseId: 'r1',
      stopReason: 'stop',
      content: [{ type: 'text', text: 'Hello' }],
    })
    expect(calls[0]?.url).toBe(
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    )
    expect(calls[0]?.headers.get('x-goog-api-key')).toBe('AIza-1')
  })

  test('speaks to a path of the page’s own origin without any key', async () => {
    const { calls, fetch } = recorder()
    await collect(gemini('m', { baseURL: '/llm/gemini', fetch }).stream(context))
    expect(calls[0]?.url).toBe('/llm/gemini/models/m:streamGenerateContent?alt=sse')
    expect(calls[0]?.headers.has('x-goog-api-key')).toBe(false)
  })

  test('speaks to Vertex AI by its address and a token that is asked for before each call', async () => {
    const { calls, fetch } = recorder()
    const baseURL =
      'https://europe-west1-aiplatform.example/v1/projects/p/locations/europe-west1/publishers/google'
    let n = 0
    const model = gemini('gemini-2.5-pro', {
      baseURL: `${baseURL}/?audit=1`,
      provider: 'google-vertex',
      headers: () => ({ authorization: `Bearer ${++n}` }),
      fetch,
    })
    await collect(model.stream(context))
    expect((await collect(model.stream(context))).provider).toBe('google-vertex')
    expect(calls[0]?.url).toBe(`${baseURL}/models/gemini-2.5-pro:streamGenerateContent?alt=sse&audit=1`)
    expect(calls.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer 1', 'Bearer 2'])
  })

  test('does not repeat a key that the server repeats', async () => {
    const error = {
      code: 400,
      message: 'API key not valid: AIza-secret-1',
      details: [{ reason: 'API_KEY_INVALID' }],
    }
    const { fetch } = recorder(() => Response.json({ error }, { status: 400 }))
    const events = []
    for await (const event of gemini('m', { apiKey: 'AIza-secret-1', fetch }).stream(context))
      events.push(event)
    expect(events).toHaveLength(1)
    expect(events[0]).toMatchObject({
      type: 'error',
      error: { code: 'auth', message: 'API key not valid: ***' },
    })
  })

  test('refuses a key in a page, by the name of the option that allows it', () => {
    vi.stubGlobal('document', {})
    expect(() => gemini('m', { apiKey: 'AIza-1' })).toThrow(/dangerouslyAllowBrowser: true/)
    expect(() => gemini('m', { apiKey: 'AIza-1', dangerouslyAllowBrowser: true })).not.toThrow()
    expect(() => gemini('m', { baseURL: '/llm' })).not.toThrow()
  })

  test('hears a stream over real HTTP, and waits as long as it is told to', async () => {
    let asked = 0
    const server = await modelServer((response) => {
      asked++
      if (asked === 1) {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(
          `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: 'Hel' }] } }] })}\r\n\r\n`,
        )
        response.end(`data: ${JSON.stringify(answer)}\r\n\r\n`)
        return
      }
      response.writeHead(429, { 'content-type': 'application/json' })
      const details = [{ retryDelay: '2.5s' }]
      response.end(
        JSON.stringify([{ error: { code: 429, message: 'slow', status: 'RESOURCE_EXHAUSTED', details } }]),
      )
    })
    try {
      const model = gemini('m', { baseURL: server.url })
      expect((await collect(model.stream(context))).content).toEqual([{ type: 'text', text: 'HelHello' }])
      const events = []
      for await (const event of model.stream(context)) events.push(event)
      expect(events.at(-1)).toMatchObject({ error: { code: 'rate-limit', status: 429, retryAfter: 2_500 } })
      expect(server.requests[0]?.url).toBe('/models/m:streamGenerateContent?alt=sse')
    } finally {
      await server.stop()
    }
  })
})
