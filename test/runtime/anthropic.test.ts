import { afterEach, describe, expect, test, vi } from 'vitest'
import { collect } from '../../src/adapters/collect.ts'
import { anthropic } from '../../src/anthropic.ts'
import { userMessage } from '../support/messages.ts'

const context = { messages: [userMessage('1', 'Hi')] }
const answer = {
  type: 'message',
  id: 'msg_1',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
}

/** A fetch that remembers what it was asked. */
function recorder(respond = () => Response.json(answer)) {
  const calls: { url: string; headers: Headers; body: unknown }[] = []
  const fetchIt: typeof fetch = async (url, init) => {
    calls.push({
      url: String(url),
      headers: new Headers(init?.headers),
      body: JSON.parse(String(init?.body)),
    })
    return respond()
  }
  return { calls, fetch: fetchIt }
}

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('anthropic', () => {
  test('speaks to Anthropic with the key it was given, in the version it knows', async () => {
    const { calls, fetch } = recorder()
    const message = await collect(
      anthropic('claude-sonnet-4-5', { apiKey: 'sk-ant-1', fetch }).stream(context),
    )
    expect(message).toMatchObject({
      provider: 'anthropic',
      responseId: 'msg_1',
      stopReason: 'stop',
      content: [{ type: 'text', text: 'Hello' }],
    })
    expect(calls[0]?.url).toBe('https://api.anthropic.com/v1/messages')
    expect(calls[0]?.body).toMatchObject({ model: 'claude-sonnet-4-5', stream: true })
    const { headers } = calls[0] ?? {}
    expect(headers?.get('x-api-key')).toBe('sk-ant-1')
    expect(headers?.get('anthropic-version')).toBe('2023-06-01')
    expect(headers?.has('authorization')).toBe(false)
    expect(headers?.has('anthropic-dangerous-direct-browser-access')).toBe(false)
  })

  test('speaks to a path of the page’s own origin without any key', async () => {
    const { calls, fetch } = recorder()
    await collect(anthropic('claude-sonnet-4-5', { baseURL: '/llm/anthropic', fetch }).stream(context))
    expect(calls[0]?.url).toBe('/llm/anthropic/messages')
    expect(calls[0]?.headers.has('x-api-key')).toBe(false)
  })

  test('lets headers be added, anew for each call', async () => {
    const { calls, fetch } = recorder()
    let n = 0
    const model = anthropic('m', { headers: () => ({ 'anthropic-beta': `beta-${++n}` }), fetch })
    await collect(model.stream(context))
    await collect(model.stream(context))
    expect(calls.map(({ headers }) => headers.get('anthropic-beta'))).toEqual(['beta-1', 'beta-2'])
  })

  test('stores who answered by the name it was given', async () => {
    const { fetch } = recorder()
    const model = anthropic('kimi-k2', { provider: 'moonshot', baseURL: 'https://example.test', fetch })
    expect([model.provider, model.id]).toEqual(['moonshot', 'kimi-k2'])
    expect((await collect(model.stream(context))).provider).toBe('moonshot')
  })

  test('refuses a key in a page, unless that is allowed; then it tells the API so', async () => {
    vi.stubGlobal('document', {})
    expect(() => anthropic('m', { apiKey: 'sk-ant-1' })).toThrow(/dangerouslyAllowBrowser: true/)
    expect(() => anthropic('m', { apiKey: 'sk-ant-1' })).not.toThrow(/sk-ant-1/)
    expect(() => anthropic('m', { baseURL: '/llm' })).not.toThrow()
    const { calls, fetch } = recorder()
    const model = anthropic('m', { apiKey: 'sk-ant-1', dangerouslyAllowBrowser: true, fetch })
    await collect(model.stream(context))
    expect(calls[0]?.headers.get('anthropic-dangerous-direct-browser-access')).toBe('true')
    expect(calls[0]?.headers.get('x-api-key')).toBe('sk-ant-1')
  })

  test('does not repeat the key in an error, even if the server does', async () => {
    const error = { type: 'error', error: { type: 'authentication_error', message: 'bad key sk-ant-123' } }
    const { fetch } = recorder(() =>
      Response.json(error, { status: 401, headers: { 'request-id': 'req_1' } }),
    )
    for await (const event of anthropic('m', { apiKey: 'sk-ant-123', fetch }).stream(context)) {
      expect(event).toMatchObject({
        type: 'error',
        error: {
          code: 'auth',
          message: 'bad key *** (authentication_error)',
          requestId: 'req_1',
          status: 401,
        },
      })
    }
  })
})
