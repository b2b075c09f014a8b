import { describe, expect, test } from 'vitest'
import { interactionsAdapter } from '../../src/adapters/gemini-interactions.ts'
import { say } from '../../src/adapters/say.ts'
import type { AssistantBlock, ImageBlock, Message } from '../../src/message/schema.ts'
import { assistantMessage, callingMessage, toolCall, toolMessage, userMessage } from '../support/messages.ts'
import { strictInteractionDefects } from './checkers/gemini-interactions.ts'
import { sentInteraction, stepsIn } from './checkers/gemini-interactions-body.ts'

const text = (value: string) => ({ type: 'text', text: value })
const answer = (content: AssistantBlock[], provider = 'google-interactions') =>
  assistantMessage('a', '', { content, provider })

function stepsOf(messages: Message[], model = 'gemini-3.8-flash') {
  const body = sentInteraction(say(interactionsAdapter(), { messages }, { model }).body)
  expect(strictInteractionDefects(body)).toEqual([])
  return stepsIn(body)
}

describe('an answer that goes back', () => {
  const search = { type: 'google_search_call', id: 's', arguments: { queries: ['q'] }, signature: 'S1' }
  const whole = [
    userMessage('u', 'Hi'),
    answer([
      { type: 'thinking', text: 'Hm.', signature: 'S0' },
      { type: 'other', provider: 'google-interactions', raw: search },
      { type: 'text', text: 'Look:' },
      { type: 'image', mimeType: 'image/png', data: 'AA==' },
      { type: 'thinking', text: '', signature: 'S2', redacted: true },
      toolCall('c1', { name: 'f', arguments: { a: 1 } }),
      toolCall('c2', { name: 'f', arguments: [1], signature: 'S3' }),
      { type: 'source', url: 'https://a.example' },
    ]),
    toolMessage('t', 'c2', { content: [{ type: 'text', text: 'two' }], isError: true }),
    toolMessage('t', 'c1', { content: [] }),
  ]

  test('goes back as it came, each step in its place, then the results of its calls', () => {
    expect(stepsOf(whole).slice(1)).toEqual([
      { type: 'thought', signature: 'S0', summary: [text('Hm.')] },
      search,
      {
        type: 'model_output',
        content: [text('Look:'), { type: 'image', mime_type: 'image/png', data: 'AA==' }],
      },
      { type: 'thought', signature: 'S2' },
      { type: 'function_call', id: 'c1', name: 'f', arguments: { a: 1 } },
      { type: 'function_call', id: 'c2', name: 'f', arguments: { arguments: [1] }, signature: 'S3' },
      { type: 'function_result', call_id: 'c1', name: 'f', result: [text('(no output)')] },
      { type: 'function_result', call_id: 'c2', name: 'f', result: [text('two')], is_error: true },
    ])
  })

  test('that another wrote has its calls, with a stand-in for the proof that there never was', () => {
    const foreign = whole.map((message) =>
      message.role === 'assistant' ? { ...message, provider: 'google' } : message,
    )
    const steps = stepsOf(foreign)
    expect(steps.map(({ type }) => type)).toEqual([
      'user_input',
      'model_output',
      'thought',
      'function_call',
      'function_call',
      'function_result',
      'function_result',
    ])
    expect(steps[2]).toEqual({ type: 'thought', signature: 'skip_thought_signature_validator' })
    expect(JSON.stringify(steps)).not.toMatch(/"S\d"|Hm\.|google_search/)
  })

  test('is without a thought that nobody signed: that is refused', () => {
    const thought = { type: 'thought', summary: [text('Hm.')] }
    const steps = stepsOf([
      userMessage('u', 'Hi'),
      answer([
        { type: 'thinking', text: 'Hm.' },
        { type: 'other', provider: 'google-interactions', raw: thought },
        { type: 'other', provider: 'google-interactions', raw: 'odd' },
        { type: 'text', text: 'Yes.' },
      ]),
      userMessage('v', 'Go on.'),
    ])
    expect(steps.map(({ type }) => type)).toEqual(['user_input', 'model_output', 'user_input'])
  })

  test('has the pictures of its results in them, or after them for models that take none there', () => {
    const image: ImageBlock = { type: 'image', mimeType: 'image/png', data: 'AA==' }
    const messages = [
      userMessage('u', 'Hi'),
      callingMessage('a', ['c1', 'c2']),
      toolMessage('t1', 'c1', { content: [{ type: 'text', text: 'See' }, image] }),
      toolMessage('t2', 'c2', { content: [image] }),
      userMessage('v', 'So?'),
    ]
    const shown = { type: 'image', mime_type: 'image/png', data: 'AA==' }
    const resultsOf = (model: string) =>
      stepsOf(messages, model).flatMap((step) => ('result' in step ? [step.result] : []))
    expect(resultsOf('gemini-3.8-flash')).toEqual([[text('See'), shown], [shown]])
    expect(resultsOf('gemini-2.5-flash')).toEqual([[text('See')], [text('(see attached image)')]])
    expect(stepsOf(messages, 'gemini-2.5-flash').at(-1)).toEqual({
      type: 'user_input',
      content: [text('Images from above:'), shown, shown, text('So?')],
    })
  })
})
