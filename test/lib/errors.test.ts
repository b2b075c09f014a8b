import { describe, expect, test } from 'vitest'
import { ErrorCode, ErrorData } from '../../src/lib/error-data.ts'
import { errorData, errorFrom, isAbort, isRetryable, TidemarkError } from '../../src/lib/errors.ts'

describe('an error', () => {
  const data: ErrorData = {
    code: 'rate-limit',
    message: 'slow down',
    status: 429,
    retryAfter: 2_000,
    requestId: 'req_1',
    provider: 'p',
  }

  test('is an Error with a code, and says all it knows as data', () => {
    const { code, message, ...details } = data
    const error = new TidemarkError(code, message, details)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'TidemarkError', code: 'rate-limit', message: 'slow down', data })
    expect(ErrorData.parse(JSON.parse(JSON.stringify(error.data)))).toEqual(data)
  })

  test('is made again from its data', () => {
    expect(errorFrom(data).data).toEqual(data)
    expect(errorFrom(data)).toMatchObject({ code: 'rate-limit', message: 'slow down' })
  })

  test('keeps its cause to itself: data is what is stored and sent', () => {
    const cause = new Error('with a key in it')
    const error = new TidemarkError('network', 'lost', { cause })
    expect(error.cause).toBe(cause)
    expect(JSON.stringify(error.data)).toBe('{"code":"network","message":"lost"}')
    expect(new TidemarkError('network', 'lost')).not.toHaveProperty('cause')
  })
})

describe('anything thrown', () => {
  const unsayable = Object.create(null)
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  test.each([
    [
      'an error of ours',
      new TidemarkError('quota', 'full', { status: 507 }),
      { code: 'quota', message: 'full', status: 507 },
    ],
    ['an error', new TypeError('no'), { code: 'server', message: 'no' }],
    ['an abort', new DOMException('stop', 'AbortError'), { code: 'aborted', message: 'stop' }],
    ['a text', 'no', { code: 'server', message: 'no' }],
    ['nothing', undefined, { code: 'server', message: 'undefined' }],
    ['null', null, { code: 'server', message: 'null' }],
    ['a symbol', Symbol('s'), { code: 'server', message: 'Symbol(s)' }],
    ['what cannot be made a text', unsayable, { code: 'server', message: expect.any(String) }],
    [
      'what throws when it is made a text',
      {
        toString: () => {
          throw new Error('ha')
        },
      },
      { code: 'server', message: expect.any(String) },
    ],
    [
      'what cannot be looked at',
      revoked.proxy,
      { code: 'server', message: 'something was thrown that has no words' },
    ],
    [
      'an error whose message is none',
      Object.assign(new Error('x'), { message: 7 }),
      { code: 'server', message: '7' },
    ],
  ])('becomes data: %s', (_, thrown, expected) => {
    expect(errorData(thrown)).toEqual(expected)
    expect(ErrorData.safeParse(errorData(thrown)).success).toBe(true)
  })

  test('gets the code of its place, unless it has one', () => {
    expect(errorData(new Error('x'), 'storage').code).toBe('storage')
    expect(errorData(new DOMException('x', 'AbortError'), 'storage').code).toBe('aborted')
    expect(errorData(new TidemarkError('auth', 'x'), 'storage').code).toBe('auth')
  })

  test.each([
    [new TidemarkError('aborted', 'x'), true],
    [AbortSignal.abort().reason, true],
    [{ name: 'AbortError' }, true],
    [new TidemarkError('timeout', 'x'), false],
    [new Error('AbortError'), false],
    [AbortSignal.abort('why').reason, false],
    [null, false],
    [undefined, false],
  ])('is an abort or not: %s', (thrown, aborted) => {
    expect(isAbort(thrown)).toBe(aborted)
  })
})

test('every code says whether the same request may succeed later', () => {
  expect(Object.fromEntries(ErrorCode.options.map((code) => [code, isRetryable({ code })]))).toEqual({
    aborted: false,
    timeout: true,
    network: true,
    'rate-limit': true,
    auth: false,
    'invalid-request': false,
    'invalid-output': false,
    'context-overflow': false,
    refusal: false,
    server: true,
    protocol: false,
    storage: false,
    quota: false,
    conflict: false,
    'not-found': false,
  })
})
