import { describe, expect, test } from 'vitest'
import { messagesAdapter } from '../../src/adapters/anthropic.ts'
import { collect } from '../../src/adapters/collect.ts'
import { hear } from '../../src/adapters/hear.ts'
import { say } from '../../src/adapters/say.ts'
import type { AssistantBlock, AssistantMessage, Message } from '../../src/message/schema.ts'
import { assistantMessage, deepFreeze, toolMessage, userMessage } from '../support/messages.ts'
import { responseOf } from './answers.ts'
import { messagesDefects } from './checkers/anthropic.ts'
import { sentMessages, turnsIn } from './checkers/anthropic-body.ts'

/** What is sent of a history, which is never refused. */
function sent(messages: Message[], model = 'claude-sonnet-4-5') {
  const { body } = say(messagesAdapter(), { messages: deepFreeze(messages) }, { model })
  expect(messagesDefects(JSON.parse(JSON.stringify(body)))).toEqual([])
  return turnsIn(sentMessages(body)).map(({ role, parts }) => [role, parts])
}

/** An answer as the adapter heard it. */
async function heard(id: string, content: object[], stop_reason = 'end_turn'): Promise<AssistantMessage> {
  const answer = JSON.stringify({ type: 'message', id, content, stop_reason })
  return assistantMessage(id, '', await collect(hear(messagesAdapter(), responseOf([answer]))))
}

const text = (words: string) => ({ type: 'text', text: words })
const search = (id: string) => ({ type: 'server_tool_use', id, name: 'web_search', input: { query: 'q' } })
const found = (id: string) => ({
  type: 'web_search_tool_result',
  tool_use_id: id,
  content: [{ type: 'web_search_result', url: 'https://a.example', encrypted_content: 'E' }],
})
const ours = (id: string) => ({ type: 'tool_use', id, name: 'clock', input: {} })
const question = userMessage('q', 'Hi')

describe('what the provider’s own tools did', () => {
  test('goes back as it came, with the texts that cite it', async () => {
    const content = [
      { ...search('srvtoolu_1'), caller: { type: 'direct' } },
      found('srvtoolu_1'),
      {
        ...text('It is so.'),
        citations: [{ type: 'web_search_result_location', url: 'https://a.example', encrypted_index: 'I' }],
      },
      text(' And so on.'),
    ]
    expect((await sent([question, await heard('1', content), userMessage('2')]))[1]).toEqual([
      'assistant',
      content,
    ])
  })

  test('does not go back to another provider', async () => {
    const answer = await heard('1', [search('srvtoolu_1'), found('srvtoolu_1'), text('It is so.')])
    expect(sent([question, { ...answer, provider: 'other' }, userMessage('2')])[1]).toEqual([
      'assistant',
      [text('It is so.')],
    ])
  })

  test('goes back in pairs: half of one is left out', async () => {
    const content = [search('srvtoolu_1'), text('a'), found('srvtoolu_2'), text('b')]
    expect(sent([question, await heard('1', content), userMessage('2')])[1]).toEqual([
      'assistant',
      [text('a'), text('b')],
    ])
  })

  test('leaves nothing of an answer that was nothing else', async () => {
    const answer = await heard('1', [search('srvtoolu_1')])
    expect(sent([question, answer, userMessage('2', 'Well?')])).toEqual([
      ['user', [text('Hi'), text('Well?')]],
    ])
  })

  test('waits for its result where the turn was only paused', async () => {
    const content = [text('I look.'), search('srvtoolu_1')]
    for (const model of ['claude-sonnet-4-5', 'claude-opus-4-8'])
      expect(sent([question, await heard('1', content, 'pause_turn')], model)).toEqual([
        ['user', [text('Hi')]],
        ['assistant', content],
      ])
  })

  test('does not wait where words came after it', async () => {
    const thought = { type: 'thinking', thinking: 'hm', signature: 'S' }
    const content = [search('srvtoolu_1'), text('I found nothing.')]
    for (const said of [content, [...content, thought]])
      expect(sent([question, await heard('1', said)])[1]).toEqual(['assistant', [text('I found nothing.')]])
  })

  test('waits for the results of calls of ours, and may be answered in the next answer', async () => {
    const answer = await heard('1', [search('srvtoolu_1'), ours('toolu_1')], 'tool_use')
    const result = toolMessage('2', 'toolu_1', { content: [{ type: 'text', text: 'noon' }] })
    const calls = ['assistant', [search('srvtoolu_1'), ours('toolu_1')]]
    expect(sent([question, answer, result])[1]).toEqual(calls)
    const next = await heard('3', [found('srvtoolu_1'), text('So.')])
    expect(sent([question, answer, result, next, userMessage('4')])[1]).toEqual(calls)
    expect(sent([question, answer, result, userMessage('4')])[1]).toEqual(['assistant', [ours('toolu_1')]])
  })

  test('stays where it is: only our own calls go last', async () => {
    const content = [ours('toolu_1'), search('srvtoolu_1'), found('srvtoolu_1'), text('Now.')]
    const answer = await heard('1', content, 'tool_use')
    expect(sent([question, answer, toolMessage('2', 'toolu_1')])[1]).toEqual([
      'assistant',
      [...content.slice(1), ours('toolu_1')],
    ])
  })

  test('is not what a block of no shape is', () => {
    const content: AssistantBlock[] = [
      { type: 'other', provider: 'anthropic', raw: null },
      { type: 'other', provider: 'anthropic', raw: 'text' },
      { type: 'text', text: 'a', signature: 'not JSON' },
    ]
    const answer = assistantMessage('1', '', { content, provider: 'anthropic' })
    expect(sent([question, answer, userMessage('2')])[1]).toEqual(['assistant', [text('a')]])
  })
})

describe('an answer at the end of a history', () => {
  const history = [question, assistantMessage('1', 'The answer is: \n')]

  test('is continued, without white space at its end', () => {
    expect(sent(history)[1]).toEqual(['assistant', [text('The answer is:')]])
  })

  test('is followed by the wish to go on, where a model does not continue answers', () => {
    expect(sent(history, 'claude-sonnet-4-6').slice(1)).toEqual([
      ['assistant', [text('The answer is: \n')]],
      ['user', [text('Continue.')]],
    ])
    const { body } = say(
      messagesAdapter(),
      { messages: history },
      { model: 'claude-sonnet-4-5', thinking: 'low' },
    )
    expect(messagesDefects(JSON.parse(JSON.stringify(body)))).toEqual([])
    expect(sentMessages(body).messages).toHaveLength(3)
  })
})
