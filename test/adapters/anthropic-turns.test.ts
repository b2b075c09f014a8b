import { describe, expect, test } from 'vitest'
import { messagesAdapter } from '../../src/adapters/anthropic.ts'
import { say } from '../../src/adapters/say.ts'
import type { AssistantBlock, Message, UserBlock } from '../../src/message/schema.ts'
import {
  assistantMessage,
  deepFreeze,
  systemMessage,
  toolCall,
  toolMessage,
  userMessage,
} from '../support/messages.ts'
import { messagesDefects } from './checkers/anthropic.ts'
import { sentMessages } from './checkers/anthropic-body.ts'

/** What is sent of a history, which is never refused. It is frozen: writing to it would throw. */
function sent(messages: Message[], { model = 'claude-sonnet-4-5', system = '' } = {}) {
  const { body } = say(messagesAdapter(), deepFreeze({ messages, system }), { model })
  expect(messagesDefects(JSON.parse(JSON.stringify(body)))).toEqual([])
  return sentMessages(body)
}
const own = (id: string, content: AssistantBlock[], more = {}) =>
  assistantMessage(id, '', { content, provider: 'anthropic', ...more })
const text = (words: string) => ({ type: 'text' as const, text: words })
const partsOf = (content: UserBlock[]) => sent([userMessage('1', '', { content })]).messages[0]?.content
const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' } as const

describe('instructions', () => {
  test('stand before the messages, those at the head of the history among them', () => {
    const body = sent([systemMessage('0', 'Be kind.'), userMessage('1', 'Hi')], { system: 'Be brief.\ud83d' })
    expect(body.system).toEqual([text('Be brief.\uFFFD'), text('Be kind.')])
    expect(body.messages).toHaveLength(1)
    expect(sent([userMessage('1')], { system: ' \n' })).not.toHaveProperty('system')
  })

  test('in the middle stay there: said by the user, or as what they are where a model takes that', () => {
    const messages = [
      userMessage('1', 'a'),
      assistantMessage('2', 'b'),
      userMessage('3', 'c'),
      systemMessage('4', 'Be brief.'),
      assistantMessage('5', 'd'),
      systemMessage('6', 'Be kind.'),
      userMessage('7', 'e'),
    ]
    const said = (model: string) =>
      sent(messages, { model }).messages.map(({ role, content }) => [role, content])
    expect(said('claude-sonnet-4-6')).toEqual([
      ['user', [text('a')]],
      ['assistant', [text('b')]],
      ['user', [text('c'), text('<system>\nBe brief.\n</system>')]],
      ['assistant', [text('d')]],
      ['user', [text('<system>\nBe kind.\n</system>'), text('e')]],
    ])
    expect(said('claude-opus-4-8')).toEqual([
      ['user', [text('a')]],
      ['assistant', [text('b')]],
      ['user', [text('c')]],
      ['system', [text('Be brief.')]],
      ['assistant', [text('d')]],
      // Not between a question and its answer: there it would be refused.
      ['user', [text('<system>\nBe kind.\n</system>'), text('e')]],
    ])
  })
})

describe('what a user says', () => {
  test('has images and documents by data or by address', () => {
    expect(
      partsOf([
        text('Look'),
        image,
        { type: 'image', mimeType: 'image/*', url: 'https://a.example/b.png' },
        { type: 'file', mimeType: 'application/pdf', data: 'JVBERi0=', name: 'a.pdf' },
        { type: 'file', mimeType: 'application/pdf', url: 'https://a.example/b.pdf' },
      ]),
    ).toEqual([
      text('Look'),
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
      { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
        title: 'a.pdf',
      },
      { type: 'document', source: { type: 'url', url: 'https://a.example/b.pdf' } },
    ])
  })

  test('says what could not be shown', () => {
    expect(
      partsOf([
        { type: 'image', mimeType: 'image/svg+xml', data: 'PHN2Zz4=' },
        { type: 'image', mimeType: 'image/png', attachmentId: 'att1' },
        { type: 'image', mimeType: 'image/png', url: 'blob:https://a.example/1' },
        { type: 'file', mimeType: 'audio/wav', name: 'b.wav', data: 'UklGRg==' },
      ]),
    ).toEqual([
      text('[image image/svg+xml not shown]'),
      text('[image image/png not shown]'),
      text('[image image/png not shown]'),
      text('[file b.wav not shown]'),
    ])
  })

  test('is one message, however many it was written in', () => {
    expect(sent([userMessage('1', 'a'), userMessage('2', ' '), userMessage('3', 'b')]).messages).toEqual([
      { role: 'user', content: [text('a'), text('b')] },
    ])
  })

  test('comes first, even where a greeting does', () => {
    const { messages } = sent([assistantMessage('1', 'Welcome!'), userMessage('2', 'Hi')])
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })
})

describe('what an answer says', () => {
  test('goes back with thinking and its proof, if it is our own', () => {
    const content: AssistantBlock[] = [
      { type: 'thinking', text: 'hm', signature: 'S' },
      { type: 'thinking', text: '', redacted: true, signature: 'R' },
      { type: 'thinking', text: 'without proof' },
      text('Yes'),
      { type: 'source', url: 'https://a.example' },
    ]
    const answer = (provider: string) =>
      sent([userMessage('1'), own('2', content, { provider }), userMessage('3')]).messages[1]?.content
    expect(answer('anthropic')).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 'S' },
      { type: 'redacted_thinking', data: 'R' },
      text('Yes'),
    ])
    expect(answer('other')).toEqual([text('Yes')])
  })

  test('goes back without thinking that nothing follows', () => {
    const thought: AssistantBlock = { type: 'thinking', text: 'hm', signature: 'S' }
    expect(
      sent([userMessage('1'), own('2', [text('a'), thought]), userMessage('3')]).messages[1]?.content,
    ).toEqual([text('a')])
    expect(sent([userMessage('1', 'a'), own('2', [thought]), userMessage('3', 'b')]).messages).toHaveLength(1)
  })

  test('has calls last and results first, with what else was said about them', () => {
    const call = toolCall('a', { signature: '{"caller":{"type":"direct"}}', arguments: { zone: 'UTC' } })
    const { messages } = sent([
      userMessage('1'),
      own('2', [call, toolCall('b'), text('I look.')]),
      toolMessage('3', 'b', { content: [], isError: true }),
      toolMessage('4', 'a', { content: [text('noon'), image] }),
      userMessage('5', 'Well?'),
    ])
    expect(messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          text('I look.'),
          { type: 'tool_use', caller: { type: 'direct' }, id: 'a', name: 'clock', input: { zone: 'UTC' } },
          { type: 'tool_use', id: 'b', name: 'clock', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            is_error: false,
            content: [
              text('noon'),
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
            ],
          },
          { type: 'tool_result', tool_use_id: 'b', is_error: true },
          text('Well?'),
        ],
      },
    ])
  })

  test('has ids, names and inputs that are taken, whatever they were elsewhere', () => {
    const calls = [
      toolCall('fc|1', { name: 'files.read', arguments: [1] }),
      { type: 'toolCall' as const, id: 'b', name: 'f', rawArguments: '{"a"' },
    ]
    const { messages } = sent([
      userMessage('1'),
      assistantMessage('2', '', { content: calls }),
      toolMessage('3', 'fc|1'),
    ])
    expect(messages[1]?.content).toEqual([
      { type: 'tool_use', id: 'toolu_000000000', name: 'files_read', input: { arguments: [1] } },
      { type: 'tool_use', id: 'b', name: 'f', input: { invalid: '{"a"' } },
    ])
    expect(messages[2]?.content).toMatchObject([
      { tool_use_id: 'toolu_000000000' },
      {
        tool_use_id: 'b',
        is_error: true,
        content: [text('Not executed: the arguments are not valid JSON.')],
      },
    ])
  })

  test('says where there was an image that cannot go back', () => {
    const { messages } = sent([
      userMessage('1'),
      assistantMessage('2', '', { content: [image] }),
      userMessage('3'),
    ])
    expect(messages[1]?.content).toEqual([text('[image image/png not shown]')])
  })

  test('is only its text where it broke off', () => {
    const content: AssistantBlock[] = [
      { type: 'thinking', text: 'h', signature: 'S' },
      text('Half'),
      toolCall('a'),
    ]
    const { messages } = sent([
      userMessage('1'),
      own('2', content, { stopReason: 'aborted' }),
      toolMessage('3', 'a'),
    ])
    expect(messages[1]?.content).toEqual([text('Half')])
  })
})
