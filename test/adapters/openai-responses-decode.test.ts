import { describe, expect, test } from 'vitest'
import { responsesAdapter } from '../../src/adapters/openai-responses.ts'
import { callsIn, hearAll, responseOf, textIn } from './answers.ts'

type Json = Record<string, unknown>

const sse = (events: Json[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

/** What comes of a stream's events; `response.` before each type goes without saying. */
const hear = (...events: Json[]) =>
  hearAll(
    responsesAdapter(),
    responseOf([sse(events.map((event) => ({ ...event, type: `response.${event.type}` })))]),
  )

const hearWhole = (response: Json, options = {}) =>
  hearAll(responsesAdapter(), responseOf([JSON.stringify({ object: 'response', ...response })], options))

const added = (place: number, item: Json): Json => ({ type: 'output_item.added', output_index: place, item })
const done = (place: number, item: Json): Json => ({ type: 'output_item.done', output_index: place, item })
const ended = (status: string, more: Json = {}): Json => ({
  type: status,
  response: { id: 'r', status, ...more },
})
const completed = ended('completed')
const cut = ended('incomplete', { incomplete_details: { reason: 'max_output_tokens' } })

const message = (id: string, ...texts: string[]): Json => ({
  type: 'message',
  id,
  content: texts.map((text) => ({ type: 'output_text', text })),
})
const call = (id: string, args: string, more: Json = {}): Json => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'f',
  arguments: args,
  ...more,
})
const written = (place: number, part: number, delta: string): Json => ({
  type: 'output_text.delta',
  output_index: place,
  content_index: part,
  delta,
})

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

describe('an end', () => {
  test('by a filter is a refusal with the text kept', async () => {
    const { message: heard, error } = await hear(
      written(0, 0, 'Once'),
      ended('incomplete', { incomplete_details: { reason: 'content_filter' } }),
    )
    expect(textIn(heard)).toBe('Once')
    expect(error).toMatchObject({ code: 'refusal', message: 'the model stopped: content_filter' })
  })

  test('that does not come is an error with the text kept, [DONE] or not', async () => {
    for (const mark of ['', 'data: [DONE]\n\n']) {
      const body = sse([{ ...written(0, 0, 'Half'), type: 'response.output_text.delta' }]) + mark
      const { message: heard, error } = await hearAll(responsesAdapter(), responseOf([body]))
      expect([textIn(heard), error?.code]).toEqual(['Half', 'network'])
    }
  })

  test('by cancelling is an abortion', async () => {
    const { message: heard, error } = await hear(written(0, 0, 'Half'), ended('cancelled'))
    expect([textIn(heard), heard.stopReason, error?.code]).toEqual(['Half', 'aborted', 'aborted'])
  })

  test('by failure says why, and what came before it', async () => {
    const error = { code: 'context_length_exceeded', message: 'Your input exceeds the context window.' }
    const output = [message('m', 'Half')]
    const headers = { 'x-request-id': 'req_1' }
    for (const heard of [
      await hearWhole({ id: 'r', status: 'failed', output, error }, { headers }),
      await hearAll(
        responsesAdapter(),
        responseOf([sse([{ type: 'response.failed', response: { id: 'r', output, error } }])], { headers }),
      ),
    ]) {
      expect(heard.message).toMatchObject({
        responseId: 'r',
        content: [{ text: 'Half' }],
        stopReason: 'error',
      })
      expect(heard.error).toMatchObject({ code: 'context-overflow', requestId: 'req_1' })
    }
  })

  test('by an error event alone says that error', async () => {
    const body = sse([
      { type: 'error', code: 'rate_limit_exceeded', message: 'Slow down', sequence_number: 1 },
    ])
    const { error } = await hearAll(responsesAdapter(), responseOf([body]))
    expect(error).toMatchObject({ code: 'rate-limit', message: 'Slow down (rate_limit_exceeded)' })
  })

  test('by an error event, then by a failure without words, says that error once', async () => {
    const body = sse([
      { type: 'error', message: 'Slow down', code: 'rate_limit_exceeded' },
      { type: 'response.failed', response: { id: 'r', status: 'failed', error: null } },
    ])
    const { events, error } = await hearAll(responsesAdapter(), responseOf([body]))
    expect(error?.message).toBe('Slow down (rate_limit_exceeded)')
    expect(events.filter(({ type }) => type === 'error')).toHaveLength(1)
  })

  test('of a whole answer without an output is an error', async () => {
    const { error } = await hearWhole({ id: 'r', status: 'completed' })
    expect(error).toMatchObject({ code: 'protocol', message: expect.stringContaining('no end') })
  })

  test('under an unknown name counts by its status', async () => {
    const { message: heard } = await hear(written(0, 0, 'Hi'), {
      type: 'done',
      response: { status: 'completed' },
    })
    expect(heard.stopReason).toBe('stop')
  })
})

test('names that every object has are nothing special', async () => {
  const names = ['constructor', '__proto__', 'toString']
  const events = names.flatMap((name, place) => [
    { type: name },
    { type: name, response: { status: name } },
    done(place, { type: name, id: name }),
  ])
  const odd = await hear(...events, done(names.length, message('m', 'Hi')), completed)
  const bare = await hearAll(
    responsesAdapter(),
    responseOf([sse([...names.map((type) => ({ type })), { type: 'response.completed', response: {} }])]),
  )
  expect(odd.message).toMatchObject({ stopReason: 'stop' })
  expect(odd.message.content).toHaveLength(4)
  expect(bare.message).toMatchObject({ content: [], stopReason: 'stop' })
})
