import { afterEach, describe, expect, test, vi } from 'vitest'
import { collect } from '../../src/adapters/collect.ts'
import { openaiChat } from '../../src/openai-chat.ts'
import { userMessage } from '../support/messages.ts'

const context = { messages: [userMessage('1', 'Hi')] }
const answer = { choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }] }

/** A fetch that remembers what it was asked. */
function recorder() {
  const calls: { url: string; headers: Headers }[] = []
  const fetchIt: typeof fetch = async (url, init) => {
    calls.push({ url: String(url), headers: new Headers(init?.headers) })
    return Response.json(answer)
  }
  return { calls, fetch: fetchIt }
}

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('openaiChat', () => {
  test('speaks to OpenAI with the key it was given', async () => {
    const { calls, fetch } = recorder()
    const message = await collect(openaiChat('gpt-4o-mini', { apiKey: 'sk-1', fetch }).stream(context))
    expect(message).toMatchObject({
      provider: 'openai',
      stopReason: 'stop',
      content: [{ type: 'text', text: 'Hello' }],
    })
    expect(calls[0]?.url).toBe('https://api.openai.com/v1/chat/completions')
    expect(calls[0]?.headers.get('authorization')).toBe('Bearer sk-1')
  })

  test('speaks to a path of the page’s own origin without any key', async () => {
    const { calls, fetch } = recorder()
    await collect(openaiChat('m', { baseURL: '/llm/openai', fetch }).stream(context))
    expect(calls[0]?.url).toBe('/llm/openai/chat/completions')
    expect(calls[0]?.headers.has('authorization')).toBe(false)
  })

  test('lets headers say what the key would have said, anew for each call', async () => {
    const { calls, fetch } = recorder()
    let n = 0
    const model = openaiChat('m', {
      apiKey: 'sk-1',
      headers: () => ({ authorization: `Bearer ${++n}` }),
      fetch,
    })
    await collect(model.stream(context))
    await collect(model.stream(context))
    expect(calls.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer 1', 'Bearer 2'])
  })

  test('stores who answered by the name it was given', async () => {
    const { fetch } = recorder()
    const model = openaiChat('m', { provider: 'ollama', baseURL: 'http://localhost:11434/v1', fetch })
    expect([model.provider, model.id]).toEqual(['ollama', 'm'])
    expect((await collect(model.stream(context))).provider).toBe('ollama')
  })

  test('refuses a key in a page, and in its workers, by the name of the option that allows it', () => {
    for (const name of ['document', 'WorkerGlobalScope']) {
      vi.stubGlobal(name, {})
      expect(() => openaiChat('m', { apiKey: 'sk-1' })).toThrow(/dangerouslyAllowBrowser: true/)
      expect(() => openaiChat('m', { apiKey: 'sk-1' })).not.toThrow(/sk-1/)
      expect(() => openaiChat('m', { apiKey: 'sk-1', dangerouslyAllowBrowser: true })).not.toThrow()
      expect(() => openaiChat('m', { baseURL: '/llm' })).not.toThrow()
      vi.unstubAllGlobals()
    }
  })
})
