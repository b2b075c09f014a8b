import { describe, expect, test } from 'vitest'
import { Id, isSettled, keyOf, Message, Session, Status } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import {
  assistantMessage,
  callingMessage,
  systemMessage,
  toolCall,
  toolMessage,
  userMessage,
} from '../support/messages.ts'

const accepts = (value: unknown) => Message.safeParse(value).success

describe('a message', () => {
  test.each([
    ['system', systemMessage('m1', 'Be brief.')],
    ['user', userMessage('m1', 'Hello', { name: 'Ada' })],
    ['assistant', callingMessage('m1', ['c1', 'c2'])],
    ['tool', toolMessage('m1', 'c1', { details: { rows: [1, 2] } })],
  ])('of role %s comes out as it went in', (_, message) => {
    expect(Message.parse(message)).toEqual(message)
    expect(Message.parse(JSON.parse(JSON.stringify(message)))).toEqual(message)
  })

  test('keeps blocks that this version does not know inside a block that it does', () => {
    const raw = { type: 'web_search', deep: [{ er: true }] }
    const message = assistantMessage('m1', '', { content: [{ type: 'other', provider: 'anthropic', raw }] })
    expect(Message.parse(message)).toEqual(message)
  })

  test('with a field that nobody knows is read without it', () => {
    expect(Message.parse({ ...userMessage('m1'), colour: 'red' })).toEqual(userMessage('m1'))
  })

  test.each([
    ['no role', { ...userMessage('m1'), role: 'narrator' }],
    ['no id', { ...userMessage('m1'), id: '' }],
    ['an id with a slash', { ...userMessage('m1'), id: 'a/b' }],
    ['an id of 65 characters', { ...userMessage('m1'), id: 'x'.repeat(65) }],
    ['a status of its own', { ...userMessage('m1'), status: 'done' }],
    ['thinking by a user', { ...userMessage('m1'), content: [{ type: 'thinking', text: 'hm' }] }],
    ['a call by a tool', { ...toolMessage('m1', 'c1'), content: [toolCall('c2')] }],
    [
      'a picture by the system',
      { ...systemMessage('m1', ''), content: [{ type: 'image', mimeType: 'image/png' }] },
    ],
    ['a result of no call', { ...toolMessage('m1', 'c1'), toolCallId: '' }],
    ['content that is text', { ...userMessage('m1'), content: 'Hello' }],
    ['nothing in it', {}],
    ['nothing at all', null],
  ])('with %s is refused', (_, value) => {
    expect(accepts(value)).toBe(false)
  })

  test('has text, in which thinking, calls and pictures do not count', () => {
    const message = assistantMessage('m1', '', {
      content: [
        { type: 'thinking', text: 'hm' },
        { type: 'text', text: 'One ' },
        toolCall('c1'),
        { type: 'image', mimeType: 'image/png', url: 'https://example.com/a.png' },
        { type: 'text', text: 'two.' },
      ],
    })
    expect(textOf(message)).toBe('One two.')
  })

  test('is keyed by the id its writer gave it, also when the server gives it another', () => {
    expect(keyOf(userMessage('m1'))).toBe('m1')
    expect(keyOf(userMessage('server7', 'Hello', { clientId: 'm1' }))).toBe('m1')
  })

  test('is settled unless it is pending or streaming', () => {
    const settled = Status.options.filter((status) => isSettled({ status }))
    expect(settled).toEqual(['completed', 'failed', 'interrupted'])
  })
})

describe('an id', () => {
  test.each(['a', 'A-z_0', 'x'.repeat(64)])('may be %s', (id) => expect(Id.safeParse(id).success).toBe(true))
  test.each(['', ' ', 'a b', 'ä', '../a', '__proto__ ', 'a\n'])('may not be %j', (id) => {
    expect(Id.safeParse(id).success).toBe(false)
  })
})

test('a session comes out as it went in', () => {
  const session = { id: 's1', createdAt: 1, updatedAt: 2, metadata: { a: [1] }, headId: null, v: 1 }
  expect(Session.parse(session)).toEqual(session)
})
