import { describe, expect, test } from 'vitest'
import type { CallOptions, Effort, ModelContext, ToolSpec } from '../../src/adapters/contract.ts'
import { interactionsAdapter } from '../../src/adapters/gemini-interactions.ts'
import { say } from '../../src/adapters/say.ts'
import type { FileBlock, ImageBlock, Message } from '../../src/message/schema.ts'
import { assistantMessage, systemMessage, userMessage } from '../support/messages.ts'
import { strictInteractionDefects } from './checkers/gemini-interactions.ts'
import { type InteractionBody, sentInteraction, stepsIn } from './checkers/gemini-interactions-body.ts'

const adapter = interactionsAdapter()
const hi: ModelContext = { messages: [userMessage('u', 'Hi')] }
const clock: ToolSpec = { name: 'clock', description: 'The time.', parameters: {} }
const text = (value: string) => ({ type: 'text', text: value })

type Options = CallOptions & { model?: string; stream?: boolean }

function sent(
  context: ModelContext,
  { model = 'gemini-3.8-flash', ...options }: Options = {},
): InteractionBody {
  const body = sentInteraction(say(adapter, context, { model, ...options }).body)
  expect(strictInteractionDefects(body)).toEqual([])
  return body
}
const stepsOf = (messages: Message[]) => stepsIn(sent({ messages }))

describe('a request to the Interactions API', () => {
  test('has the history, asks for a stream, and stores nothing', () => {
    const { path, body } = say(adapter, hi, { model: 'm' })
    expect(path).toBe('/interactions')
    expect(JSON.parse(JSON.stringify(body))).toEqual({
      model: 'm',
      input: [{ type: 'user_input', content: [text('Hi')] }],
      generation_config: {},
      store: false,
      stream: true,
    })
    expect(sent(hi, { stream: false })).not.toHaveProperty('stream')
  })

  test('says instructions, tools, choice, sampling and format in its words', () => {
    const body = sent(
      { ...hi, system: 'Be brief.', tools: [clock] },
      {
        maxOutputTokens: 9,
        temperature: 0.5,
        topP: 0.9,
        stop: ['END'],
        toolChoice: { name: 'clock' },
        output: { schema: { type: 'object', properties: { a: { const: 1 } } } },
      },
    )
    expect(body).toMatchObject({
      system_instruction: 'Be brief.',
      tools: [
        {
          type: 'function',
          name: 'clock',
          description: 'The time.',
          parameters: { type: 'object', properties: {} },
        },
      ],
      response_format: [
        {
          type: 'text',
          mime_type: 'application/json',
          schema: { type: 'object', properties: { a: { enum: [1] } } },
        },
      ],
    })
    expect(body.generation_config).toEqual({
      max_output_tokens: 9,
      temperature: 0.5,
      top_p: 0.9,
      stop_sequences: ['END'],
      tool_choice: { allowed_tools: { mode: 'any', tools: ['clock'] } },
    })
  })

  test('has no instructions that say nothing, and none with half a character', () => {
    expect(sent({ ...hi, system: ' \n' })).not.toHaveProperty('system_instruction')
    expect(sent({ ...hi, system: 'Be\ud83d kind.' }).system_instruction).toBe('Be\ufffd kind.')
  })

  test.each([
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'any'],
  ] as const)('calls the choice %s %s, where there are tools', (toolChoice, said) => {
    expect(sent({ ...hi, tools: [clock] }, { toolChoice }).generation_config).toEqual({ tool_choice: said })
    expect(sent(hi, { toolChoice })).toMatchObject({ generation_config: {} })
    expect(sent(hi, { toolChoice }).generation_config).not.toHaveProperty('tool_choice')
  })

  test('is refused when the tool that is chosen does not exist', () => {
    expect(() => sent({ ...hi, tools: [clock] }, { toolChoice: { name: 'x' } })).toThrow(
      /there is no tool "x"/,
    )
  })

  test.each<[Effort, string, string, string, string]>([
    ['none', 'minimal', 'low', 'low', 'low'],
    ['minimal', 'minimal', 'low', 'low', 'low'],
    ['low', 'low', 'low', 'low', 'low'],
    ['medium', 'medium', 'high', 'medium', 'medium'],
    ['high', 'high', 'high', 'high', 'high'],
    ['max', 'high', 'high', 'high', 'high'],
  ])('says the effort %s in the levels that a model knows', (thinking, ...levels) => {
    const models = ['gemini-3.8-flash', 'gemini-3-pro-preview', 'gemini-3.1-pro-preview', 'gemini-2.5-flash']
    for (const [i, model] of models.entries())
      expect(sent(hi, { thinking, model }).generation_config).toEqual({
        thinking_level: levels[i],
        thinking_summaries: thinking === 'none' ? 'none' : 'auto',
      })
  })

  test('is joined with what is said in its own words', () => {
    const extra = {
      previous_interaction_id: 'v1_0',
      store: true,
      generation_config: { seed: 1, temperature: 2 },
      tools: [{ type: 'google_search' }],
    }
    const body = sent({ ...hi, tools: [clock] }, { temperature: 0, topP: 1, extra })
    expect(body.generation_config).toEqual({ seed: 1, temperature: 2, top_p: 1 })
    expect(body.tools?.map(({ type }) => type)).toEqual(['function', 'google_search'])
    expect(body).toMatchObject({ previous_interaction_id: 'v1_0', store: true })
  })

  test('asks to write, and to keep, in the background; then the answer can be asked for again, and be stopped', () => {
    const background = interactionsAdapter({ background: true })
    const { body } = say(background, hi, { model: 'gemini-3.8-flash' })
    expect(strictInteractionDefects(sentInteraction(body))).toEqual([])
    expect(body).toMatchObject({ background: true, store: true, stream: true })
    expect(background.resume?.('v1_/?')).toMatchObject({
      method: 'GET',
      path: '/interactions/v1_%2F%3F?stream=true',
    })
    expect(background.cancel?.('v1_1')).toMatchObject({ path: '/interactions/v1_1/cancel' })
    expect([adapter.resume, adapter.cancel]).toEqual([undefined, undefined])
  })
})

describe('what a user says', () => {
  test.each<[string, ImageBlock | FileBlock, object]>([
    [
      'a picture',
      { type: 'image', mimeType: 'image/png', data: 'AA==' },
      { type: 'image', mime_type: 'image/png', data: 'AA==' },
    ],
    [
      'a picture elsewhere',
      { type: 'image', mimeType: 'image/*', url: 'https://a.example/a' },
      { type: 'image', uri: 'https://a.example/a' },
    ],
    [
      'a document',
      { type: 'file', mimeType: 'application/pdf', url: 'gs://a/b.pdf' },
      { type: 'document', mime_type: 'application/pdf', uri: 'gs://a/b.pdf' },
    ],
    [
      'a sound',
      { type: 'file', mimeType: 'audio/wav', data: 'AA==' },
      { type: 'audio', mime_type: 'audio/wav', data: 'AA==' },
    ],
    [
      'a film',
      { type: 'file', mimeType: 'video/mp4', data: 'AA==' },
      { type: 'video', mime_type: 'video/mp4', data: 'AA==' },
    ],
    [
      'what only the page sees',
      { type: 'image', mimeType: 'image/png', url: 'blob:x' },
      text('[image image/png not shown]'),
    ],
    [
      'nothing',
      { type: 'file', mimeType: 'text/csv', data: '', name: 'a.csv' },
      text('[file a.csv not shown]'),
    ],
  ])('%s', (_, block, said) => {
    const messages = [userMessage('u', '', { content: [{ type: 'text', text: 'See:' }, block] })]
    expect(stepsOf(messages)).toEqual([{ type: 'user_input', content: [text('See:'), said] }])
  })

  test('and later instructions, where they were given, are one step', () => {
    const messages = [userMessage('u', 'a'), systemMessage('s', 'Be brief.'), userMessage('v', 'b')]
    const body = sent({ system: 'Be kind.', messages })
    expect(body.system_instruction).toBe('Be kind.')
    expect(body.input).toEqual([
      { type: 'user_input', content: [text('a'), text('<system>\nBe brief.\n</system>'), text('b')] },
    ])
  })

  test('a conversation that begins or ends without it, or is empty, has it beside it', () => {
    const go = { type: 'user_input', content: [text('Continue.')] }
    const said = { type: 'model_output', content: [text('Yes.')] }
    expect(stepsOf([assistantMessage('a', 'Yes.')])).toEqual([go, said, go])
    expect(stepsOf([])).toEqual([go])
  })
})
