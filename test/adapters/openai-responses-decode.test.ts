import { describe, expect, test } from 'vitest'
import { callsIn, textIn } from './answers.ts'
import {
  added,
  call,
  completed,
  cut,
  done,
  ended,
  hear,
  hearWhole,
  type Json,
  message,
  written,
} from './openai-responses-events.ts'

describe('text', () => {
  test('of each part of a message is a block of its own', async () => {
    const { message: heard } = await hear(
      written(0, 0, 'One'),
      written(0, 1, 'Tw'),
      done(0, message('m', 'One', 'Two')),
      completed,
    )
    expect(heard.content.map((block) => block.type === 'text' && block.text)).toEqual(['One', 'Two'])
  })

  test('that was not streamed comes with the end of its item, or of the answer', async () => {
    const output = [message('m', 'One'), message('n', 'Two')]
    const { events, message: heard } = await hear(
      done(0, message('m', 'One')),
      ended('completed', { output }),
    )
    expect(textIn(heard)).toBe('OneTwo')
    expect(events.filter(({ type }) => type === 'text')).toHaveLength(2)
  })

  test('is not told again by items that the end of the answer has under other places', async () => {
    const output = [message('m', 'One'), message('n', 'Two')]
    const { message: heard } = await hear(
      added(0, message('m')),
      done(0, message('m', 'One')),
      added(0, message('n')),
      done(0, message('n', 'Two')),
      ended('completed', { output }),
    )
    expect(textIn(heard)).toBe('OneTwo')
  })

  test('of a refusal is marked, whole or in pieces', async () => {
    const refusal = { type: 'message', id: 'm', content: [{ type: 'refusal', refusal: 'I must not.' }] }
    const pieces = { type: 'refusal.delta', output_index: 0, content_index: 0, delta: 'I must' }
    const streamed = await hear(pieces, done(0, refusal), completed)
    const whole = await hearWhole({ status: 'completed', output: [refusal] })
    for (const { message: heard } of [streamed, whole])
      expect(heard).toMatchObject({
        content: [{ type: 'text', text: 'I must not.', refusal: true }],
        stopReason: 'stop',
      })
  })

  test('in parts of a kind that nobody knows survives', async () => {
    const part = { type: 'hologram', data: 'x' }
    const item = { type: 'message', role: 'assistant', content: [part] }
    const { message: heard } = await hearWhole({ status: 'completed', output: [item] })
    expect(heard.content).toEqual([{ type: 'other', provider: 'openai', raw: item }])
  })

  test('of the web is followed by its sources, once each', async () => {
    const annotation = { type: 'url_citation', url: 'https://a.example', title: 'A' }
    const item = { type: 'message', content: [{ type: 'output_text', text: 'x', annotations: [annotation] }] }
    const cited = { type: 'output_text.annotation.added', output_index: 0, annotation }
    const { message: heard } = await hear(written(0, 0, 'x'), cited, done(0, item), completed)
    expect(heard.content.filter(({ type }) => type === 'source')).toEqual([
      { type: 'source', url: 'https://a.example', title: 'A' },
    ])
  })
})

describe('thinking', () => {
  const summary = (part: number, delta: string): Json => ({
    type: 'reasoning_summary_text.delta',
    output_index: 0,
    summary_index: part,
    delta,
  })
  const reasoning = (more: Json = {}): Json => ({
    type: 'reasoning',
    id: 'rs_1',
    encrypted_content: 'gAAA',
    summary: [
      { type: 'summary_text', text: 'One' },
      { type: 'summary_text', text: 'Two' },
    ],
    ...more,
  })
  const proven = { signature: JSON.stringify({ type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAA' }) }

  test('in several parts is one block, streamed or whole, with its proof', async () => {
    const streamed = await hear(
      summary(0, 'On'),
      summary(0, 'e'),
      summary(1, 'Two'),
      done(0, reasoning()),
      completed,
    )
    const whole = await hearWhole({ status: 'completed', output: [reasoning()] })
    for (const { message: heard } of [streamed, whole])
      expect(heard.content).toEqual([{ type: 'thinking', text: 'One\n\nTwo', ...proven }])
  })

  test('in full and in summary is told once', async () => {
    const full = { type: 'reasoning_text.delta', output_index: 0, content_index: 0, delta: 'All of it' }
    const { message: heard } = await hear(
      full,
      summary(0, 'Short'),
      done(0, reasoning({ summary: [] })),
      completed,
    )
    expect(textIn(heard, 'thinking')).toBe('All of it')
  })

  test('that is not shown is its proof alone', async () => {
    const { message: heard } = await hear(done(0, reasoning({ summary: [] })), completed)
    expect(heard.content).toEqual([{ type: 'thinking', text: '', redacted: true, ...proven }])
  })

  test('that is neither shown nor proven is nothing', async () => {
    const { message: heard } = await hear(done(0, { type: 'reasoning', id: 'rs_1', summary: [] }), completed)
    expect(heard.content).toEqual([])
  })
})

describe('a call', () => {
  test('that is complete may run, even in an answer that was cut off after it', async () => {
    const { message: heard } = await hear(
      added(0, call('a', '')),
      done(0, call('a', '{"x":1}', { status: 'completed' })),
      cut,
    )
    expect(callsIn(heard)).toMatchObject([{ id: 'a', name: 'f', arguments: { x: 1 } }])
    expect(heard.stopReason).toBe('length')
  })

  test('that was cut off may not, even if it happens to parse', async () => {
    const half = call('a', '{"path":"/"}', { status: 'incomplete' })
    const { message: heard } = await hear(added(0, call('a', '')), done(0, half), cut)
    expect(callsIn(heard)).toMatchObject([{ rawArguments: '{"path":"/"}' }])
    expect(callsIn(heard)[0]).not.toHaveProperty('arguments')
  })

  test('has the arguments of its end, whatever its pieces were', async () => {
    const piece = { type: 'function_call_arguments.delta', output_index: 0, delta: '{"x":' }
    const { message: heard } = await hear(
      added(0, call('a', '')),
      piece,
      done(0, call('a', '{"y":2}')),
      completed,
    )
    expect(callsIn(heard)).toMatchObject([{ arguments: { y: 2 } }])
  })

  test('keeps what it has to say of itself when it goes back', async () => {
    const { message: heard } = await hear(done(0, call('a', '{}', { namespace: 'crm' })), completed)
    expect(JSON.parse(callsIn(heard)[0]?.signature ?? '')).toEqual({
      type: 'function_call',
      id: 'fc_a',
      namespace: 'crm',
    })
  })

  test('of the server itself is kept as it came, and is not ours to make', async () => {
    const item = { type: 'mcp_call', id: 'mcp_1', name: 'ask', arguments: '{}', output: 'yes' }
    const { message: heard } = await hear(done(0, item), completed)
    expect(heard).toMatchObject({ content: [{ type: 'other', raw: item }], stopReason: 'stop' })
  })

  test('for an image that failed is kept too', async () => {
    const item = { type: 'image_generation_call', id: 'ig_1', status: 'failed', result: null }
    const { message: heard } = await hearWhole({ status: 'completed', output: [item] })
    expect(heard.content).toMatchObject([{ type: 'other', raw: item }])
  })
})

describe("a custom tool's call", () => {
  const input = 'print("a\\b")\n😀'
  const item = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c', name: 'py', input }
  const delta = (text: string): Json => ({
    type: 'custom_tool_call_input.delta',
    output_index: 0,
    delta: text,
  })
  const begun = added(0, { ...item, input: '' })
  const deltas = [...input.split('').keys()].map((i) => delta(input.charAt(i)))

  test('is told as it is written, its text as a JSON string, and ends as the item says', async () => {
    const { events, message: heard } = await hear(begun, ...deltas, done(0, item), completed)
    const told = events.map((event) =>
      event.type === 'toolCall' && event.phase === 'delta' ? event.delta : '',
    )
    expect(told.filter(Boolean).length).toBeGreaterThan(input.length)
    expect(JSON.parse(told.join('').replace(/"?$/, '"'))).toBe(input)
    expect(callsIn(heard)).toMatchObject([{ id: 'c', name: 'py', arguments: input }])
  })

  test('that was cut off is known, and has no arguments', async () => {
    const { message: heard } = await hear(begun, ...deltas.slice(0, 5), cut)
    expect(callsIn(heard)).toMatchObject([{ id: 'c', name: 'py', rawArguments: '"print' }])
    expect(callsIn(heard)[0]).not.toHaveProperty('arguments')
  })
})
