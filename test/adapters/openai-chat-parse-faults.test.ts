import { describe, expect, test } from 'vitest'
import type { AssistantDraft } from '../../src/adapters/contract.ts'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import { say } from '../../src/adapters/say.ts'
import { assistantMessage, toolMessage, userMessage } from '../support/messages.ts'
import { callsIn, hearAll, responseOf, textIn } from './answers.ts'
import { callsOf, sentBody, textOfContent } from './checkers/openai-chat.ts'
import { type Check, callsAsTuples, expectRight, parseFaults } from './parse-faults.ts'

const adapter = chatAdapter()
const ours = parseFaults('openai-chat')

const CHECKS: Readonly<Record<string, Check>> = {
  pairingByTurn: (heard) =>
    expect(pairs(heard.map(({ message }) => message))).toEqual([
      ['a', 'a'],
      ['b', 'b'],
    ]),
}

/** The answers as one history, each call answered with its own name: which name each result goes back under. */
function pairs(answers: AssistantDraft[]): [string, string][] {
  const messages = answers.flatMap((answer, turn) => [
    userMessage(`u${turn}`),
    assistantMessage(`a${turn}`, '', answer),
    ...callsIn(answer).map((call) =>
      toolMessage(`t${turn}`, call.id, { content: [{ type: 'text', text: call.name }] }),
    ),
  ])
  const { body } = say(adapter, { messages }, { model: 'm' })
  const { messages: sent } = sentBody(body)
  const names = new Map<string, string>()
  const found: [string, string][] = []
  for (const message of sent) {
    for (const call of callsOf(message)) {
      expect(names.has(call.id)).toBe(false)
      names.set(call.id, call.function.name)
    }
    if (message.role === 'tool') found.push([names.get(message.tool_call_id) ?? '', textOfContent(message)])
  }
  return found
}

describe('faults reported against other adapters are not ours', () => {
  test('there are faults to test', () => expect(ours.length).toBeGreaterThan(20))

  test.each(ours)('%s: %s', async (_id, _symptom, fault) => {
    await expectRight(adapter, fault, CHECKS)
  })
})

describe('what those faults say beyond their expectations', () => {
  const hear = (body: string) => hearAll(adapter, responseOf([body]))
  const chunk = (choice: object) => `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [choice] })}\n\n`
  const callChunk = (args: string, more = {}) =>
    chunk({
      delta: { tool_calls: [{ index: 0, function: { arguments: args, ...more } }] },
      finish_reason: null,
    })

  test('a window that is full is a context overflow', async () => {
    const { error } = await hear(chunk({ delta: {}, finish_reason: 'model_context_window_exceeded' }))
    expect(error).toMatchObject({ code: 'context-overflow' })
    expect(error?.message).toContain('model_context_window_exceeded')
  })

  test('a content filter is a refusal, with the text kept', async () => {
    const { message, error } = await hear(
      chunk({ delta: { content: 'Once' }, finish_reason: 'content_filter' }),
    )
    expect(textIn(message)).toBe('Once')
    expect(error?.code).toBe('refusal')
  })

  test('an answer that the server gave up is no end', async () => {
    const { message, error } = await hear(chunk({ delta: { content: 'On' }, finish_reason: 'abort' }))
    expect(textIn(message)).toBe('On')
    expect(error?.code).toBe('aborted')
  })

  test('the input of a custom tool is a text, and is not lost', async () => {
    const custom = (input: object) => ({ tool_calls: [{ index: 0, type: 'custom', ...input }] })
    const { message } = await hear(
      chunk({ delta: custom({ id: 'c', custom: { name: 'py', input: '' } }) }) +
        chunk({ delta: custom({ custom: { input: 'print' } }) }) +
        chunk({ delta: custom({ custom: { input: '(1)' } }) }) +
        chunk({ delta: {}, finish_reason: 'tool_calls' }),
    )
    expect(message).toMatchObject({
      stopReason: 'toolUse',
      content: [{ type: 'toolCall', id: 'c', name: 'py', rawArguments: 'print(1)' }],
    })
  })

  test('a spoken answer is kept as it came', async () => {
    const audio = { id: 'a', data: 'AAAA', transcript: 'Hello' }
    const { message } = await hear(
      JSON.stringify({ choices: [{ message: { content: null, audio }, finish_reason: 'stop' }] }),
    )
    expect(message.content).toEqual([{ type: 'other', provider: 'openai', raw: { type: 'audio', ...audio } }])
  })

  test('a reason that nobody knows yet is an end like any other', async () => {
    const { message } = await hear(chunk({ delta: { content: 'Once' }, finish_reason: 'constructor' }))
    expect(message.stopReason).toBe('stop')
  })

  test('a call cut off by length keeps its text and is not executable, even if it parses', async () => {
    const body = callChunk('{"path":"/"}', { name: 'del' }) + chunk({ delta: {}, finish_reason: 'length' })
    const { message } = await hear(body)
    expect(callsIn(message)).toEqual([
      { type: 'toolCall', id: 'call_0', name: 'del', rawArguments: '{"path":"/"}' },
    ])
  })

  test('a call that had begun when the tokens ran out has no arguments, not empty ones', async () => {
    const body = callChunk('', { name: 'del' }) + chunk({ delta: {}, finish_reason: 'length' })
    const { message } = await hear(body)
    expect(callsIn(message)).toEqual([{ type: 'toolCall', id: 'call_0', name: 'del', rawArguments: '' }])
  })

  test('of two calls of which the second was cut off, the first is whole', async () => {
    const both = [0, 1].map((index) => ({
      index,
      id: `c${index}`,
      function: { name: 'f', arguments: '{"a":1}' },
    }))
    const { message } = await hear(
      chunk({ delta: { tool_calls: both }, finish_reason: null }) +
        chunk({ delta: {}, finish_reason: 'length' }),
    )
    expect(callsIn(message).map((call) => [call.id, call.arguments])).toEqual([
      ['c0', { a: 1 }],
      ['c1', undefined],
    ])
  })

  test('keys that name the prototype are keys like others', async () => {
    const args = '{"__proto__":{"admin":true},"constructor":1}'
    const body = callChunk(args, { name: 'f' }) + chunk({ delta: {}, finish_reason: 'tool_calls' })
    const [call] = callsIn((await hear(body)).message)
    expect(Object.keys(Object(call?.arguments))).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(call?.arguments)).toBe(Object.prototype)
    expect(Reflect.get({}, 'admin')).toBeUndefined()
  })

  test('parallel calls without ids, all numbered 0, are calls of their own', async () => {
    const body = ['{"a":1}', '{"a":2}'].map((args) => callChunk(args, { name: 'f' })).join('')
    const { message } = await hear(`${body}data: [DONE]\n\n`)
    expect(callsIn(message).map((call) => call.arguments)).toEqual([{ a: 1 }, { a: 2 }])
    expect(new Set(callsIn(message).map((call) => call.id)).size).toBe(2)
  })

  test('one id for several calls becomes an id each', async () => {
    const both = [0, 1].map((index) => ({
      index,
      id: 'same',
      function: { name: 'f', arguments: `{"a":${index}}` },
    }))
    const { message } = await hear(
      `${chunk({ delta: { tool_calls: both }, finish_reason: 'tool_calls' })}data: [DONE]\n\n`,
    )
    expect(callsIn(message).map((call) => call.arguments)).toEqual([{ a: 0 }, { a: 1 }])
    expect(new Set(callsIn(message).map((call) => call.id)).size).toBe(2)
  })

  test('arguments that come as an object are arguments', async () => {
    const calls = [{ id: 'x', function: { name: 'f', arguments: { a: 1 } } }]
    const { message } = await hear(
      JSON.stringify({ choices: [{ message: { tool_calls: calls }, finish_reason: 'stop' }] }),
    )
    expect(callsAsTuples(message)).toEqual([['x', 'f', { a: 1 }]])
    expect(message.stopReason).toBe('toolUse')
  })

  test('a part that nobody knows is kept as it came', async () => {
    const part = { type: 'hologram', data: 'x' }
    const { message } = await hear(chunk({ delta: { content: [part] }, finish_reason: 'stop' }))
    expect(message.content).toEqual([{ type: 'other', provider: 'openai', raw: part }])
  })

  test('citations come once each, at the end, with the title where one is known', async () => {
    const cite = (url: string, title: string) => ({ type: 'url_citation', url_citation: { url, title } })
    const pieces = [
      { citations: ['https://a.example', 'https://b.example'], choices: [{ delta: { content: 'One ' } }] },
      {
        choices: [
          { delta: { content: 'two', annotations: [cite('https://a.example', 'A')] }, finish_reason: 'stop' },
        ],
      },
    ]
    const { message } = await hear(pieces.map((piece) => `data: ${JSON.stringify(piece)}\n\n`).join(''))
    expect(message.content).toEqual([
      { type: 'text', text: 'One two' },
      { type: 'source', url: 'https://a.example', title: 'A' },
      { type: 'source', url: 'https://b.example' },
    ])
  })

  test('proof belongs to the thinking before it, what is thought next is a block of its own', async () => {
    const think = (detail: object) => chunk({ delta: { reasoning_details: [detail] }, finish_reason: null })
    const { message } = await hear(
      [
        think({ type: 'reasoning.text', text: 'A' }),
        think({ type: 'reasoning.text', signature: 'SIG' }),
        think({ type: 'reasoning.text', text: 'B' }),
        think({ type: 'reasoning.encrypted', data: 'XX', id: 'rs_1' }),
        'data: [DONE]\n\n',
      ].join(''),
    )
    expect(message.content).toEqual([
      { type: 'thinking', text: 'A', signature: 'SIG' },
      { type: 'thinking', text: 'B' },
      { type: 'other', provider: 'openai', raw: { type: 'reasoning.encrypted', data: 'XX', id: 'rs_1' } },
    ])
  })

  test('usage that contradicts itself is no usage', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 99 }
    const { message } = await hear(
      JSON.stringify({ choices: [{ message: { content: 'x' }, finish_reason: 'stop' }], usage }),
    )
    expect(message).not.toHaveProperty('usage')
  })
})
