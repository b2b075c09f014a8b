import { describe, expect, test } from 'vitest'
import { geminiAdapter } from '../../src/adapters/gemini.ts'
import { hear } from '../../src/adapters/hear.ts'
import { hearAll, responseOf, textIn } from './answers.ts'

const adapter = geminiAdapter()
const listen = (body: string, more: { status?: number } = {}) => hearAll(adapter, responseOf([body], more))

const pieceOf = (text: string, finishReason?: string): string =>
  JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason }] })

describe('a list of pieces', () => {
  const list = [pieceOf('Ye'), pieceOf('s', 'STOP')]

  test('is told as its pieces come', async () => {
    const told: number[] = []
    let sent = 0
    const body = (async function* () {
      for (const text of [`[${list[0]}\n`, `,\r\n${list[1]}`, ']']) {
        sent++
        yield new TextEncoder().encode(text)
      }
    })()
    for await (const event of hear(adapter, { status: 200, headers: { get: () => null }, body }))
      if (event.type === 'text') told.push(sent)
    // The second piece's line has no end before the bytes have.
    expect(told).toEqual([1, 3])
  })

  test('that breaks off is a broken line, with the text kept', async () => {
    const { message, error } = await listen(`[${list[0]},\n{"candidates":[`)
    expect(textIn(message)).toBe('Ye')
    expect(error?.code).toBe('network')
  })

  test('may end in an error', async () => {
    const { message, error } = await listen(`[${list[0]}\n,{"error":{"code":503,"message":"overloaded"}}]`)
    expect(textIn(message)).toBe('Ye')
    expect(error).toMatchObject({ code: 'server', status: 503, message: 'overloaded' })
  })
})

describe('failures', () => {
  const failed = (status: number, error: object) => listen(JSON.stringify([{ error }]), { status })

  test('say how long to wait', async () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }]
    const { error } = await failed(429, { code: 429, message: 'slow', status: 'RESOURCE_EXHAUSTED', details })
    expect(error).toMatchObject({ code: 'rate-limit', retryAfter: 34_400, message: 'slow' })
  })

  test('know a wrong key, though it is called an invalid argument', async () => {
    const details = [{ reason: 'API_KEY_INVALID' }]
    const { error } = await failed(400, { code: 400, message: 'no', status: 'INVALID_ARGUMENT', details })
    expect(error?.code).toBe('auth')
    expect(error).not.toHaveProperty('retryAfter')
  })

  test('know a model that is gone, under whatever status', async () => {
    const { error } = await failed(400, { code: 404, message: 'no', status: 'NOT_FOUND' })
    expect(error?.code).toBe('not-found')
  })
})
