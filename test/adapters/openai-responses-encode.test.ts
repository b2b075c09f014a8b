import { describe, expect, test } from 'vitest'
import type { CallOptions } from '../../src/adapters/contract.ts'
import { type ResponsesAdapterOptions, responsesAdapter } from '../../src/adapters/openai-responses.ts'
import { RESPONSES_QUIRKS } from '../../src/adapters/openai-responses-quirks.ts'
import { say } from '../../src/adapters/say.ts'
import type { AssistantBlock, Message } from '../../src/message/schema.ts'
import { assistantMessage, systemMessage, toolCall, toolMessage, userMessage } from '../support/messages.ts'
import { sentResponses } from './checkers/openai-responses-body.ts'

const question = userMessage('u', 'Hi')

/** The body of a request, as it goes over the wire. */
function encode(
  messages: readonly Message[],
  { model = 'gpt-5', stream, ...options }: CallOptions & { model?: string; stream?: boolean } = {},
  adapter: ResponsesAdapterOptions = {},
) {
  const call = { model, ...(stream !== undefined && { stream }), ...options }
  return sentResponses(say(responsesAdapter(adapter), { messages }, call).body)
}
const inputOf = (messages: readonly Message[], adapter?: ResponsesAdapterOptions) =>
  encode(messages, {}, adapter).input

describe('a request', () => {
  test('asks for a stream that is not stored, with thinking that can go back', () => {
    const { path, headers, body } = say(responsesAdapter(), { messages: [question] }, { model: 'gpt-5' })
    expect([path, headers]).toEqual(['/responses', { 'content-type': 'application/json' }])
    expect(sentResponses(body)).toEqual({
      model: 'gpt-5',
      input: [{ role: 'user', content: 'Hi' }],
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
    })
  })

  test('for an answer in the background has it stored', () => {
    expect(encode([question], {}, { background: true })).toMatchObject({ background: true, store: true })
  })

  test('for a whole answer does not ask for a stream', () => {
    expect(encode([question], { stream: false })).not.toHaveProperty('stream')
  })

  test('says what is asked of it in the provider’s words', () => {
    const output = { schema: { type: 'object' }, name: 'city', strict: true }
    const body = encode(
      [question],
      { maxOutputTokens: 100, thinking: 'max', output, stop: ['X'], cache: 'short', extra: { user: 'u1' } },
      { summary: 'auto' },
    )
    expect(body).toMatchObject({
      max_output_tokens: 100,
      reasoning: { effort: 'xhigh', summary: 'auto' },
      text: { format: { type: 'json_schema', ...output } },
      user: 'u1',
    })
    expect(body).not.toHaveProperty('stop')
  })

  test('has the caller’s own fields last, whatever they are called', () => {
    const extra = JSON.parse('{"store":true,"__proto__":{"x":1}}')
    const { body } = say(responsesAdapter(), { messages: [question] }, { model: 'm', extra })
    expect(body.store).toBe(true)
    expect(Object.keys(body)).toContain('__proto__')
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype)
  })

  test('asks for no fewer tokens than the API takes', () => {
    expect(encode([question], { maxOutputTokens: 1 }).max_output_tokens).toBe(16)
  })

  test('spares a model what it does not take', () => {
    const call = { temperature: 0.5, topP: 0.9, thinking: 'low' } as const
    expect(encode([question], { ...call, model: 'o3' })).not.toHaveProperty('temperature')
    const thoughtless = encode([question], { ...call, model: 'gpt-4o-mini' })
    expect(thoughtless).toMatchObject({ temperature: 0.5, top_p: 0.9 })
    expect(thoughtless).not.toHaveProperty('reasoning')
    expect(thoughtless).not.toHaveProperty('include')
  })

  test('has its instructions beside the history, and later ones within it', () => {
    const context = { system: 'Be brief \ud83d.', messages: [question, systemMessage('s', 'In French.')] }
    const body = sentResponses(say(responsesAdapter(), context, { model: 'm' }).body)
    expect(body).toMatchObject({
      instructions: 'Be brief \ufffd.',
      input: [{ role: 'user' }, { role: 'system', content: 'In French.' }],
    })
    expect(encode([question])).not.toHaveProperty('instructions')
  })

  test('of nobody in particular still has a user', () => {
    expect(inputOf([])).toEqual([{ role: 'user', content: 'Continue.' }])
  })
})

describe('tools', () => {
  const tool = { name: 'f', description: 'does f', parameters: { properties: { a: {} } } }
  const context = { messages: [question], tools: [{ ...tool, execute: 'not for others' }] }

  test('go flat, with the choice among them', () => {
    const { body } = say(responsesAdapter(), context, { model: 'm', toolChoice: { name: 'f' } })
    expect(sentResponses(body)).toMatchObject({
      tools: [
        {
          type: 'function',
          name: 'f',
          description: 'does f',
          parameters: { type: 'object', properties: { a: {} } },
          strict: false,
        },
      ],
      tool_choice: { type: 'function', name: 'f' },
    })
    expect(JSON.stringify(body)).not.toContain('not for others')
  })

  test('are strict where they say so, and silent where the server knows no such thing', () => {
    const strict = { ...context, tools: [{ ...tool, strict: true }] }
    expect(say(responsesAdapter(), strict, { model: 'm' }).body.tools).toMatchObject([{ strict: true }])
    const silent = say(responsesAdapter({ quirks: { strict: false } }), strict, { model: 'm' })
    expect(sentResponses(silent.body).tools?.[0]).not.toHaveProperty('strict')
  })

  test('that are none are left out, and so is the choice', () => {
    const body = encode([question], { toolChoice: 'auto' })
    expect([body.tools, body.tool_choice]).toEqual([undefined, undefined])
  })
})

test('what was said is kept for a day where that is wanted, by models that can', () => {
  const kept = (model: string, cache: 'short' | 'long') =>
    say(responsesAdapter(), { messages: [question] }, { model, cache }).body.prompt_cache_retention
  expect(kept('gpt-5.1', 'long')).toBe('24h')
  expect([kept('gpt-5.1', 'short'), kept('gpt-4o', 'long')]).toEqual([undefined, undefined])
})

describe('pictures and files', () => {
  const data = 'iVBORw0KGgo='

  test('go as they are, or by their address', () => {
    const content = [
      { type: 'text' as const, text: 'Look' },
      { type: 'image' as const, mimeType: 'image/png', data },
      { type: 'image' as const, mimeType: 'image/png', url: 'https://a.example/x.png' },
      { type: 'file' as const, mimeType: 'application/pdf', data, name: 'x.pdf' },
      { type: 'file' as const, mimeType: 'application/pdf', url: 'https://a.example/x.pdf' },
      { type: 'file' as const, mimeType: 'audio/mpeg', data, name: 'x.mp3' },
      { type: 'image' as const, mimeType: 'image/png', attachmentId: 'a1' },
    ]
    expect(inputOf([userMessage('u', '', { content })])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look' },
          { type: 'input_image', image_url: `data:image/png;base64,${data}` },
          { type: 'input_image', image_url: 'https://a.example/x.png' },
          { type: 'input_file', filename: 'x.pdf', file_data: `data:application/pdf;base64,${data}` },
          { type: 'input_file', file_url: 'https://a.example/x.pdf' },
          { type: 'input_text', text: '[file x.mp3 not shown]' },
          { type: 'input_text', text: '[image image/png not shown]' },
        ],
      },
    ])
  })

  const shown = [
    assistantMessage('a', '', { content: [toolCall('c1')] }),
    toolMessage('t', 'c1', {
      content: [
        { type: 'text', text: 'done' },
        { type: 'image', mimeType: 'image/png', data },
      ],
    }),
  ]

  test('of a result follow it in a message, where a result can only be text', () => {
    expect(inputOf(shown, { quirks: RESPONSES_QUIRKS.xai }).slice(1)).toEqual([
      { type: 'function_call', call_id: 'c1', name: 'clock', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'done' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Images from above:' },
          { type: 'input_image', image_url: `data:image/png;base64,${data}` },
        ],
      },
    ])
  })

  test('of an answer follow it in a message', () => {
    const content: AssistantBlock[] = [
      { type: 'text', text: 'Here' },
      { type: 'image', mimeType: 'image/webp', data },
    ]
    expect(inputOf([question, assistantMessage('a', '', { content })])).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: 'Here' },
      { role: 'user', content: [{ type: 'input_text' }, { image_url: `data:image/webp;base64,${data}` }] },
    ])
  })
})

describe('an answer that is kept', () => {
  const kept = responsesAdapter({ background: true })

  test('can be heard again, whole or from an event on', () => {
    expect(kept.resume?.('resp_1')).toMatchObject({ method: 'GET', path: '/responses/resp_1?stream=true' })
    expect(kept.resume?.('a/b', 0).path).toBe('/responses/a%2Fb?stream=true&starting_after=0')
  })

  test('can be cancelled', () => {
    expect(kept.cancel?.('resp_1')).toMatchObject({ path: '/responses/resp_1/cancel', body: {} })
  })

  test('is none, where it is not written in the background', () => {
    expect([responsesAdapter().resume, responsesAdapter().cancel]).toEqual([undefined, undefined])
  })
})
