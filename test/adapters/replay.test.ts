import { describe, expect, test } from 'vitest'
import { argumentsText, type ReplayEntry, replay } from '../../src/adapters/replay.ts'
import type { AssistantBlock, Message } from '../../src/message/schema.ts'
import {
  assistantMessage,
  callingMessage,
  deepFreeze,
  toolCall,
  toolMessage,
  userMessage,
} from '../support/messages.ts'

const target = { provider: 'p', callIds: { own: /./, foreign: /./, prefix: 'c' } }
const replayed = (...messages: Message[]): ReplayEntry[] => replay(deepFreeze(messages), target, 'm')
const answersIn = (entries: ReplayEntry[]) => entries.filter((entry) => entry.role === 'assistant')
const result = (id: string, call: string, text: string) =>
  toolMessage(id, call, { content: [{ type: 'text', text }] })
const resultsIn = (entries: ReplayEntry[]) =>
  answersIn(entries).flatMap(({ results }) => results.map(({ call, content }) => [call.id, content]))

describe('a history that goes back', () => {
  test('keeps the space that stands between two texts of an answer', () => {
    const content: AssistantBlock[] = ['Green.', ' ', 'Blue.', '\n'].map((text) => ({ type: 'text', text }))
    const [, answer] = replayed(userMessage('1'), assistantMessage('2', '', { content }))
    expect(answer).toMatchObject({
      content: [
        { type: 'text', text: 'Green. ' },
        { type: 'text', text: 'Blue.\n' },
      ],
    })
  })

  test('has proofs only of whole answers of the provider that is asked', () => {
    const content: AssistantBlock[] = [
      { type: 'text', text: 'Yes', signature: 's' },
      toolCall('a', { signature: 's' }),
    ]
    const signed = (more: object) =>
      JSON.stringify(replayed(userMessage('1'), assistantMessage('2', '', { content, ...more }))).match(
        /"signature"/g,
      )
    expect(signed({ provider: 'p' })).not.toBeNull()
    expect(signed({ provider: 'q' })).toBeNull()
    expect(signed({ provider: 'p', status: 'interrupted' })).toBeNull()
    expect(signed({ provider: 'p', stopReason: 'error' })).toBeNull()
  })

  test('pairs results that came late with the calls of an earlier answer', () => {
    const entries = replayed(
      userMessage('1'),
      callingMessage('2', ['a']),
      callingMessage('3', ['b']),
      result('4', 'a', 'one'),
      result('5', 'b', 'two'),
    )
    expect(answersIn(entries)).toHaveLength(2)
    expect(resultsIn(entries)).toEqual([
      ['a', [{ type: 'text', text: 'one' }]],
      ['b', [{ type: 'text', text: 'two' }]],
    ])
  })

  test('pairs a result with the newest call of its id, since ids repeat', () => {
    const entries = replay(
      [
        userMessage('1'),
        callingMessage('2', ['a']),
        result('3', 'a', 'one'),
        userMessage('4'),
        callingMessage('5', ['a']),
        result('6', 'a', 'two'),
      ],
      target,
      'm',
    )
    expect(resultsIn(entries).map(([, content]) => content)).toEqual([
      [{ type: 'text', text: 'one' }],
      [{ type: 'text', text: 'two' }],
    ])
  })

  test('does not give the result of a stopped answer’s call to an older call of the same id', () => {
    const entries = replayed(
      userMessage('1'),
      callingMessage('2', ['a']),
      userMessage('3'),
      callingMessage('4', ['a'], { status: 'interrupted', stopReason: 'aborted' }),
      result('5', 'a', 'of the stopped one'),
      userMessage('6'),
    )
    expect(JSON.stringify(entries)).not.toContain('of the stopped one')
    expect(resultsIn(entries)).toEqual([['a', [{ type: 'text', text: 'Not executed: there is no result.' }]]])
  })

  test('joins two answers in a row, with a seam between their texts', () => {
    const entries = replayed(userMessage('1'), assistantMessage('2', 'A'), assistantMessage('3', 'B'))
    expect(answersIn(entries).map(({ content }) => content)).toEqual([
      [
        { type: 'text', text: 'A\n\n' },
        { type: 'text', text: 'B' },
      ],
    ])
  })

  test('has no half of a surrogate pair in a call’s arguments, in values and in keys, and leaves their escapes alone', () => {
    const half = '\ud83d'
    const call = toolCall('a', {
      arguments: { [`k${half}`]: [`v${half}`, '\\ud83d \\\\ud83d', '\u{1f600}'] },
    })
    expect(JSON.parse(argumentsText(call))).toEqual({
      'k\ufffd': ['v\ufffd', '\\ud83d \\\\ud83d', '\u{1f600}'],
    })
    expect(argumentsText(call)).not.toMatch(/(?<!\\)\\ud8/)
  })
})
