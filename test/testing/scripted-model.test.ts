import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ModelContext, ModelEvent } from '../../src/adapters/contract.ts'
import { textOf } from '../../src/message/text.ts'
import {
  createHold,
  type Script,
  type ScriptedModelOptions,
  scriptedModel,
} from '../../src/testing/scripted-model.ts'
import { userMessage } from '../support/messages.ts'

const context: ModelContext = { messages: [userMessage('u1')] }

async function listen(
  script: Script,
  options?: ScriptedModelOptions,
  signal?: AbortSignal,
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of scriptedModel(script, options).stream(context, signal && { signal }))
    events.push(event)
  return events
}

const types = (events: ModelEvent[]) => events.map(({ type }) => type).join(' ')

describe('a scripted model', () => {
  test('says what it is told to, and ends with the whole message', async () => {
    const usage = { input: 3, output: 2, cacheRead: 0, cacheWrite: 0, total: 5 }
    const events = await listen([[{ thinking: 'hm' }, 'Yes', { text: ', sir.' }, { usage }]], {
      provider: 'p',
      id: 'm',
    })
    expect(events).toEqual([
      { type: 'start', model: 'm' },
      { type: 'thinking', index: 0, delta: 'hm' },
      { type: 'text', index: 1, delta: 'Yes' },
      { type: 'text', index: 1, delta: ', sir.' },
      { type: 'usage', usage },
      {
        type: 'done',
        reason: 'stop',
        message: {
          role: 'assistant',
          content: [
            { type: 'thinking', text: 'hm' },
            { type: 'text', text: 'Yes, sir.' },
          ],
          provider: 'p',
          model: 'm',
          stopReason: 'stop',
          usage,
        },
      },
    ])
  })

  test('calls tools, with arguments as values or as they are written', async () => {
    const step = [
      { toolCall: { name: 'add', arguments: { a: 1 } } },
      { toolCall: { id: 'x', name: 'add', rawArguments: '{"a"' } },
    ]
    const events = await listen([step], { chunkSize: 4 })
    expect(
      events.filter((event) => event.type === 'toolCall').map((event) => [event.phase, event.index]),
    ).toEqual([
      ['start', 0],
      ['delta', 0],
      ['delta', 0],
      ['end', 0],
      ['start', 1],
      ['delta', 1],
      ['end', 1],
    ])
    expect(events.at(-1)).toMatchObject({
      reason: 'toolUse',
      message: {
        content: [
          { type: 'toolCall', id: 'call_1', name: 'add', arguments: { a: 1 } },
          { type: 'toolCall', id: 'x', name: 'add', rawArguments: '{"a"' },
        ],
      },
    })
  })

  test.each<[string, Script, string]>([
    ['nothing', [[]], 'done'],
    ['an error', [['a', { error: 'server' }, 'b']], 'start text error'],
    ['a reason to stop', [['a', { stop: 'length' }, 'b']], 'start text done'],
    ['nothing at the end', [['a', { vanish: true }, 'b']], 'start text'],
    ['that it accepts, at first', [[{ start: true }, { error: 'server' }]], 'start error'],
    ['a picture', [[{ block: { type: 'image', mimeType: 'image/png', data: '' } }]], 'start block done'],
    ['more than the script has', [], 'error'],
  ])('can say %s', async (_, script, expected) => {
    expect(types(await listen(script))).toBe(expected)
  })

  test('can throw, which no model may', async () => {
    await expect(listen([['a', { throw: new Error('boom') }]])).rejects.toThrow('boom')
  })

  test('answers call after call, remembers what it was asked, and can think about it', async () => {
    const model = scriptedModel(({ messages }, call) => `${call}: ${messages.map(textOf).join()}`)
    for (const temperature of [0, 1])
      for await (const event of model.stream(context, { temperature }))
        if (event.type === 'done') expect(textOf(event.message)).toBe(`${temperature}: question u1`)
    expect(model.calls).toEqual([
      { context, options: { temperature: 0 } },
      { context, options: { temperature: 1 } },
    ])
  })

  test('holds until it is released', async () => {
    const hold = createHold()
    const events: string[] = []
    const all = (async () => {
      for await (const event of scriptedModel([['a', hold, 'b']]).stream(context)) events.push(event.type)
    })()
    await expect.poll(() => events.join(' ')).toBe('start text')
    hold.release()
    await all
    expect(events.join(' ')).toBe('start text text done')
  })

  test.each([
    ['stalls', { stall: true as const }],
    ['holds', createHold()],
  ])('that %s ends when it is aborted, with what it said', async (_, piece) => {
    const controller = new AbortController()
    const all = listen([['half', piece]], {}, controller.signal)
    controller.abort()
    const events = await all
    expect(events.at(-1)).toMatchObject({ type: 'error', reason: 'aborted', error: { code: 'aborted' } })
    expect((await listen([['half', piece]], {}, AbortSignal.abort())).map(({ type }) => type)).toEqual([
      'error',
    ])
  })

  test('that is deaf goes on', async () => {
    expect(types(await listen(['a'], { deaf: true }, AbortSignal.abort()))).toBe('start text done')
  })

  test('speaks at the pace it is given', async () => {
    let beats = 0
    const pace = async () => {
      beats++
    }
    const events = await listen(['abcd'], { chunkSize: 1, pace })
    expect(beats).toBe(events.length)
  })
})

test('however it is chopped, the pieces add up to the message', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: fc.constantFrom('a', '潮', '🌊') })),
      fc.integer({ min: 1, max: 5 }),
      async (texts, chunkSize) => {
        const events = await listen([texts], { chunkSize })
        const streamed = events.map((event) => (event.type === 'text' ? event.delta : '')).join('')
        expect(streamed).toBe(texts.join(''))
        const done = events.at(-1)
        expect(done?.type === 'done' && textOf(done.message)).toBe(streamed)
        expect(events.every((event) => event.type !== 'text' || event.delta.length <= chunkSize)).toBe(true)
      },
    ),
  )
})
