import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/message/schema.ts'
import {
  assistantMessage,
  callingMessage,
  systemMessage,
  toolCall,
  toolMessage,
  userMessage,
} from '../support/messages.ts'
import { ids, sent, threeTurns, turn, why } from './sent.ts'

describe('without a limit', () => {
  test('everything that is completed is sent, the very same objects', () => {
    const context = sent(threeTurns)
    expect(context.messages).toEqual(threeTurns)
    for (const [place, message] of context.messages.entries()) expect(message).toBe(threeTurns[place])
    expect(context.included.map(({ reason }) => reason)).toEqual([
      'history',
      'history',
      'history',
      'history',
      'newest',
    ])
    expect('system' in context || 'tools' in context).toBe(false)
  })

  test.each<[string, Message, string]>([
    ['pending', assistantMessage('x', 'half', { status: 'pending' }), 'unsettled'],
    ['streaming', assistantMessage('x', 'half', { status: 'streaming' }), 'unsettled'],
    ['failed', assistantMessage('x', 'half', { status: 'failed' }), 'failed'],
    ['refused', userMessage('x', 'no', { status: 'failed' }), 'failed'],
    ['queued', userMessage('x', 'wait', { status: 'pending' }), 'unsettled'],
    ['blank', assistantMessage('x', ' \n'), 'empty'],
    [
      'nothing but thinking',
      assistantMessage('x', '', { content: [{ type: 'thinking', text: 'hm' }] }),
      'empty',
    ],
    ['cut off before it said anything', assistantMessage('x', '', { status: 'interrupted' }), 'empty'],
    ['a result of no call', toolMessage('x', 'c9'), 'orphan'],
    ['a call of no result', callingMessage('x', ['c9']), 'dangling'],
    ['there already', userMessage('u1'), 'duplicate'],
  ])('what is %s stays out', (_, message, reason) => {
    const messages = [...turn(1), message, userMessage('u2')]
    const context = sent(messages)
    expect(ids(context)).toBe('u1 a1 u2')
    expect(why(context)).toBe(`${message.id} ${reason}`)
  })

  test('an answer that was cut off goes in as its text with a mark, without its calls and its cost', () => {
    const half = assistantMessage('a1', '', {
      content: [
        { type: 'thinking', text: 'hm', signature: 'x' },
        { type: 'text', text: 'The tide ' },
        toolCall('c1'),
      ],
      status: 'interrupted',
      stopReason: 'aborted',
      usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 },
      tokenCount: 1,
    })
    const context = sent([userMessage('u1'), half, userMessage('u2')])
    expect(context.messages[1]).toEqual(assistantMessage('a1', 'The tide [interrupted]'))
    expect(context.included[1]?.reason).toBe('interrupted')
    const without = sent([userMessage('u1'), half, userMessage('u2')], { interrupted: 'drop' })
    expect(ids(without)).toBe('u1 u2')
    expect(why(without)).toBe('a1 interrupted')
  })

  test('a call without its result is taken out of the answer that made it, the others stay', () => {
    const answer = callingMessage('a1', ['c1', 'c2'])
    const messages = [
      userMessage('u1'),
      answer,
      toolMessage('t1', 'c1', { status: 'failed' }),
      toolMessage('t2', 'c2'),
    ]
    const context = sent(messages)
    expect(ids(context)).toBe('u1 a1 t2')
    expect(context.messages[1]?.content).toEqual([toolCall('c2')])
    expect(answer.content).toHaveLength(2)
  })

  test('a result behind an answer that failed is not taken for one of the answer before', () => {
    const messages = [
      userMessage('u1'),
      callingMessage('a1', ['c1']),
      callingMessage('a2', ['c1'], { status: 'failed' }),
      toolMessage('t1', 'c1'),
    ]
    const context = sent(messages)
    expect(ids(context)).toBe('u1')
    expect(why(context)).toBe('a1 dangling, a2 failed, t1 orphan'.split(', ').toSorted().join(', '))
  })

  test('a call that the provider answers itself needs no result', () => {
    const answer = assistantMessage('a1', 'Found.', { content: [toolCall('c1', { server: true })] })
    expect(ids(sent([userMessage('u1'), answer, userMessage('u2')]))).toBe('u1 a1 u2')
  })

  test('with a head, its branch is sent and the others are told of', () => {
    const messages = [
      userMessage('u1'),
      assistantMessage('a1', 'one', { parentId: 'u1' }),
      assistantMessage('a2', 'two', { parentId: 'u1' }),
      userMessage('u2', 'go on', { parentId: 'a2' }),
    ]
    const context = sent(messages, { headId: 'u2' })
    expect(ids(context)).toBe('u1 a2 u2')
    expect(why(context)).toBe('a1 branch')
    expect(ids(sent([userMessage('u1', ' ')], { headId: null }))).toBe('')
  })
})

describe('instructions', () => {
  test('come from the options', () => {
    expect(sent(threeTurns, { system: 'Be brief.' }).system).toBe('Be brief.')
  })

  test('or from the first system message, which is not sent among the others', () => {
    const context = sent([systemMessage('s', 'Be brief.'), ...turn(1)])
    expect(context.system).toBe('Be brief.')
    expect(ids(context)).toBe('u1 a1')
    expect(context.included[0]).toMatchObject({ id: 's', reason: 'system' })
  })

  test('that come later go in as a note to the question they were given for', () => {
    const messages = [
      systemMessage('s', 'Be brief.'),
      ...turn(1),
      systemMessage('s2', 'Be kind.'),
      userMessage('u2'),
    ]
    const context = sent(messages)
    expect(context.system).toBe('Be brief.')
    expect(ids(context)).toBe('u1 a1 s2 u2')
    expect(context.messages[2]).toEqual(userMessage('s2', '[changed instructions]\nBe kind.'))
    expect(context.included.at(-2)?.reason).toBe('note')
  })

  test('that come between a call and its result go behind it', () => {
    const messages = [
      userMessage('u1'),
      callingMessage('a1', ['c1']),
      systemMessage('s', 'Be kind.'),
      toolMessage('t1', 'c1'),
    ]
    expect(ids(sent(messages, { system: 'Be brief.' }))).toBe('u1 a1 t1 s')
  })

  test('are not said twice', () => {
    const messages = [
      systemMessage('s', 'Be brief.'),
      ...turn(1),
      systemMessage('s2', 'Be brief.'),
      userMessage('u2'),
    ]
    expect(why(sent(messages))).toBe('s2 duplicate')
    expect(why(sent(messages, { system: 'Be brief.' }))).toBe('s duplicate, s2 duplicate')
  })
})
