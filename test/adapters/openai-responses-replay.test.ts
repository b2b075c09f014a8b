import { describe, expect, test } from 'vitest'
import { type ResponsesAdapterOptions, responsesAdapter } from '../../src/adapters/openai-responses.ts'
import { RESPONSES_QUIRKS } from '../../src/adapters/openai-responses-quirks.ts'
import { say } from '../../src/adapters/say.ts'
import type { AssistantBlock, Message } from '../../src/message/schema.ts'
import { assistantMessage, toolCall, userMessage } from '../support/messages.ts'
import { type Item, itemsIn, sentResponses } from './checkers/openai-responses-body.ts'
import { hearWhole } from './openai-responses-events.ts'

const question = userMessage('u', 'Hi')

function inputOf(
  messages: readonly Message[],
  adapter: ResponsesAdapterOptions = {},
  model = 'gpt-5',
): Item[] {
  return itemsIn(sentResponses(say(responsesAdapter(adapter), { messages }, { model }).body))
}

describe('an answer goes back', () => {
  const own = { provider: 'openai', model: 'gpt-5-2025-08-07' }
  const proof = (type: string, id: string, more = {}) => ({
    signature: JSON.stringify({ type, id, ...more }),
  })
  const thought: AssistantBlock = {
    type: 'thinking',
    text: 'Hm',
    ...proof('reasoning', 'rs_1', { encrypted_content: 'gA' }),
  }
  const said = (text: string, more = {}): AssistantBlock => ({
    type: 'text',
    text,
    ...proof('message', 'msg_1', { phase: 'final_answer' }),
    ...more,
  })
  const answerOf = (content: AssistantBlock[], more = {}) =>
    inputOf([question, assistantMessage('a', '', { content, ...own, ...more })]).slice(1)

  test('with its reasoning, under the ids that tie them together', () => {
    expect(answerOf([thought, said('One'), said('No.', { refusal: true })])).toEqual([
      {
        type: 'reasoning',
        id: 'rs_1',
        encrypted_content: 'gA',
        summary: [{ type: 'summary_text', text: 'Hm' }],
      },
      {
        type: 'message',
        role: 'assistant',
        id: 'msg_1',
        phase: 'final_answer',
        status: 'completed',
        content: [
          { type: 'output_text', text: 'One', annotations: [] },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
    ])
  })

  test('with its reasoning and the picture that came of it, as one, but not to another model', async () => {
    const drawn = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'iVBORw0KGgo=' }
    const { message } = await hearWhole({
      status: 'completed',
      output: [{ type: 'reasoning', id: 'rs_1', encrypted_content: 'gA', summary: [] }, drawn],
    })
    const back = answerOf(message.content)
    expect(back).toEqual([{ type: 'reasoning', id: 'rs_1', encrypted_content: 'gA', summary: [] }, drawn])
    expect(answerOf(message.content, { model: 'gpt-4o' })).toEqual([
      expect.objectContaining({
        role: 'user',
        content: [expect.anything(), expect.objectContaining({ type: 'input_image' })],
      }),
    ])
  })

  test('without it, if nothing follows it, or something of the answer is gone', () => {
    expect(answerOf([thought])).toEqual([])
    expect(answerOf([said('One'), thought])).toEqual([
      { role: 'assistant', phase: 'final_answer', content: 'One' },
    ])
    expect(answerOf([thought, { type: 'text', text: 'Edited' }])).toEqual([
      { role: 'assistant', content: 'Edited' },
    ])
  })

  test('without it to another model, unless that goes by another name', () => {
    const bare = [{ role: 'assistant', content: 'One' }]
    expect(answerOf([thought, said('One')], { model: 'gpt-4o' })).toEqual(bare)
    const messages = [question, assistantMessage('a', '', { content: [thought, said('One')], ...own })]
    const asked = (adapter: ResponsesAdapterOptions) => inputOf(messages, adapter, 'my-deployment')
    expect(asked({}).slice(1)).toEqual(bare)
    expect(asked({ modelName: 'gpt-5' }).slice(1)).toHaveLength(2)
  })

  test('with its thinking as text, where the server gives no proof', () => {
    const call = toolCall('c1', proof('function_call', 'fc_1'))
    const plain: AssistantBlock = { type: 'thinking', text: 'Hm', ...proof('reasoning', 'r1') }
    const content = [call, plain, { type: 'text' as const, text: 'One' }]
    const answer = assistantMessage('a', '', { content, ...own, provider: 'deepseek' })
    const input = inputOf([question, answer], { provider: 'deepseek', quirks: RESPONSES_QUIRKS.deepseek })
    expect(input.slice(1, -1)).toEqual([
      { type: 'reasoning', id: 'r1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm' }] },
      { role: 'assistant', content: 'One' },
      { type: 'function_call', call_id: 'c1', name: 'clock', arguments: '{}' },
    ])
  })

  test('with what the provider did for it, as it came', () => {
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
    const other: AssistantBlock = { type: 'other', provider: 'openai', raw: search }
    expect(answerOf([other, said('One')])).toEqual([
      search,
      { role: 'assistant', phase: 'final_answer', content: 'One' },
    ])
    expect(answerOf([thought, other, said('One')])[1]).toEqual(search)
  })

  test('without calls that nobody can answer any more', () => {
    const shell = { type: 'shell_call', id: 'sh_1', call_id: 'call_1' }
    const output = { type: 'shell_call_output', id: 'sho_1', call_id: 'call_1' }
    const [open, closed] = [shell, output].map(
      (raw): AssistantBlock => ({ type: 'other', provider: 'openai', raw }),
    )
    if (!open || !closed) throw new Error('there are two')
    expect(answerOf([open, said('One')])).toHaveLength(1)
    expect(answerOf([open, closed, said('One')])).toHaveLength(3)
  })

  test('with the calls of custom tools, whose input and output are text', () => {
    const custom = toolCall('c1', {
      name: 'sql',
      arguments: 'SELECT 1',
      ...proof('custom_tool_call', 'ctc_1'),
    })
    expect(answerOf([custom])).toEqual([
      { type: 'custom_tool_call', call_id: 'c1', name: 'sql', input: 'SELECT 1' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'Not executed: there is no result.' },
    ])
  })
})
