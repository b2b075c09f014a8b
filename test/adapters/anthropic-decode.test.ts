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

  test('arguments may come with the call; where pieces come too, they are the arguments', async () => {
    const begun = block({ type: 'tool_use', id: 'a', name: 'f', input: { n: 1 } })
    for (const [pieces, args] of [
      [[], { n: 1 }],
      [[json('')], { n: 1 }],
      [[json('{"n":'), json('2}')], { n: 2 }],
    ] as const) {
      const { message } = await hear(stream(start(), begun, ...pieces, ended(), stopped('tool_use'), end))
      expect(callsIn(message).map((call) => call.arguments)).toEqual([args])
    }
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
      stream(
        start(),
        ...said('Half a'),
        block({ type: 'odd' }, 1),
        again,
        ...said('Whole.'),
        stopped('end_turn'),
        end,
      ),
    )
    expect(message).toMatchObject({ responseId: 'msg_2', model: 'claude-y' })
    expect(textIn(message)).toBe('Whole.')
    expect(message.content.some(({ type }) => type !== 'text')).toBe(false)
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
