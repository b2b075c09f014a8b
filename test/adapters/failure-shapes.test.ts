import { describe, expect, test } from 'vitest'
import { ollamaAdapter } from '../../src/adapters/ollama.ts'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import { hearAll, responseOf, textIn } from './answers.ts'

const heard = async (body: string, status: number) =>
  (await hearAll(chatAdapter(), responseOf([body], { status }))).error

/** A body as its makers document it, the status it comes under, and what it means: in our code, and in the provider's words alone. */
const bodies: readonly (readonly [string, number, unknown, string, string])[] = [
  ['OpenAI', 401, { error: { message: 'Bad key', type: 'invalid_request_error' } }, 'auth', 'Bad key'],
  ['Ollama', 404, { error: "model 'x' not found" }, 'not-found', "model 'x' not found"],
  ['Cohere, Amazon', 400, { message: 'bad field' }, 'invalid-request', 'bad field'],
  ['an API gateway of Amazon', 413, { Message: 'too large' }, 'invalid-request', 'too large'],
  ['FastAPI', 404, { detail: 'Not Found' }, 'not-found', 'Not Found'],
  [
    'FastAPI, of fields',
    422,
    {
      detail: [
        { loc: ['body', 'a'], msg: 'field required', type: 'missing' },
        { loc: ['body', 'b'], msg: 'not a number', type: 'int' },
      ],
    },
    'invalid-request',
    'field required; not a number',
  ],
  ['a detail that is an object', 400, { detail: { error: { message: 'no' } } }, 'invalid-request', 'no'],
  [
    'Mistral, of fields',
    422,
    { object: 'error', message: { detail: [{ msg: 'extra fields' }] }, type: 'invalid_request_error' },
    'invalid-request',
    'extra fields',
  ],
  [
    'Cloudflare',
    401,
    { success: false, errors: [{ code: 10000, message: 'Authentication error' }], result: null },
    'auth',
    'Authentication error',
  ],
  ['a list of words', 400, { errors: ['one', 'two'] }, 'invalid-request', 'one; two'],
  ['Hugging Face', 400, { error: ['Input is empty'] }, 'invalid-request', 'Input is empty'],
  [
    'RFC 9457, NVIDIA',
    404,
    { type: 'about:blank', title: 'Not Found', status: 404, detail: 'no such function' },
    'not-found',
    'no such function',
  ],
  ['a title alone', 503, { title: 'Unavailable', status: 503 }, 'server', 'Unavailable'],
  ['OAuth', 401, { error: 'invalid_token', error_description: 'It expired' }, 'auth', 'It expired'],
  ['Google, in a list', 503, [{ error: { code: 503, message: 'overloaded' } }], 'server', 'overloaded'],
  [
    'OpenRouter, an upstream’s JSON',
    429,
    {
      error: {
        message: 'Provider returned error',
        code: 429,
        metadata: { raw: '{"error":{"message":"slow down"}}' },
      },
    },
    'rate-limit',
    'Provider returned error (slow down)',
  ],
  [
    'a gateway, JSON as its words',
    400,
    { error: { message: '{"error":{"message":"no such field"}}' } },
    'invalid-request',
    'no such field',
  ],
  ['one error in another', 400, { error: { error: { message: 'inner' } } }, 'invalid-request', 'inner'],
  ['JSON in a string', 400, JSON.stringify({ message: 'twice' }), 'invalid-request', 'twice'],
  ['words alone', 503, undefined, 'server', 'upstream connect error'],
]

describe('the body of a failed call', () => {
  test.each(bodies)('of %s, under %i', async (_, status, body, code, message) => {
    const text = body === undefined ? message : JSON.stringify(body)
    expect(await heard(text, status)).toMatchObject({ code, status })
    const { message: found = '' } = (await heard(text, status)) ?? {}
    // What stands in brackets behind the words is the provider's own code.
    expect(found.replace(/ \([\w.-]+\)$/, '')).toBe(message)
  })
})

const piece = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Half' } }] })}\n\n`

describe('a failure inside an answer that began well', () => {
  test.each([
    ['error: Rate limit reached\n\n', 'rate-limit', 'Rate limit reached'],
    ['error: Too Many Requests\n', 'rate-limit', 'Too Many Requests'],
    ['Error: Internal server error', 'server', 'Internal server error'],
    ['error: {"message":"overloaded","code":503}\n\n', 'server', 'overloaded'],
    ['data: error: the model is overloaded\n\n', 'server', 'the model is overloaded'],
    ['data: [ERROR]: invalid api key\n\n', 'auth', 'invalid api key'],
    ['data: {"errors":[{"code":7000,"message":"No such model"}]}\n\n', 'not-found', 'No such model'],
    ['{"success":false,"errors":[{"message":"Authentication error"}]}', 'auth', 'Authentication error'],
    ['event: error\ndata: {"detail":"request timeout"}\n\n', 'timeout', 'request timeout'],
    ['error: something odd\n\n', 'server', 'something odd'],
  ])('%j is %s', async (body, code, message) => {
    for (const before of ['', piece]) {
      const { error, message: kept } = await hearAll(chatAdapter(), responseOf([before + body]))
      expect(error).toMatchObject({ code, message })
      expect(textIn(kept)).toBe(before === '' ? '' : 'Half')
    }
  })

  test('no errors are no error', async () => {
    const whole = {
      success: true,
      errors: [],
      choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }],
    }
    expect(await heard(JSON.stringify(whole), 200)).toBeUndefined()
  })
})

describe('a line of an answer in lines that is broken', () => {
  const line = (content: string) => `${JSON.stringify({ model: 'm', message: { content }, done: false })}\n`
  const end = `${JSON.stringify({ model: 'm', message: { content: '' }, done: true, done_reason: 'stop' })}\n`
  const listen = async (text: string) => (await hearAll(ollamaAdapter(), responseOf([text]))).error?.code

  test.each([
    ['cut off in the middle, with no end', `${line('a')}{"message":{"cont\n${line('b')}`],
    ['cut off in the middle, and an end', `${line('a')}{"message":{"cont\n${line('b')}${end}`],
    ['whole but no JSON, with no end', `${line('a')}{"message": oops}\n${line('b')}`],
    ['whole but no JSON, and an end', `${line('a')}{"message": oops}\n${line('b')}${end}`],
  ])('%s, is not what a line that broke looks like', async (_, text) => {
    expect(await listen(text)).toBe('protocol')
  })

  test('at the end, is a line that broke', async () => {
    expect(await listen(`${line('a')}{"message":{"cont`)).toBe('network')
    expect(await listen(line('a'))).toBe('network')
  })

  test('is not seen in an answer of several lines that was cut', async () => {
    const pretty = JSON.stringify(
      { model: 'm', message: { content: 'a', tool_calls: [{ id: 'x' }] } },
      null,
      2,
    )
    expect(await listen(pretty.slice(0, -5))).toBe('network')
  })
})
