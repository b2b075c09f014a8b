import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/message/schema.ts'
import { type ValidationCode, validateConversation, validateMessage } from '../../src/message/validate.ts'
import {
  assistantMessage,
  callingMessage,
  systemMessage,
  toolCall,
  toolMessage,
  userMessage,
} from '../support/messages.ts'

const said = (messages: readonly unknown[]) =>
  validateConversation(messages).errors.map(({ code, path }) => [code, path.join('.')])

describe('validateMessage', () => {
  const image = { type: 'image' as const, mimeType: 'image/png' }
  test.each<[string, unknown, ValidationCode, string]>([
    ['is no object', 7, 'shape', ''],
    ['is nothing', null, 'shape', ''],
    ['has no time', { ...userMessage('m1'), createdAt: undefined }, 'shape', 'createdAt'],
    ['has text for content', { ...userMessage('m1'), content: 'Hello' }, 'shape', 'content'],
    ['has a role of its own', { ...userMessage('m1'), role: 'bot' }, 'unknown-role', 'role'],
    ['has an empty id', { ...userMessage('m1'), id: '' }, 'invalid-id', 'id'],
    ['has a path for an id', { ...userMessage('m1'), sessionId: '../x' }, 'invalid-id', 'sessionId'],
    ['answers a call without id', { ...toolMessage('m1', 'c1'), toolCallId: '' }, 'invalid-id', 'toolCallId'],
    ['makes a call without id', callingMessage('m1', ['']), 'invalid-id', 'content.0.id'],
    [
      'has a block of another role',
      { ...userMessage('m1'), content: [{ type: 'thinking', text: '' }] },
      'unknown-block',
      'content.0.type',
    ],
    [
      'has a field of another role',
      { ...userMessage('m1'), toolCallId: 'c1' },
      'foreign-field',
      'toolCallId',
    ],
    [
      'has a status that its role never has',
      userMessage('m1', '', { status: 'streaming' }),
      'impossible-status',
      'status',
    ],
    [
      'is a pending system message',
      systemMessage('m1', '', { status: 'pending' }),
      'impossible-status',
      'status',
    ],
    [
      'is an interrupted result',
      toolMessage('m1', 'c1', { status: 'interrupted' }),
      'impossible-status',
      'status',
    ],
    ['has a picture of nothing', userMessage('m1', '', { content: [image] }), 'empty-media', 'content.0'],
    ['calls twice by one id', callingMessage('m1', ['a', 'b', 'a']), 'duplicate-call-id', 'content.2.id'],
  ])('reports what %s', (_, value, code, path) => {
    const { valid, errors } = validateMessage(value)
    expect(valid).toBe(false)
    expect(errors.map((error) => [error.code, error.path.join('.')])).toEqual([[code, path]])
    expect(errors[0]?.message).not.toBe('')
  })

  test('lets fields through that nobody knows, and fields of others that are undefined', () => {
    expect(validateMessage({ ...userMessage('m1'), colour: 'red', usage: undefined }).valid).toBe(true)
  })

  test('reports everything that is wrong at once', () => {
    const { errors } = validateMessage({ ...userMessage('', 'x', { status: 'interrupted' }), v: 'one' })
    expect(errors.map((error) => error.code).sort()).toEqual(['invalid-id', 'shape'])
  })

  test('never throws', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (value, other) => {
        const mixed = { ...userMessage('m1'), ...(typeof value === 'object' ? value : {}), content: [other] }
        expect(validateMessage(value).valid).toBe(false)
        expect(validateMessage(mixed).valid).toBe(validateMessage(mixed).errors.length === 0)
      }),
    )
  })
})

describe('validateConversation', () => {
  const call = callingMessage('a1', ['c1', 'c2'])
  const results = [toolMessage('t1', 'c1'), toolMessage('t2', 'c2')]
  const before: Message[] = [systemMessage('s', 'Be brief.'), userMessage('u1')]

  test.each<[string, Message[]]>([
    ['nothing', []],
    ['a question', [userMessage('u1')]],
    ['a greeting and an answer to it', [assistantMessage('a0'), userMessage('u1'), assistantMessage('a1')]],
    [
      'calls, results and what the model makes of them',
      [...before, call, ...results, assistantMessage('a2')],
    ],
    ['results in another order than the calls', [...before, call, ...results.toReversed()]],
    [
      'calls upon calls',
      [...before, call, ...results, callingMessage('a2', ['c1']), toolMessage('t3', 'c1')],
    ],
    [
      'results that are still awaited',
      [...before, call, ...results.map((one) => ({ ...one, status: 'pending' as const }))],
    ],
    [
      'a call that the provider answers itself',
      [...before, assistantMessage('a1', '', { content: [toolCall('c1', { server: true })] })],
    ],
    [
      'calls of an answer that was cut off',
      [...before, { ...call, status: 'interrupted' }, userMessage('u2')],
    ],
    ['calls of an answer that failed', [...before, { ...call, status: 'failed' }, userMessage('u2')]],
    [
      'questions that wait to be sent, or were refused',
      [
        ...before,
        userMessage('u2', 'refused', { status: 'failed' }),
        userMessage('u3', 'queued', { status: 'pending' }),
        userMessage('u4', 'queued, too', { status: 'pending' }),
      ],
    ],
  ])('accepts %s', (_, messages) => {
    expect(validateConversation(messages)).toEqual({ valid: true, errors: [] })
  })

  test.each<[string, readonly unknown[], [ValidationCode, string][]]>([
    [
      'a message of no shape',
      [userMessage('u1'), { role: 'bot' }, userMessage('u2')],
      [['unknown-role', '1.role']],
    ],
    ['two messages of one id', [userMessage('x'), assistantMessage('x')], [['duplicate-id', '1.id']]],
    ['two questions in a row', [userMessage('u1'), userMessage('u2')], [['consecutive-users', '1']]],
    [
      'two answers in a row',
      [assistantMessage('a1'), assistantMessage('a2')],
      [['consecutive-assistants', '1']],
    ],
    [
      'two answers between which only instructions changed',
      [assistantMessage('a1'), systemMessage('s', ''), assistantMessage('a2')],
      [['consecutive-assistants', '2']],
    ],
    [
      'a result of no call',
      [userMessage('u1'), toolMessage('t1', 'c1')],
      [['orphan-result', '1.toolCallId']],
    ],
    [
      'a result that comes late',
      [...before, call, ...results, assistantMessage('a2'), userMessage('u2'), toolMessage('t3', 'c1')],
      [['orphan-result', '7.toolCallId']],
    ],
    [
      'a result of a call that the provider answers itself',
      [
        ...before,
        assistantMessage('a1', '', { content: [toolCall('c1', { server: true })] }),
        toolMessage('t1', 'c1'),
      ],
      [['orphan-result', '3.toolCallId']],
    ],
    [
      'a call answered twice',
      [...before, call, ...results, toolMessage('t3', 'c2')],
      [['duplicate-result', '5.toolCallId']],
    ],
    [
      'a call that nothing answers',
      [...before, call, toolMessage('t1', 'c1')],
      [['dangling-call', '2.content.1']],
    ],
    [
      'something else between a call and its results',
      [...before, call, toolMessage('t1', 'c1'), systemMessage('s2', 'Be long.'), toolMessage('t2', 'c2')],
      [
        ['dangling-call', '2.content.1'],
        ['orphan-result', '5.toolCallId'],
      ],
    ],
  ])('reports %s', (_, messages, expected) => {
    const found = said(messages)
    for (const error of expected) expect(found).toContainEqual(error)
    expect(found).toHaveLength(expected.length)
  })

  test('takes a long conversation, and a message of many calls, in its stride', () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => `c${n}`)
    const answered = [
      userMessage('u'),
      callingMessage('a', ids),
      ...ids.map((id) => toolMessage(`t${id}`, id)),
    ]
    expect(validateConversation(answered).valid).toBe(true)
    expect(validateConversation(answered.slice(0, 2)).errors).toHaveLength(ids.length)
  })
})

/** Turns with calls and results, all of them right. */
const conversation = fc
  .array(fc.array(fc.array(fc.nat(4), { minLength: 1, maxLength: 3 }), { maxLength: 3 }), { maxLength: 6 })
  .map((turns) => {
    let n = 0
    const messages: Message[] = []
    for (const steps of turns) {
      messages.push(userMessage(`m${n++}`))
      for (const calls of steps) {
        const ids = [...new Set(calls)].map((id) => `c${id}`)
        messages.push(callingMessage(`m${n++}`, ids))
        for (const id of ids.toReversed()) messages.push(toolMessage(`m${n++}`, id))
      }
      messages.push(assistantMessage(`m${n++}`))
    }
    return messages
  })

describe('of a conversation that is right', () => {
  test('nothing is reported, nor of any part that begins and ends with a turn', () => {
    fc.assert(
      fc.property(conversation, fc.nat(), (messages, at) => {
        expect(validateConversation(messages).errors).toEqual([])
        const starts = messages.flatMap((message, index) => (message.role === 'user' ? [index] : []))
        const start = starts[at % Math.max(1, starts.length)] ?? 0
        expect(validateConversation(messages.slice(start)).errors).toEqual([])
        expect(validateConversation(messages.slice(0, start)).errors).toEqual([])
      }),
    )
  })

  test('leaving out anything but the answer to results is noticed', () => {
    fc.assert(
      fc.property(conversation, fc.nat(), (messages, at) => {
        fc.pre(messages.length > 2)
        const index = 1 + (at % (messages.length - 2))
        const isAnswer = messages[index]?.role === 'assistant' && messages[index + 1]?.role === 'user'
        const mayBeMissed = isAnswer && messages[index - 1]?.role === 'tool'
        expect(validateConversation(messages.toSpliced(index, 1)).valid).toBe(mayBeMissed)
      }),
    )
  })
})
