import { describe, expect, test } from 'vitest'
import { assembleContext } from '../../src/context/assemble.ts'
import { TidemarkError } from '../../src/lib/errors.ts'
import type { Message } from '../../src/message/schema.ts'
import { textOf } from '../../src/message/text.ts'
import { assistantMessage, callingMessage, toolMessage, userMessage } from '../support/messages.ts'
import { ids, sent, threeTurns, turn } from './sent.ts'

/** One token a message, one a character of text. */
const exact = {
  text: (text: string) => text.length,
  message: (message: Message) => 1 + textOf(message).length,
}

describe('in a window', () => {
  const options = { estimate: exact, reserve: 10 }

  test('whole turns are left out, oldest first, and are told of with their size', () => {
    const context = sent(threeTurns, { ...options, window: 45 })
    expect(ids(context)).toBe('u2 a2 u3')
    expect(context.tokens).toBe(30)
    expect(context.dropped).toEqual([
      { id: 'u1', reason: 'budget', tokens: 10 },
      { id: 'a1', reason: 'budget', tokens: 10 },
    ])
  })

  test.each([
    [60, 'u1 a1 u2 a2 u3'],
    [59, 'u2 a2 u3'],
    [40, 'u2 a2 u3'],
    [39, 'u3'],
    [20, 'u3'],
  ])('of %i tokens, 10 of them for the answer, there is room for %s', (window, expected) => {
    expect(ids(sent(threeTurns, { ...options, window }))).toBe(expected)
  })

  test('instructions and tools are counted, and never cut', () => {
    const tools = [{ name: 'clock', parameters: { type: 'object' } }]
    const size = JSON.stringify(tools).length
    const context = sent(threeTurns, { ...options, system: 'Be brief.', tools, window: 39 + 9 + size })
    expect(ids(context)).toBe('u3')
    expect(context).toMatchObject({ system: 'Be brief.', tools, tokens: 10 + 9 + size })
  })

  test('a turn that is too long is not skipped for an older one', () => {
    const messages = [
      ...turn(1),
      userMessage('u2', 'q'.repeat(99)),
      assistantMessage('a2', 'a'),
      userMessage('u3', 'q'),
    ]
    expect(ids(sent(messages, { ...options, window: 60 }))).toBe('u3')
  })

  test('the newest turn is sent whole, with what answers it so far', () => {
    const messages = [...threeTurns, callingMessage('a3', ['c1']), toolMessage('t1', 'c1')]
    expect(ids(sent(messages, { ...options, window: 60 }))).toBe('u3 a3 t1')
  })

  test('that even the newest turn exceeds, the call is refused with the numbers', () => {
    const refused = () =>
      assembleContext({ messages: threeTurns, ...options, system: 'Be brief.', window: 28 })
    expect(refused).toThrow(TidemarkError)
    try {
      refused()
    } catch (error) {
      expect(error).toMatchObject({
        code: 'context-overflow',
        data: { tokens: { needed: 19, available: 18 } },
      })
      expect(String(error)).toContain('19')
    }
    expect(() => assembleContext({ messages: [], ...options, system: 'Be brief.', window: 18 })).toThrow(
      'needs 9 tokens',
    )
  })

  test('a quarter is kept for the answer, unless told otherwise, and at most 4,096 tokens', () => {
    const question = (length: number) => [userMessage('u', 'q'.repeat(length - 1))]
    expect(ids(sent(question(75), { estimate: exact, window: 100 }))).toBe('u')
    expect(() => assembleContext({ messages: question(76), estimate: exact, window: 100 })).toThrow(
      'room for 75',
    )
    expect(() => assembleContext({ messages: question(96_000), estimate: exact, window: 100_000 })).toThrow(
      'room for 95904',
    )
  })
})
