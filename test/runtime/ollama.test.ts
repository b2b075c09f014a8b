import { describe, expect, test } from 'vitest'
import { collect } from '../../src/adapters/collect.ts'
import type { ModelEvent } from '../../src/adapters/contract.ts'
import { ollama } from '../../src/ollama.ts'
import { userMessage } from '../support/messages.ts'
import { modelServer } from './model-server.ts'

const context = { messages: [userMessage('1', 'Hi')] }
const line = (content: string, more: object = {}) =>
  `${JSON.stringify({ model: 'qwen3', message: { role: 'assistant', content }, done: false, ...more })}\n`

describe('ollama', () => {
  test('speaks to this machine, without any key', async () => {
    const calls: { url: string; headers: Headers }[] = []
    const fetchIt: typeof fetch = async (url, init) => {
      calls.push({ url: String(url), headers: new Headers(init?.headers) })
      return new Response(line('Hello') + line('', { done: true, done_reason: 'stop' }))
    }
    const message = await collect(ollama('qwen3', { fetch: fetchIt }).stream(context))
    expect(message).toMatchObject({
      provider: 'ollama',
      model: 'qwen3',
      stopReason: 'stop',
      content: [{ type: 'text', text: 'Hello' }],
    })
    expect(calls[0]?.url).toBe('http://localhost:11434/api/chat')
    expect([...(calls[0]?.headers.keys() ?? [])]).toEqual(['content-type'])
  })

  test('hears lines over real HTTP, and the failures among them', async () => {
    const server = await modelServer((response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      response.write(line('Ye'))
      response.end('{"error":"model runner has unexpectedly stopped"}\n')
    })
    try {
      const events: ModelEvent[] = []
      const model = ollama('qwen3', { baseURL: `${server.url}/api`, headers: { authorization: 'Bearer x' } })
      for await (const event of model.stream(context)) events.push(event)
      expect(events.map(({ type }) => type)).toEqual(['start', 'text', 'error'])
      expect(events.at(-1)).toMatchObject({
        error: { code: 'server', message: 'model runner has unexpectedly stopped', provider: 'ollama' },
        message: { content: [{ type: 'text', text: 'Ye' }], stopReason: 'error' },
      })
      expect(server.requests[0]).toMatchObject({ url: '/api/chat', headers: { authorization: 'Bearer x' } })
    } finally {
      await server.stop()
    }
  })

  test('stores who answered by the name it was given', async () => {
    const fetchIt: typeof fetch = async () => new Response('{"error":"no"}', { status: 404 })
    const model = ollama('m', { provider: 'ollama-cloud', fetch: fetchIt })
    expect([model.provider, model.id]).toEqual(['ollama-cloud', 'm'])
    expect(await collect(model.stream(context))).toMatchObject({
      provider: 'ollama-cloud',
      stopReason: 'error',
    })
  })
})
