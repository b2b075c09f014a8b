import { jsonrepair } from 'jsonrepair'
import { describe, expect, test } from 'vitest'
import { collect } from '../../src/adapters/collect.ts'
import type { ModelEvent } from '../../src/adapters/contract.ts'
import { hear } from '../../src/adapters/hear.ts'
import { chatAdapter } from '../../src/adapters/openai-chat.ts'
import { type Repair, repairCalls } from '../../src/adapters/repair.ts'
import { ToolCallBlock } from '../../src/message/schema.ts'
import type { ModelOptions } from '../../src/runtime/model-options.ts'
import { openaiChat } from '../../src/runtime/openai-chat.ts'
import { userMessage } from '../support/messages.ts'
import { allOf, callsIn, hearAll, responseOf } from './answers.ts'

const piece = (delta: unknown, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const call = (text: string, index = 0): string =>
  piece({ tool_calls: [{ index, id: `c${index}`, function: { name: 'f', arguments: text } }] })

/** What comes of an answer in Chat Completions' words, under a repair. */
const listen = (pieces: string[], repair: Repair = jsonrepair) =>
  allOf(repairCalls(repair)(hear(chatAdapter(), responseOf(pieces))))

const STOP = piece({}, 'tool_calls')
const NEARLY = "{city: 'Paris', days: 3,}"

describe('arguments that are nearly JSON', () => {
  test('are repaired, and say so; what the model wrote stays beside them', async () => {
    const { message, events } = await listen([call(NEARLY), STOP])
    const block = {
      type: 'toolCall',
      id: 'c0',
      name: 'f',
      arguments: { city: 'Paris', days: 3 },
      rawArguments: NEARLY,
      repaired: true,
    }
    expect(message).toMatchObject({ stopReason: 'toolUse', content: [block] })
    expect(events.filter((event) => event.type === 'toolCall' && event.phase === 'end')).toEqual([
      { type: 'toolCall', phase: 'end', index: 0, call: block },
    ])
    expect(ToolCallBlock.parse(block)).toEqual(block)
  })

  test('are no affair of calls that are JSON, before and after them', async () => {
    const { message, events } = await listen([call('{"a":1}'), call('{b:2}', 1), call('{"c":3}', 2), STOP])
    expect(callsIn(message).map((block) => [block.arguments, block.repaired])).toEqual([
      [{ a: 1 }, undefined],
      [{ b: 2 }, true],
      [{ c: 3 }, undefined],
    ])
    const plain = await hearAll(
      chatAdapter(),
      responseOf([call('{"a":1}'), call('{b:2}', 1), call('{"c":3}', 2), STOP]),
    )
    const outline = (all: readonly ModelEvent[]) =>
      all.map((event) => [event.type, 'index' in event && event.index, 'phase' in event && event.phase])
    expect(outline(events)).toEqual(outline(plain.events))
  })
})

describe('arguments stay as they are', () => {
  const raw = { rawArguments: NEARLY }

  test('in an answer that was cut off by its length: what is missing would be guessed', async () => {
    const { message } = await listen([call('{"path":"/","recursive":tr'), piece({}, 'length')])
    expect(callsIn(message)).toEqual([
      { type: 'toolCall', id: 'c0', name: 'f', rawArguments: '{"path":"/","recursive":tr' },
    ])
    expect(message.stopReason).toBe('length')
  })

  test('in an answer whose line broke', async () => {
    const { message, error } = await listen([call(NEARLY)])
    expect(error).toMatchObject({ code: 'network' })
    expect(callsIn(message)[0]).toMatchObject(raw)
    expect(callsIn(message)[0]).not.toHaveProperty('arguments')
  })

  test.each<[string, Repair]>([
    [
      'the repair throws',
      () => {
        throw new Error('hopeless')
      },
    ],
    ['what it makes is no JSON', () => '{still: no'],
    ['what it makes is no object', () => '"Paris"'],
    ['what it makes is a list', () => '[1]'],
    ['what it makes is null', () => 'null'],
  ])('where %s', async (_, repair) => {
    const { message } = await listen([call(NEARLY), STOP], repair)
    expect(callsIn(message)).toEqual([{ type: 'toolCall', id: 'c0', name: 'f', ...raw }])
    expect(message.stopReason).toBe('toolUse')
  })

  test('where nothing is wrong: the events pass as they come, and nobody is asked', async () => {
    const pieces = [piece({ content: 'Hi' }), call('{"a":1}'), STOP]
    const asked: string[] = []
    const { events } = await listen(pieces, (text) => {
      asked.push(text)
      return text
    })
    expect(events).toEqual((await hearAll(chatAdapter(), responseOf(pieces))).events)
    expect(asked).toEqual([])
  })
})

test('a source that does not end as it should loses nothing', async () => {
  const broken: ModelEvent[] = [
    {
      type: 'toolCall',
      phase: 'end',
      index: 0,
      call: { type: 'toolCall', id: 'c', name: 'f', rawArguments: '{' },
    },
    { type: 'text', index: 1, delta: 'x' },
  ]
  const source = async function* () {
    yield* broken
  }
  const heard: ModelEvent[] = []
  for await (const event of repairCalls(jsonrepair)(source())) heard.push(event)
  expect(heard).toEqual(broken)
})

test('a model repairs where it is told to, and only there', async () => {
  const fetch = async () => new Response([call(NEARLY), STOP].join(''))
  const ask = (options: Pick<ModelOptions, 'repair'>) =>
    collect(
      openaiChat('m', { baseURL: 'http://model.test', fetch, ...options }).stream({
        messages: [userMessage('u')],
      }),
    )
  expect(callsIn(await ask({ repair: repairCalls(jsonrepair) }))[0]).toMatchObject({ repaired: true })
  expect(callsIn(await ask({}))[0]).not.toHaveProperty('arguments')
})
