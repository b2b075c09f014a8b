import { describe, expect, test } from 'vitest'
import { messagesAdapter } from '../../src/adapters/anthropic.ts'
import { callsIn, hearAll, responseOf, textIn } from './answers.ts'
import { block, delta, end, ended, json, said, start, stopped, stream, text } from './anthropic-events.ts'

const adapter = messagesAdapter()
const hear = (body: string) => hearAll(adapter, responseOf([body]))

describe('blocks', () => {
  test('texts are kept apart as they came, with what they cite', async () => {
    const citation = {
      type: 'web_search_result_location',
      url: 'https://a.example',
      title: 'A',
      encrypted_index: 'I',
      cited_text: 'c',
    }
    const { message, events } = await hear(
      stream(
        start(),
        ...said('One '),
        block({ type: 'text', text: '', citations: [] }, 1),
        delta({ type: 'citations_delta', citation }, 1),
        text('two', 1),
        ended(1),
        stopped('end_turn'),
        end,
      ),
    )
    expect(message.content).toEqual([
      { type: 'text', text: 'One ' },
      { type: 'text', text: 'two', signature: JSON.stringify({ citations: [citation] }) },
      { type: 'source', url: 'https://a.example', title: 'A' },
    ])
    expect(events.filter(({ type }) => type === 'text')).toEqual([
      { type: 'text', index: 0, delta: 'One ' },
      { type: 'text', index: 1, delta: 'two' },
    ])
  })

  test('pieces find their block by its number, in whatever order they come', async () => {
    const { message } = await hear(
      stream(
        start(),
        block({ type: 'text', text: 'a' }),
        block({ type: 'text', text: 'x' }, 1),
        text('b'),
        text('y', 1),
        text('?', 7),
        stopped('end_turn'),
        end,
      ),
    )
    expect(message.content).toEqual([
      { type: 'text', text: 'ab' },
      { type: 'text', text: 'xy' },
    ])
  })

  test('thinking has its proof, and a proof alone is kept where the thinking is not shown', async () => {
    const sign = (signature: string, index: number) => delta({ type: 'signature_delta', signature }, index)
    const thinking = { type: 'thinking', thinking: '', signature: '' }
    const { message } = await hear(
      stream(
        start(),
        block(thinking),
        delta({ type: 'thinking_delta', thinking: 'hm' }),
        sign('S1', 0),
        ended(),
        block(thinking, 1),
        sign('S2', 1),
        ended(1),
        block(thinking, 2),
        ended(2),
        stopped('end_turn'),
        end,
      ),
    )
    expect(message.content).toEqual([
      { type: 'thinking', text: 'hm', signature: 'S1' },
      { type: 'thinking', text: '', signature: 'S2' },
    ])
  })

  test('calls of the server’s tools are told from ours at once, and what else they say is kept', async () => {
    const call = { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'echo', server_name: 's', input: {} }
    const { message, events } = await hear(
      stream(start(), block(call), json('{"a":1}'), ended(), stopped('end_turn'), end),
    )
    expect(events.find((event) => event.type === 'toolCall')).toMatchObject({ phase: 'start', server: true })
    expect(message.stopReason).toBe('stop')
    expect(callsIn(message)).toEqual([
      {
        type: 'toolCall',
        id: 'mcptoolu_1',
        name: 'echo',
        server: true,
        signature: '{"type":"mcp_tool_use","server_name":"s"}',
        arguments: { a: 1 },
      },
    ])
  })

  test('a call that something follows is whole, even in an answer that was cut off', async () => {
    const call = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
    const cut = await hear(
      stream(
        start(),
        block(call('a')),
        json('{"n":1}'),
        ended(),
        block(call('b'), 1),
        json('{"n":2}', 1),
        ended(1),
        stopped('max_tokens'),
        end,
      ),
    )
    expect(callsIn(cut.message).map((c) => c.arguments)).toEqual([{ n: 1 }, undefined])
    const followed = await hear(
      stream(
        start(),
        block(call('a')),
        json('{"n":1}'),
        ended(),
        ...said('and', 1),
        stopped('max_tokens'),
        end,
      ),
    )
    expect(callsIn(followed.message).map((c) => c.arguments)).toEqual([{ n: 1 }])
  })

  test('what nobody knows is kept as it came, its pieces put together', async () => {
    const { message } = await hear(
      stream(
        start(),
        block({ type: 'compaction', content: null }),
        delta({ type: 'compaction_delta', content: 'Once ' }),
        delta({ type: 'compaction_delta', content: 'upon', n: 1 }),
        ended(),
        stopped('end_turn'),
        end,
      ),
    )
    expect(message.content).toEqual([
      { type: 'other', provider: 'anthropic', raw: { type: 'compaction', content: 'Once upon', n: 1 } },
    ])
  })

  test('names of the prototype are names like others', async () => {
    const odd = JSON.parse('{"type":"odd","__proto__":{"admin":true},"constructor":"a"}')
    const { message } = await hear(
      stream(start(), block(odd), delta({ ...odd }), ended(), stopped('end_turn'), end),
    )
    const [first] = message.content
    const kept: unknown = first?.type === 'other' ? first.raw : undefined
    expect(Object.keys(Object(kept))).toEqual(['type', '__proto__', 'constructor'])
    expect(Object.getPrototypeOf(kept)).toBe(Object.prototype)
    expect(Reflect.get({}, 'admin')).toBeUndefined()
  })

  test('a block that is never ended is ended with the message', async () => {
    const { message } = await hear(stream(start(), block({ type: 'fallback' }), stopped('end_turn'), end))
    expect(message.content).toEqual([{ type: 'other', provider: 'anthropic', raw: { type: 'fallback' } }])
  })
})

describe('a gateway that begins again', () => {
  const again = { ...start({ id: 'msg_2', model: 'claude-y' }) }

  test('says nothing of its first try in the message, and tells the second from it', async () => {
    const { message, events } = await hear(
      stream(start(), ...said('Half a'), again, ...said('Whole.'), stopped('end_turn'), end),
    )
    expect(message).toMatchObject({ responseId: 'msg_2', model: 'claude-y' })
    expect(textIn(message)).toBe('Whole.')
    expect(events.flatMap((event) => (event.type === 'text' ? [[event.index, event.delta]] : []))).toEqual([
      [0, 'Half a'],
      [1, 'Whole.'],
    ])
  })

  test('the same message announced twice is one', async () => {
    const { message } = await hear(
      stream(start(), ...said('One '), start(), ...said('two', 1), stopped('end_turn'), end),
    )
    expect(textIn(message)).toBe('One two')
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
