import { describe, expect, test } from 'vitest'
import type { ModelContext } from '../../src/adapters/contract.ts'
import { type ChatAdapterOptions, chatAdapter } from '../../src/adapters/openai-chat.ts'
import { say } from '../../src/adapters/say.ts'
import type { AssistantBlock, Message } from '../../src/message/schema.ts'
import {
  assistantMessage,
  callingMessage,
  deepFreeze,
  systemMessage,
  toolCall,
  toolMessage,
  userMessage,
} from '../support/messages.ts'
import { callsOf, sentBody, textOfContent } from './checkers/openai-chat.ts'

const encode = (context: ModelContext, call = {}, options: ChatAdapterOptions = {}) =>
  say(chatAdapter(options), deepFreeze(context), { model: 'm', ...call })
const sent = (...messages: Message[]) => sentBody(encode({ messages }).body).messages
const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' } as const

describe('a request', () => {
  test('asks for a stream with usage at its end', () => {
    const { path, body } = encode({ messages: [userMessage('1', 'Hi')] })
    expect(path).toBe('/chat/completions')
    expect(sentBody(body)).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test('or for a whole answer, without a word about streams', () => {
    const { body } = encode({ messages: [userMessage('1')] }, { stream: false })
    expect(Object.keys(sentBody(body))).toEqual(['model', 'messages'])
  })

  test('says options in the words of the provider', () => {
    const call = { maxOutputTokens: 9, temperature: 0, topP: 0.5, stop: ['X'] }
    const { body } = encode({ messages: [userMessage('1')] }, call)
    expect(sentBody(body)).toMatchObject({ max_tokens: 9, temperature: 0, top_p: 0.5, stop: ['X'] })
  })

  test('leaves out what a reasoning model refuses, unless it is insisted on', () => {
    const call = { model: 'gpt-5-mini', maxOutputTokens: 9, temperature: 0, stop: ['X'], extra: { top_p: 1 } }
    const body = sentBody(encode({ messages: [userMessage('1')] }, call).body)
    expect(body).toMatchObject({ max_completion_tokens: 9, top_p: 1 })
    expect(body).not.toHaveProperty('temperature')
    expect(body).not.toHaveProperty('stop')
    expect(body).not.toHaveProperty('max_tokens')
  })

  test('ends with what the caller wants beside it, own fields alone', () => {
    const extra = Object.assign(
      Object.create({ inherited: 1 }),
      JSON.parse('{"model":"other","__proto__":{"x":1}}'),
    )
    const { body } = encode({ messages: [userMessage('1')] }, { extra })
    expect(body.model).toBe('other')
    expect(body).not.toHaveProperty('inherited')
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype)
    expect(Reflect.get({}, 'x')).toBeUndefined()
  })

  test('names tools and the choice among them', () => {
    const tools = [
      {
        name: 'clock',
        description: 'Tells the time',
        parameters: { properties: { zone: { type: 'string' } } },
      },
    ]
    const context = { messages: [userMessage('1')], tools }
    const tool = {
      name: 'clock',
      description: 'Tells the time',
      parameters: { type: 'object', properties: { zone: { type: 'string' } } },
    }
    expect(sentBody(encode(context, { toolChoice: 'required' }).body)).toMatchObject({
      tools: [{ type: 'function', function: tool }],
      tool_choice: 'required',
    })
    expect(sentBody(encode(context, { toolChoice: { name: 'clock' } }).body)).toMatchObject({
      tool_choice: { type: 'function', function: { name: 'clock' } },
    })
    expect(
      sentBody(encode({ messages: [userMessage('1')], tools: [] }, { toolChoice: 'auto' }).body),
    ).not.toHaveProperty('tool_choice')
  })
})

describe('a history', () => {
  test('begins with the instructions', () => {
    const { body } = encode({
      system: 'Be brief.',
      messages: [systemMessage('0', 'Be kind.'), userMessage('1', 'Hi')],
    })
    expect(sentBody(body).messages.map(textOfContent)).toEqual(['Be brief.', 'Be kind.', 'Hi'])
  })

  test('keeps images where a user put them, by data or by address', () => {
    const url = 'https://a.example/b.png'
    const [message] = sent(
      userMessage('1', '', {
        content: [{ type: 'text', text: 'Look' }, image, { type: 'image', mimeType: 'image/png', url }],
      }),
    )
    expect(message?.content).toEqual([
      { type: 'text', text: 'Look' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
      { type: 'image_url', image_url: { url } },
    ])
  })

  test('says what could not be shown', () => {
    const [message] = sent(
      userMessage('1', '', {
        content: [
          { type: 'file', mimeType: 'application/pdf', name: 'a.pdf', data: 'JVBERi0=' },
          { type: 'image', mimeType: 'image/png', attachmentId: 'att1' },
          { type: 'file', mimeType: 'audio/wav', name: 'b.wav', data: 'UklGRg==' },
        ],
      }),
    )
    expect(message?.content).toEqual([
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
      { type: 'text', text: '[image image/png not shown]' },
      { type: 'text', text: '[file b.wav not shown]' },
    ])
  })

  test('has calls with their results, arguments as text', () => {
    const messages = sent(
      userMessage('1', 'Time?'),
      assistantMessage('2', 'Let me see.', {
        content: [{ type: 'text', text: 'Let me see.' }, toolCall('c1', { arguments: { zone: 'UTC' } })],
      }),
      toolMessage('3', 'c1', { content: [{ type: 'text', text: 'noon' }] }),
    )
    expect(messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'clock', arguments: '{"zone":"UTC"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'noon' },
    ])
  })

  test('shows the model what it wrote where that was not JSON, and that it was not run', () => {
    const { arguments: _, ...call } = toolCall('c1', { rawArguments: '{}{"a"' })
    const messages = sent(userMessage('1'), assistantMessage('2', '', { content: [call] }))
    expect(messages.flatMap(callsOf).map((sentCall) => JSON.parse(sentCall.function.arguments))).toEqual([
      { invalid: '{}{"a"' },
    ])
    expect(messages.at(-1)).toMatchObject({
      role: 'tool',
      content: 'Not executed: the arguments are not valid JSON.',
    })
  })

  test('keeps only the text of an answer that broke off, whoever broke it off', () => {
    const content: AssistantBlock[] = [
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'Half' },
      toolCall('c1'),
    ]
    const broken = [
      { stopReason: 'aborted' as const },
      { stopReason: 'error' as const },
      { status: 'interrupted' as const },
      { status: 'failed' as const },
    ]
    for (const more of broken) {
      const messages = sent(
        userMessage('1'),
        assistantMessage('2', '', { content, ...more }),
        toolMessage('3', 'c1'),
        userMessage('4'),
      )
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
      expect(messages[1]).toEqual({ role: 'assistant', content: 'Half' })
    }
  })

  test('keeps foreign thinking, sources and unknown blocks to itself', () => {
    const content: AssistantBlock[] = [
      { type: 'thinking', text: 'hm', signature: 's' },
      { type: 'text', text: 'Yes' },
      { type: 'source', url: 'https://a.example' },
      { type: 'other', provider: 'p', raw: {} },
      toolCall('s1', { server: true }),
    ]
    expect(sent(userMessage('1'), assistantMessage('2', '', { content, provider: 'p' }))[1]).toEqual({
      role: 'assistant',
      content: 'Yes',
    })
  })

  test('renames ids that the server would refuse, in call and result alike', () => {
    const long = 'x'.repeat(64)
    const messages = sent(
      userMessage('1'),
      callingMessage('2', [long, 'fc|1']),
      toolMessage('3', long),
      toolMessage('4', 'fc|1'),
    )
    const ids = messages.flatMap(callsOf).map(({ id }) => id)
    expect(ids).toEqual(['call_000000000', 'call_000000001'])
    expect(messages.flatMap((message) => (message.role === 'tool' ? [message.tool_call_id] : []))).toEqual(
      ids,
    )
  })

  test('answers two calls of one id in their order', () => {
    const result = (id: string, text: string) => toolMessage(id, 'c', { content: [{ type: 'text', text }] })
    const messages = sent(
      userMessage('1'),
      callingMessage('2', ['c', 'c']),
      result('3', 'one'),
      result('4', 'two'),
    )
    expect(messages.slice(2).map(textOfContent)).toEqual(['one', 'two'])
    expect(new Set(messages.flatMap(callsOf).map(({ id }) => id)).size).toBe(2)
  })

  test('gives the ids of its own server back as they were', () => {
    const own = 'functions.get weather:0'
    const context = {
      messages: [userMessage('1'), callingMessage('2', [own], { provider: 'openai' }), toolMessage('3', own)],
    }
    expect(sentBody(encode(context).body).messages.flatMap(callsOf)[0]?.id).toBe(own)
  })

  test('leaves the messages it was given as they were', () => {
    // They are frozen: writing to them would throw.
    expect(sent(userMessage('1'), assistantMessage('2', 'a'), assistantMessage('3', 'b')).at(-1)).toEqual({
      role: 'assistant',
      content: 'a\n\nb',
    })
  })
})
