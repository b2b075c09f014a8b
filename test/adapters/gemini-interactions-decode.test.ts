import { describe, expect, test } from 'vitest'
import { interactionsAdapter } from '../../src/adapters/gemini-interactions.ts'
import { hearAll, responseOf, textIn } from './answers.ts'
import { completed, created, delta, event, says, start, step } from './interaction-events.ts'

const adapter = interactionsAdapter()
const hear = (body: string) => hearAll(adapter, responseOf([body]))
const hearWhole = (interaction: object) => hear(JSON.stringify(interaction))

const call = (index: number, id: string, ...texts: string[]): string =>
  step(
    index,
    { type: 'function_call', id, name: 'f', arguments: {}, signature: '' },
    ...texts.map((text) => ({ type: 'arguments_delta', arguments: text })),
  )

const cited = [
  { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0 },
  { type: 'place_citation', url: 'https://b.example', name: 'B' },
  { type: 'file_citation', document_uri: 'https://c.example/c.pdf', file_name: 'c.pdf' },
]
/** Steps as a stream may bring them, and as they come whole. */
const streamed = [
  created(),
  step(
    0,
    { type: 'thought', signature: '', summary: [{ type: 'text', text: 'Hm' }] },
    { type: 'thought_summary', content: { type: 'text', text: ', so.' } },
    { type: 'thought_signature', signature: 'S0' },
  ),
  step(
    1,
    { id: 's1', signature: '', type: 'google_search_call' },
    { type: 'google_search_call', arguments: { queries: ['q'] }, signature: 'S1' },
  ),
  step(
    2,
    { call_id: 's1', signature: '', type: 'google_search_result' },
    { type: 'google_search_result', result: ['r'], signature: 'S2' },
  ),
  step(
    3,
    { type: 'model_output', content: [{ type: 'text', text: 'Look: ' }] },
    { type: 'text', text: '你好' },
    { type: 'image', mime_type: 'image/jpeg', data: 'AAA=' },
    { type: 'text', text: 'There.' },
    { type: 'audio', mime_type: 'audio/wav', data: 'BBB=' },
    {
      type: 'text_annotation_delta',
      annotations: [...cited, { type: 'url_citation', url: 'https://a.example', title: 'A again' }],
    },
  ),
  call(4, 'c1', '{"a":', '1}'),
  call(5, 'c2'),
]
const whole = {
  id: 'v1_1',
  object: 'interaction',
  model: 'm',
  status: 'requires_action',
  steps: [
    { type: 'thought', signature: 'S0', summary: [{ type: 'text', text: 'Hm, so.' }] },
    { type: 'google_search_call', id: 's1', arguments: { queries: ['q'] }, signature: 'S1' },
    { type: 'google_search_result', call_id: 's1', result: ['r'], signature: 'S2' },
    {
      type: 'model_output',
      content: [
        { type: 'text', text: 'Look: 你好' },
        { type: 'image', mime_type: 'image/jpeg', data: 'AAA=' },
        {
          type: 'text',
          text: 'There.',
          annotations: cited,
        },
        { type: 'audio', mime_type: 'audio/wav', data: 'BBB=' },
      ],
    },
    { type: 'function_call', id: 'c1', name: 'f', arguments: { a: 1 } },
    { type: 'function_call', id: 'c2', name: 'f', arguments: {} },
  ],
}
const other = (raw: object) => ({ type: 'other', provider: 'google-interactions', raw })
const wanted = [
  { type: 'thinking', text: 'Hm, so.', signature: 'S0' },
  other(whole.steps[1] ?? {}),
  other(whole.steps[2] ?? {}),
  { type: 'text', text: 'Look: 你好' },
  { type: 'image', mimeType: 'image/jpeg', data: 'AAA=' },
  { type: 'text', text: 'There.' },
  other({ type: 'model_output', content: [{ type: 'audio', mime_type: 'audio/wav', data: 'BBB=' }] }),
  { type: 'toolCall', id: 'c1', name: 'f', arguments: { a: 1 } },
  { type: 'toolCall', id: 'c2', name: 'f', arguments: {} },
  { type: 'source', url: 'https://a.example', title: 'A' },
  { type: 'source', url: 'https://b.example', title: 'B' },
  { type: 'source', url: 'https://c.example/c.pdf', title: 'c.pdf' },
]

describe('an answer', () => {
  test('is the same in pieces and whole', async () => {
    const inPieces = await hear([...streamed, completed('requires_action')].join(''))
    expect(inPieces.message.content).toEqual(wanted)
    expect((await hearWhole(whole)).message).toEqual(inPieces.message)
    expect(inPieces.message).toMatchObject({ stopReason: 'toolUse', model: 'm', responseId: 'v1_1' })
  })

  test('that is read again begins after what was asked', async () => {
    const asked = [
      { type: 'user_input', content: [{ type: 'text', text: 'Hi' }] },
      { type: 'function_call', id: 'old', name: 'f', arguments: {} },
      { type: 'function_result', call_id: 'old', result: 'no' },
    ]
    const { message } = await hearWhole({ ...whole, steps: [...asked, ...whole.steps] })
    expect(message.content).toEqual(wanted)
    const again = step(0, { type: 'user_input' }, { type: 'text', text: 'Hi' })
    expect((await hear(again + says(1, 'Hello') + completed())).message.content).toEqual([
      { type: 'text', text: 'Hello' },
    ])
  })

  test('of which a proxy tells only the end is there all the same', async () => {
    const { message } = await hear(created() + completed('completed', { steps: whole.steps }))
    expect(message.content).toEqual(wanted)
    const both = says(0, 'once') + completed('completed', { steps: whole.steps })
    expect((await hear(both)).message.content).toEqual([{ type: 'text', text: 'once' }])
  })

  test('of which nobody says where its steps begin and end is there all the same', async () => {
    const body = [
      delta(0, { type: 'text', text: 'He' }),
      delta(0, { type: 'text', text: 'llo' }),
      completed(),
    ]
    expect(textIn((await hear(body.join(''))).message)).toBe('Hello')
  })

  test('keeps the steps and the pieces that nobody knows, and passes over events', async () => {
    const { message } = await hear(
      [
        event('hologram.started', { index: 0 }),
        step(0, { type: 'hologram', id: 'h' }, { type: 'light', beams: 3 }),
        // Nobody said where this ends.
        start(1, { type: 'constructor' }),
        start(1, { type: 'thought' }),
        delta(2, { type: '__proto__' }),
        step(3, { type: 'thought' }, { type: 'thought_summary', content: { type: 'image', data: 'AA==' } }),
        completed(),
      ].join(''),
    )
    expect(message.content).toEqual([
      other({ type: 'hologram', id: 'h', beams: 3 }),
      other({ type: 'constructor' }),
      other({ type: 'thought', summary: [{ type: 'image', data: 'AA==' }] }),
      other({ type: '__proto__' }),
    ])
  })

  test('has the picture whose type was told before it came', async () => {
    const picture = { type: 'model_output', content: [{ type: 'image', mime_type: 'image/webp' }] }
    const { message } = await hear(step(0, picture, { type: 'image', data: 'AA==' }) + completed())
    expect(message.content).toEqual([{ type: 'image', mimeType: 'image/webp', data: 'AA==' }])
    const uri = 'https://a.example/b.png'
    expect(
      (await hear(step(0, { type: 'model_output' }, { type: 'image', uri }) + completed())).message.content,
    ).toEqual([{ type: 'image', mimeType: 'image/png', url: uri }])
  })

  test('has a thought that is proven and not shown, and none that is neither', async () => {
    const body = step(0, { type: 'thought' }, { type: 'thought_signature', signature: 'S' })
    const { message } = await hear(body + step(1, { type: 'thought', signature: '' }) + completed())
    expect(message.content).toEqual([{ type: 'thinking', text: '', signature: 'S', redacted: true }])
  })
})
