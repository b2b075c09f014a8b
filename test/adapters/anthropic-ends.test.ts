import { describe, expect, test } from 'vitest'
import { messagesAdapter } from '../../src/adapters/anthropic.ts'
import { hearAll, responseOf, textIn } from './answers.ts'
import { block, delta, end, ended, said, start, stopped, stream, text } from './anthropic-events.ts'

const adapter = messagesAdapter()
const hear = (body: string, status = 200) => hearAll(adapter, responseOf([body], { status }))

describe('the end of an answer', () => {
  test('is the event that says so: a stream that stops before was cut, and its text is kept', async () => {
    for (const events of [
      [start(), block({ type: 'text', text: '' }), text('Hal')],
      [start(), ...said('Hal'), stopped('end_turn')],
    ]) {
      const { message, error } = await hear(stream(...events))
      expect(error).toMatchObject({ code: 'network', provider: 'anthropic' })
      expect(message).toMatchObject({ stopReason: 'error', content: [{ type: 'text', text: 'Hal' }] })
      expect(message.usage?.input).toBe(9)
    }
  })

  test('may be [DONE], behind a gateway, where a reason to stop was given', async () => {
    const whole = stream(start(), ...said('All.'), stopped('end_turn'))
    expect((await hear(`${whole}data: [DONE]\n\n`)).message.stopReason).toBe('stop')
    expect((await hear(`${stream(start(), ...said('All.'))}data: [DONE]\n\n`)).error?.code).toBe('network')
  })

  test('comes with its reason, also one that nobody knows yet', async () => {
    const reasons = {
      end_turn: 'stop',
      stop_sequence: 'stop',
      pause_turn: 'stop',
      constructor: 'stop',
      max_tokens: 'length',
      model_context_window_exceeded: 'length',
    }
    for (const [reason, ours] of Object.entries(reasons))
      expect((await hear(stream(start(), ...said('x'), stopped(reason), end))).message.stopReason).toBe(ours)
  })

  test('a refusal is an error with its explanation, and the text so far', async () => {
    const details = { category: 'cyber', explanation: 'Not this.' }
    const { message, error } = await hear(
      stream(
        start(),
        ...said('Well'),
        { ...stopped('refusal'), delta: { stop_reason: 'refusal', stop_details: details } },
        end,
      ),
    )
    expect(error).toMatchObject({ code: 'refusal', message: 'Not this.' })
    expect(textIn(message)).toBe('Well')
    const silent = await hear(stream(start(), stopped('sensitive'), end))
    expect(silent.error).toMatchObject({ code: 'refusal', message: 'the model stopped: sensitive' })
  })

  test('a whole answer ends as a stream does', async () => {
    const answer = { ...start().message, content: [{ type: 'text', text: 'Hi' }], stop_reason: 'max_tokens' }
    const { message } = await hear(JSON.stringify(answer, null, 2))
    expect(message).toMatchObject({
      stopReason: 'length',
      model: 'claude-x',
      responseId: 'msg_1',
      content: [{ text: 'Hi' }],
    })
  })

  test('what is no message is not taken for one', async () => {
    expect((await hear('{"type":"completion","completion":"Hi"}')).error?.code).toBe('protocol')
  })
})

describe('errors', () => {
  const failure = (type: string, message = 'no') => ({
    type: 'error',
    error: { type, message },
    request_id: 'req_1',
  })

  test.each([
    [400, 'invalid_request_error', 'invalid-request'],
    [401, 'authentication_error', 'auth'],
    [403, 'permission_error', 'auth'],
    [404, 'not_found_error', 'not-found'],
    [413, 'request_too_large', 'invalid-request'],
    [429, 'rate_limit_error', 'rate-limit'],
    [500, 'api_error', 'server'],
    [504, 'timeout_error', 'timeout'],
    [529, 'overloaded_error', 'server'],
  ])('%i %s is %s, by its status or inside a stream', async (status, type, code) => {
    const body = JSON.stringify(failure(type))
    expect((await hear(body, status)).error).toMatchObject({
      code,
      status,
      requestId: 'req_1',
      message: `no (${type})`,
    })
    if (type === 'request_too_large') return
    const { error } = await hear(`${stream(start())}event: error\ndata: ${body}\n\n`)
    expect(error).toMatchObject({ code, requestId: 'req_1', message: `no (${type})` })
  })

  test.each([
    'prompt is too long: 210000 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again',
  ])('a full window is known by its words: %s', async (words) => {
    expect((await hear(JSON.stringify(failure('invalid_request_error', words)), 400)).error?.code).toBe(
      'context-overflow',
    )
  })
})

describe('usage', () => {
  test('is what was said last of each count, never a sum', async () => {
    const usage = {
      input_tokens: 9,
      output_tokens: 1,
      cache_creation_input_tokens: 3,
      cache_read_input_tokens: 4,
    }
    const final = {
      usage: { input_tokens: null, output_tokens: 30, output_tokens_details: { thinking_tokens: 12 } },
    }
    const { message } = await hear(
      stream(start({ usage }), ...said('x'), stopped('end_turn'), stopped('end_turn', final), end),
    )
    expect(message.usage).toEqual({
      input: 9,
      output: 30,
      cacheRead: 4,
      cacheWrite: 3,
      total: 46,
      reasoning: 12,
    })
  })
})

describe('an answer cannot fill the memory', () => {
  const bounded = messagesAdapter({ limits: { answer: 500 } })
  const long = 'x'.repeat(30)
  const many = (make: (i: number) => { type: string }[]) =>
    Array.from({ length: 100 }, (_, i) => stream(...make(i)))

  test.each([
    ['texts', many(() => [text(long)])],
    ['citations', many(() => [delta({ type: 'citations_delta', citation: { type: long } })])],
    ['blocks', many((i) => [block({ type: 'odd', long }, i), ended(i)])],
    ['calls', many((i) => [block({ type: 'tool_use', id: `t${i}`, name: 'f', input: {} }, i)])],
    [
      'unfinished pieces',
      [stream(block({ type: 'odd' }, 1)), ...many(() => [delta({ type: 'x', long }, 1)])],
    ],
    ['proofs', many((i) => [block({ type: 'thinking', signature: long }, i), ended(i)])],
  ])('with %s', async (_what, pieces) => {
    const { error } = await hearAll(
      bounded,
      responseOf([stream(start(), block({ type: 'text' })), ...pieces]),
    )
    expect(error?.code).toBe('protocol')
  })
})
