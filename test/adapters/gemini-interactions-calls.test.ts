import { describe, expect, test } from 'vitest'
import { interactionsAdapter } from '../../src/adapters/gemini-interactions.ts'
import { callsIn, hearAll, responseOf } from './answers.ts'
import { completed, delta, start, step, stop } from './interaction-events.ts'

const hear = (body: string) => hearAll(interactionsAdapter(), responseOf([body]))

const call = (index: number, id: string, ...texts: string[]): string =>
  step(
    index,
    { type: 'function_call', id, name: 'f', arguments: {}, signature: '' },
    ...texts.map((text) => ({ type: 'arguments_delta', arguments: text })),
  )

describe('a call', () => {
  const begun = start(0, { type: 'function_call', id: 'a', name: 'f', arguments: {} })
  const written = (text: string) => delta(0, { type: 'arguments_delta', arguments: text })

  test('is told as its arguments grow', async () => {
    const body = call(0, 'a', '{"a":', '1}') + call(1, 'b')
    const { events } = await hear(body + completed('requires_action'))
    const told = events.flatMap((it) => (it.type === 'toolCall' && it.phase === 'delta' ? [it.delta] : []))
    expect(told).toEqual(['{"a":', '1}', '{}'])
  })

  test('that is written at once with another is told in the order in which they began', async () => {
    const { message } = await hear(
      [
        start(0, { type: 'function_call', id: 'a', name: 'f', arguments: {} }),
        start(1, { type: 'function_call', id: 'b', name: 'g', arguments: {} }),
        delta(1, { type: 'arguments_delta', arguments: '{"b":' }),
        delta(0, { type: 'arguments_delta', arguments: '{"a":1}' }),
        delta(1, { type: 'arguments_delta', arguments: '2}' }),
        stop(0),
        stop(1),
        completed('requires_action'),
      ].join(''),
    )
    expect(callsIn(message).map(({ id, arguments: args }) => [id, args])).toEqual([
      ['a', { a: 1 }],
      ['b', { b: 2 }],
    ])
  })

  test('has its proof with it', async () => {
    const first = { type: 'function_call', id: 'a', name: 'f', arguments: { a: 1 } }
    const signed = { ...first, signature: 'S' }
    const late = step(0, first, { type: 'thought_signature', signature: 'S' })
    for (const body of [step(0, signed), late]) {
      const { message } = await hear(body + completed('requires_action'))
      expect(message.content).toEqual([
        { type: 'toolCall', id: 'a', name: 'f', arguments: { a: 1 }, signature: 'S' },
      ])
    }
  })

  test.each([
    ['the line broke', ''],
    ['there was no more room', completed('incomplete')],
    ['it failed', completed('failed')],
  ])('that was cut off because %s is not executable, though it parses', async (_, end) => {
    const { message } = await hear(begun + written('{}') + end)
    expect(callsIn(message)).toEqual([{ type: 'toolCall', id: 'a', name: 'f', rawArguments: '{}' }])
  })

  test('of which nothing came but its name is not executable where the answer was cut off', async () => {
    const { message } = await hear(begun + completed('incomplete'))
    expect(callsIn(message)).toEqual([{ type: 'toolCall', id: 'a', name: 'f', rawArguments: '' }])
  })

  test('that was closed before the answer was cut off is whole', async () => {
    const { message } = await hear(begun + written('{"a":1}') + stop(0) + completed('incomplete'))
    expect(callsIn(message)[0]?.arguments).toEqual({ a: 1 })
  })

  test('that is still open when another is closed is not whole, though it was not the last to be written', async () => {
    const { message } = await hear(begun + written('{}') + call(1, 'b', '{}') + completed('incomplete'))
    expect(callsIn(message).map(({ arguments: args }) => args)).toEqual([undefined, {}])
  })

  test('that nobody closed is whole where the answer is', async () => {
    const first = { type: 'function_call', id: 'a', name: 'f', arguments: { a: 1 } }
    const { message } = await hear(start(0, first) + completed('requires_action'))
    expect(callsIn(message)[0]?.arguments).toEqual({ a: 1 })
  })

  test('whose arguments are no JSON keeps them raw', async () => {
    const { message } = await hear(begun + written('{"a"') + stop(0) + completed('requires_action'))
    expect(callsIn(message)).toEqual([{ type: 'toolCall', id: 'a', name: 'f', rawArguments: '{"a"' }])
  })

  test('of an id that another has gets one of its own', async () => {
    const { message } = await hear(call(0, 'a', '{}') + call(1, 'a', '{}') + completed('requires_action'))
    expect(callsIn(message).map(({ id }) => id)).toEqual(['a', 'a_'])
  })
})
