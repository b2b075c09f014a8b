import { describe, expect, test } from 'vitest'
import type { Usage } from '../../src/message/schema.ts'
import { type ScriptStep, scriptedModel } from '../../src/testing/scripted-model.ts'
import { assistantMessage, toolCall } from '../support/messages.ts'
import { outline, play, tool } from './stage.ts'

const usage = (input: number, output: number): Usage => ({
  input,
  output,
  cacheRead: 0,
  cacheWrite: 0,
  total: input + output,
})
const clock = tool('clock', () => 'noon')

describe('an answer', () => {
  test('is created, started, streamed, completed; and the run with it', async () => {
    const { log, outcome, messages, folded } = await play({
      model: scriptedModel([['A line ', 'of seaweed.', { usage: usage(9, 4) }]]),
    })
    expect(outcome).toBe('completed')
    expect(folded.problems).toEqual([])
    expect(log.events).toEqual([
      { type: 'run.started', runId: 'run1' },
      {
        type: 'message.created',
        message: {
          ...assistantMessage('a1', '', {
            status: 'pending',
            parentId: 'u1',
            createdAt: 1_001,
            updatedAt: 1_001,
          }),
          runId: 'run1',
          provider: 'scripted',
          model: 'script',
        },
      },
      { type: 'message.started', id: 'a1', runId: 'run1', provider: 'scripted', model: 'script' },
      {
        type: 'message.delta',
        id: 'a1',
        index: 0,
        block: { type: 'text', text: '' },
        delta: 'A line ',
        offset: 0,
      },
      { type: 'message.delta', id: 'a1', index: 0, delta: 'of seaweed.', offset: 7 },
      { type: 'message.completed', message: messages[0] },
      { type: 'run.finished', runId: 'run1', outcome: 'completed', usage: usage(9, 4) },
    ])
    expect(messages[0]).toMatchObject({
      status: 'completed',
      content: [{ type: 'text', text: 'A line of seaweed.' }],
      stopReason: 'stop',
      usage: usage(9, 4),
      tokenCount: 4,
    })
  })

  test.each<[string, ScriptStep, string[]]>([
    ['text', 'A line.', ['started', 'delta', 'completed']],
    ['nothing', [], ['started', 'completed']],
    ['thoughts and text', [{ thinking: 'hm' }, 'A line.'], ['started', 'delta', 'completed']],
    ['an error at once', [{ error: 'auth' }], ['failed']],
    ['an error after the start', [{ start: true }, { error: 'auth' }], ['started', 'failed']],
    ['an error in the middle', ['A li', { error: 'network' }], ['started', 'delta', 'failed']],
    ['an exception at once', [{ throw: new Error('boom') }], ['failed']],
    ['an exception in the middle', ['A li', { throw: new Error('boom') }], ['started', 'delta', 'failed']],
    ['an end without a word', [{ vanish: true }], ['failed']],
    ['an end without done', ['A li', { vanish: true }], ['started', 'delta', 'failed']],
    ['that it was aborted', ['A li', { error: 'aborted' }], ['started', 'delta', 'interrupted']],
  ])('of a model that says %s', async (_, step, expected) => {
    const { log, folded, outcome } = await play({ model: scriptedModel([step]) })
    expect(outline(log.events)).toEqual(['run.started', 'created', ...expected, 'run.finished'])
    expect(folded.problems).toEqual([])
    expect(folded.outcome).toBe(outcome)
    expect(outcome).toBe(expected.at(-1))
    // The end of the run is written together with the end of its last message.
    expect(
      log.appends
        .at(-1)
        ?.map((event) => event.type)
        .slice(-2),
    ).toEqual([`message.${expected.at(-1)}`, 'run.finished'])
  })

  test('that fails keeps what was said, and why it failed', async () => {
    const step = [
      { thinking: 'hm' },
      'A li',
      { error: { code: 'server' as const, message: 'overloaded', status: 529 } },
    ]
    const { messages, log } = await play({ model: scriptedModel([step]) })
    const error = { code: 'server', message: 'overloaded', status: 529 }
    expect(messages[0]).toMatchObject({
      status: 'failed',
      stopReason: 'error',
      error,
      content: [
        { type: 'thinking', text: 'hm' },
        { type: 'text', text: 'A li' },
      ],
    })
    expect(log.events.at(-2)).toMatchObject({ type: 'message.failed', id: 'a1', error })
  })

  test.each<[string, ScriptStep, string]>([
    ['throws', ['A li', { throw: new Error('boom') }], 'boom'],
    ['ends without saying so', ['A li', { vanish: true }], 'without saying so'],
  ])('of a model that %s is a protocol error, with the text kept', async (_, step, message) => {
    const { messages } = await play({ model: scriptedModel([step]) })
    expect(messages[0]).toMatchObject({
      content: [{ type: 'text', text: 'A li' }],
      error: { code: 'protocol', message: expect.stringContaining(message) },
    })
  })

  test('has no token count and no usage where nobody counted', async () => {
    const { messages, log } = await play({ model: scriptedModel(['A line.']) })
    expect(messages[0]).not.toHaveProperty('usage')
    expect(messages[0]).not.toHaveProperty('tokenCount')
    expect(log.events.at(-1)).not.toHaveProperty('usage')
  })

  test('tells every block in its place: thoughts, text, calls, citations, pictures', async () => {
    const source = { type: 'source' as const, url: 'https://example.com' }
    const image = { type: 'image' as const, mimeType: 'image/png', data: 'AAAA' }
    const call = { name: 'clock', arguments: { zone: 'UTC' }, server: true }
    const step = [
      { thinking: 'hm' },
      'One. ',
      { block: source },
      'Two.',
      { toolCall: call },
      { block: image },
    ]
    const { log, folded } = await play({ model: scriptedModel([step], { chunkSize: 3 }) })
    expect(folded.problems).toEqual([])
    const opened = log.events.flatMap((event) =>
      event.type === 'message.delta' && event.block ? [[event.index, event.block.type]] : [],
    )
    expect(opened).toEqual([
      [0, 'thinking'],
      [1, 'text'],
      [2, 'source'],
      [3, 'text'],
      [4, 'toolCall'],
      [5, 'image'],
    ])
  })

  test('never tears a character apart, and mends what the model tore', async () => {
    const { log, messages, folded } = await play({
      model: scriptedModel([['🌊🌊 \ud83c', { thinking: '\udf0a🌊\ud83c' }]], { chunkSize: 1 }),
    })
    expect(folded.problems).toEqual([])
    expect(messages[0]?.content).toEqual([
      { type: 'text', text: '🌊🌊 \ufffd' },
      { type: 'thinking', text: '\ufffd🌊\ufffd' },
    ])
    expect(log.events.filter((event) => event.type === 'message.delta').map((event) => event.delta)).toEqual([
      '',
      '🌊',
      '🌊',
      ' ',
      '\ufffd',
      '🌊',
      '\ufffd',
      '\ufffd',
    ])
  })

  test('is the one of the model’s last word where that differs from what it streamed', async () => {
    const model = scriptedModel(['x'])
    const stream = async function* () {
      yield { type: 'text' as const, index: 0, delta: 'A lime.' }
      const content = [
        { type: 'text' as const, text: 'A line.' },
        { type: 'text' as const, text: '' },
      ]
      yield {
        type: 'done' as const,
        reason: 'stop' as const,
        message: { role: 'assistant' as const, content },
      }
    }
    const { messages } = await play({ model: { ...model, stream } })
    expect(messages[0]?.content).toEqual([{ type: 'text', text: 'A line.' }])
  })
})

test('calls that bear the same id get one each', async () => {
  const call = { toolCall: { id: 'c', name: 'clock', arguments: {} } }
  const { messages } = await play({ model: scriptedModel([[call, call], 'x']), tools: [clock] })
  expect(messages[0]?.content).toEqual([toolCall('c'), toolCall('c_1_1')])
  expect(messages.slice(1, 3)).toMatchObject([{ toolCallId: 'c' }, { toolCallId: 'c_1_1' }])
})
