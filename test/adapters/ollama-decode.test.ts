import { describe, expect, test } from 'vitest'
import { hear } from '../../src/adapters/hear.ts'
import { ollamaAdapter } from '../../src/adapters/ollama.ts'
import { callsIn, hearAll, responseOf, textIn } from './answers.ts'
import { expectRight, parseFaults } from './parse-faults.ts'

const adapter = ollamaAdapter()
const listen = (body: string, more: { status?: number } = {}) => hearAll(adapter, responseOf([body], more))

const line = (message: object, more: object = {}): string =>
  `${JSON.stringify({ model: 'm', message: { role: 'assistant', content: '', ...message }, done: false, ...more })}\n`
const end = (more: object = {}): string => line({}, { done: true, done_reason: 'stop', ...more })
const call = (fields: object): string => line({ tool_calls: [fields] })

describe('faults reported against other adapters are not ours', () => {
  const ours = parseFaults('ollama')

  test('there are faults to test', () => expect(ours).toHaveLength(2))

  test.each(ours)('%s: %s', async (_id, _symptom, fault) => {
    await expectRight(adapter, fault)
  })
})

describe('an answer in lines', () => {
  test('is told line by line, and read no further than its end', async () => {
    let sent = 0
    const body = (async function* () {
      for (const text of [
        line({ content: 'a' }),
        line({ content: 'b' }),
        end(),
        line({ content: 'never' }),
      ]) {
        sent++
        yield new TextEncoder().encode(text)
      }
    })()
    const told: string[] = []
    for await (const event of hear(adapter, { status: 200, headers: { get: () => null }, body }))
      if (event.type === 'text') told.push(`${event.delta}${sent}`)
    expect(told).toEqual(['a1', 'b2'])
    expect(sent).toBe(3)
  })

  test('that is longer than any one line may be is heard to its end', async () => {
    const bounded = ollamaAdapter({ limits: { frame: 1_000 } })
    const lines = Array.from({ length: 100 }, () => line({ content: '0123456789' }))
    const { message } = await hearAll(bounded, responseOf([...lines, end()]))
    expect(textIn(message)).toHaveLength(1_000)
  })

  test('one of which never ends is refused', async () => {
    const bounded = ollamaAdapter({ limits: { frame: 1_000 } })
    const { error } = await hearAll(bounded, responseOf([`{"message":"${'x'.repeat(2_000)}`]))
    expect(error?.code).toBe('protocol')
  })

  test('that breaks off between two of them is a broken line, with the text kept', async () => {
    const { message, error } = await listen(line({ content: 'Hal' }))
    expect(error?.code).toBe('network')
    expect(textIn(message)).toBe('Hal')
  })

  test('whose braces stand in strings is whole', async () => {
    const content = 'if (a) { "}\\" } \\'
    expect(textIn((await listen(line({ content }) + end())).message)).toBe(content)
  })

  test('that stopped at the limit says so', async () => {
    const { message } = await listen(line({ content: 'Onc' }) + end({ done_reason: 'length' }))
    expect(message.stopReason).toBe('length')
  })

  test('that only loaded the model is empty', async () => {
    const { message } = await listen(end({ done_reason: 'load' }))
    expect(message).toMatchObject({ stopReason: 'stop', content: [] })
    expect(message).not.toHaveProperty('usage')
  })
})

describe('calls', () => {
  test('keep the id that newer servers give, and get one from their place where none is', async () => {
    const f = { function: { name: 'f', arguments: { a: 1 } } }
    const { message } = await listen(call({ id: 'call_x', ...f }) + call(f) + end())
    expect(callsIn(message)).toEqual([
      { type: 'toolCall', id: 'call_x', name: 'f', arguments: { a: 1 } },
      { type: 'toolCall', id: 'call_1', name: 'f', arguments: { a: 1 } },
    ])
  })

  test('have arguments as text on some servers, and those may be invalid', async () => {
    const args = (value: unknown) => call({ function: { name: 'f', arguments: value } })
    const { message } = await listen(args('{"a":1}') + args('{"a"') + args(null) + end())
    expect(callsIn(message).map((found) => found.arguments ?? found.rawArguments)).toEqual([
      { a: 1 },
      '{"a"',
      {},
    ])
  })

  test('are whole, even where the limit ended the answer', async () => {
    const f = { function: { name: 'f', arguments: {} } }
    const { message } = await listen(call(f) + end({ done_reason: 'length' }))
    expect(callsIn(message)[0]).toHaveProperty('arguments')
  })
})

test('pictures that a model paints are pictures, in a message or in place of a text', async () => {
  const body = line({ images: ['/9j/4AAQ'] }) + end({ image: 'iVBORw0K' })
  expect((await listen(body)).message.content).toEqual([
    { type: 'image', mimeType: 'image/jpeg', data: '/9j/4AAQ' },
    { type: 'image', mimeType: 'image/png', data: 'iVBORw0K' },
  ])
})

describe('failures', () => {
  test.each([
    [404, "model 'x' not found", 'not-found'],
    [400, 'registry.ollama.ai/library/x does not support tools', 'invalid-request'],
    [400, 'prompt too long; exceeded max context length by 100 tokens', 'context-overflow'],
    [401, 'unauthorized', 'auth'],
    [429, 'too many requests', 'rate-limit'],
    [500, 'model runner has unexpectedly stopped', 'server'],
  ])('%i: %s', async (status, error, code) => {
    const heard = await listen(JSON.stringify({ error }), { status })
    expect(heard.error).toMatchObject({ code, status, message: error, provider: 'ollama' })
  })
})
