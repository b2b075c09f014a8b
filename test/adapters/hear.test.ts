import { describe, expect, test } from 'vitest'
import { hear } from '../../src/adapters/hear.ts'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import { hearAll, responseOf, textIn } from './answers.ts'

const adapter = chatAdapter({ provider: 'p' })
const piece = (content: string, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`

describe('the end of an answer', () => {
  test('bytes that stop before any end is seen are a broken line, with the text kept', async () => {
    const { message, error } = await hearAll(adapter, responseOf([piece('Half an ans')]))
    expect(error).toMatchObject({ code: 'network', provider: 'p' })
    expect(message).toMatchObject({ stopReason: 'error', content: [{ type: 'text', text: 'Half an ans' }] })
  })

  test('so is a last piece that was cut in half', async () => {
    const cut = piece(' swer').slice(0, 40)
    const { message, error } = await hearAll(adapter, responseOf([piece('An'), cut]))
    expect(error?.code).toBe('network')
    expect(textIn(message)).toBe('An')
  })

  test('so is nothing at all', async () => {
    expect((await hearAll(adapter, responseOf([]))).error?.code).toBe('network')
  })

  test('so is half of a JSON answer', async () => {
    const whole = JSON.stringify({ choices: [{ message: { content: 'x' }, finish_reason: 'stop' }] })
    expect((await hearAll(adapter, responseOf([whole.slice(0, -5)]))).error?.code).toBe('network')
  })

  test('a reason to stop is an end, even if the line breaks after it', async () => {
    const failure = new TypeError('terminated')
    const { message } = await hearAll(adapter, responseOf([piece('All.', 'stop')], { failure }))
    expect(message).toMatchObject({ stopReason: 'stop', content: [{ text: 'All.' }] })
  })

  test('a line that breaks before it is a failure, with the text kept', async () => {
    const failure = new TypeError('terminated')
    const { message, error } = await hearAll(adapter, responseOf([piece('Hal')], { failure }))
    expect(error).toEqual({ code: 'network', message: 'terminated', provider: 'p' })
    expect(textIn(message)).toBe('Hal')
  })

  test('a silence that was waited out keeps its code', async () => {
    const failure = new TidemarkError('timeout', 'nothing came')
    const { error } = await hearAll(adapter, responseOf([piece('Hal')], { failure }))
    expect(error?.code).toBe('timeout')
  })

  test('an abort is an abort, with what came so far', async () => {
    const failure = new DOMException('stop', 'AbortError')
    const { events, message } = await hearAll(adapter, responseOf([piece('Hal', 'stop')], { failure }))
    expect(events.at(-1)).toMatchObject({ type: 'error', reason: 'aborted', error: { code: 'aborted' } })
    expect(message.stopReason).toBe('aborted')
    expect(textIn(message)).toBe('Hal')
  })

  test('after [DONE] nothing more is read: some servers leave the line open', async () => {
    const read: string[] = []
    const encoder = new TextEncoder()
    const body = (async function* () {
      for (const text of [piece('x', 'stop'), 'data: [DONE]\n\n', piece('never')]) {
        read.push(text)
        yield encoder.encode(text)
      }
    })()
    const { message } = await hearAll(adapter, { status: 200, headers: { get: () => null }, body })
    expect(textIn(message)).toBe('x')
    expect(read).toHaveLength(2)
  })

  test('the body is let go when the reader leaves', async () => {
    let closed = false
    const body = (async function* () {
      try {
        for (;;) yield new TextEncoder().encode(piece('x'))
      } finally {
        closed = true
      }
    })()
    for await (const _ of hear(adapter, { status: 200, headers: { get: () => null }, body })) break
    expect(closed).toBe(true)
  })
})

describe('errors, in whatever shape they come', () => {
  const failed = (body: string, status: number, headers: Record<string, string> = {}) =>
    hearAll(adapter, responseOf([body], { status, headers }))
  const error = (fields: object) => JSON.stringify({ error: fields })

  test.each([
    [400, error({ message: 'no' }), 'invalid-request'],
    [401, error({ message: 'no', type: 'invalid_request_error' }), 'auth'],
    [400, '{"code":"Client specified an invalid argument","error":"no: Incorrect API key"}', 'auth'],
    [402, error({ message: 'no' }), 'quota'],
    [403, error({ message: 'no' }), 'auth'],
    [404, error({ message: 'no', code: 'model_not_found' }), 'not-found'],
    [422, '{"detail":[{"loc":["body"],"msg":"no"}]}', 'invalid-request'],
    [429, error({ message: 'no', type: 'tokens', code: 'rate_limit_exceeded' }), 'rate-limit'],
    [429, error({ message: 'no', code: 'insufficient_quota' }), 'quota'],
    [400, error({ message: 'no', code: 'content_filter' }), 'refusal'],
    [500, error({ message: 'no', type: 'server_error' }), 'server'],
    [503, '{"object":"error","message":"no"}', 'server'],
    [504, '', 'timeout'],
    [529, error({ message: 'no', type: 'overloaded_error' }), 'server'],
    [200, error({ message: 'no', code: 502 }), 'server'],
    [200, error({ message: 'no', code: 429 }), 'rate-limit'],
    [200, '[{"error":{"code":503,"message":"no","status":"UNAVAILABLE"}}]', 'server'],
    [200, 'data: {"error":{"message":"no","type":"overloaded_error"}}\n\n', 'server'],
    [200, 'event: error\ndata: no\n\n', 'server'],
    [200, 'error: {"error":{"message":"no"}}\n\n', 'server'],
  ])('%i %s is %s', async (status, body, code) => {
    const { message, error: found } = await failed(body, status)
    expect(found?.code).toBe(code)
    expect(found?.message).toContain(body === '' ? 'HTTP 504' : 'no')
    expect(found?.status).toBe(
      status >= 400 ? status : /"code":(\d+)/.exec(body)?.[1] && Number(/"code":(\d+)/.exec(body)?.[1]),
    )
    expect(message.stopReason).toBe('error')
  })

  test('the request id comes from the headers, or from the body', async () => {
    const byHeader = await failed(error({ message: 'no' }), 500, { 'x-request-id': 'req_1' })
    expect(byHeader.error?.requestId).toBe('req_1')
    const byAmazon = await failed(error({ message: 'no' }), 500, { 'x-amzn-requestid': 'req_3' })
    expect(byAmazon.error?.requestId).toBe('req_3')
    const byBody = await failed('{"error":{"message":"no"},"request_id":"req_2"}', 500)
    expect(byBody.error?.requestId).toBe('req_2')
  })

  test('a page of a gateway is not repeated', async () => {
    const { error: found } = await failed('<html><body>Bad gateway</body></html>', 502)
    expect(found).toEqual({ code: 'server', message: 'HTTP 502', status: 502, provider: 'p' })
  })

  test("an upstream's words come with those of the router", async () => {
    const metadata = { provider_name: 'Google', raw: 'temporarily rate-limited upstream' }
    const { error: found } = await failed(
      error({ message: 'Provider returned error', code: 429, metadata }),
      429,
    )
    expect(found?.message).toBe('Provider returned error (temporarily rate-limited upstream)')
  })

  test('an error after good pieces keeps them', async () => {
    const bare = '{\n  "error": {\n    "code": 503,\n    "message": "overloaded"\n  }\n}\n'
    const { message, error: found } = await hearAll(adapter, responseOf([piece('Okay', 'stop'), bare]))
    expect(textIn(message)).toBe('Okay')
    expect(found).toMatchObject({ code: 'server', status: 503, message: 'overloaded' })
  })

  test('what is neither a stream nor JSON is said to be so', async () => {
    expect((await failed('<html>login</html>', 200)).error?.code).toBe('protocol')
    expect((await failed('{"hello":"world"}', 200)).error?.code).toBe('protocol')
    expect((await failed('{"choices":[{"message":{"content":"x",}}]}', 200)).error?.code).toBe('protocol')
  })

  test('words without end are cut', async () => {
    expect((await failed(error({ message: 'x'.repeat(1e5) }), 400)).error?.message).toHaveLength(2_000)
  })
})

describe('an answer cannot fill the memory', () => {
  const limits = { frame: 1_000, answer: 500 }
  const bounded = chatAdapter({ limits })
  const protocol = { code: 'protocol' }

  test('a piece that never ends is refused', async () => {
    const { error } = await hearAll(
      bounded,
      responseOf(Array(50).fill('data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx')),
    )
    expect(error).toMatchObject(protocol)
    expect(error?.message).toContain('1000')
  })

  test('lines of no meaning are refused when there are too many', async () => {
    const { error } = await hearAll(bounded, responseOf(Array(100).fill('x: yyyyyyyyyyyyyy\n')))
    expect(error).toMatchObject({ ...protocol, message: expect.stringContaining('more than 1000') })
  })

  test('a text is refused when it is too long, and kept as far as it came', async () => {
    const { message, error } = await hearAll(bounded, responseOf(Array(100).fill(piece('0123456789'))))
    expect(error).toMatchObject(protocol)
    expect(textIn(message).length).toBeGreaterThan(400)
    expect(textIn(message).length).toBeLessThanOrEqual(500)
  })

  test('so are arguments, calls and sources', async () => {
    const call = (index: number, args: string) =>
      `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [{ index, function: { name: 'f', arguments: args } }] } }] })}\n\n`
    const cite = (n: number) => `data: ${JSON.stringify({ citations: [`https://a.example/${n}`] })}\n\n`
    const endless = [
      Array(100).fill(call(0, '0123456789')),
      Array.from({ length: 100 }, (_, n) => call(n, '')),
      Array.from({ length: 100 }, (_, n) => cite(n)),
    ]
    for (const pieces of endless)
      expect((await hearAll(bounded, responseOf(pieces))).error).toMatchObject(protocol)
  })

  test('a piece in mid-stream that is not JSON is not guessed at', async () => {
    const { message, error } = await hearAll(
      adapter,
      responseOf([piece('Hal'), 'data: {"choices":[\n\n', piece('f', 'stop')]),
    )
    expect(error).toMatchObject(protocol)
    expect(textIn(message)).toBe('Hal')
  })

  test('a sign of life that is no JSON is passed over', async () => {
    const { message } = await hearAll(
      adapter,
      responseOf([piece('a'), 'data: ping\n\n', ': hm\n\n', piece('b', 'stop')]),
    )
    expect(textIn(message)).toBe('ab')
  })
})
