import { describe, expect, test } from 'vitest'
import { TidemarkError } from '../../src/lib/errors.ts'
import type { Usage } from '../../src/message/schema.ts'
import { createHold, scriptedModel } from '../../src/testing/scripted-model.ts'
import { assistantMessage, userMessage } from '../support/messages.ts'
import { appendsOf, play, recorder, tool } from './stage.ts'

const usage = (input: number, output: number): Usage => ({
  input,
  output,
  cacheRead: 0,
  cacheWrite: 0,
  total: input + output,
})
const clock = tool('clock', () => 'noon')

describe('the model', () => {
  test('gets instructions, tools and the history, and is told what to do', async () => {
    const model = scriptedModel(['x'])
    const history = [userMessage('u0'), assistantMessage('a0'), userMessage('u1')]
    await play({
      model,
      history,
      system: 'Be brief.',
      tools: [tool('clock', () => 'noon', { description: 'The time' })],
      call: { temperature: 0 },
    })
    expect(model.calls).toEqual([
      {
        context: expect.objectContaining({
          system: 'Be brief.',
          messages: history,
          tools: [{ name: 'clock', description: 'The time', parameters: {} }],
        }),
        options: { temperature: 0 },
      },
    ])
  })

  test('gets the question also where its owner has not yet marked it as accepted', async () => {
    const model = scriptedModel(['x'])
    await play({ model, history: [userMessage('u1', 'Hello', { status: 'pending' })] })
    expect(model.calls[0]?.context.messages).toEqual([userMessage('u1', 'Hello')])
  })

  test('gets what a context function makes of it, before each call', async () => {
    const model = scriptedModel([[{ toolCall: { name: 'clock', arguments: {} } }], 'noon'])
    const seen: number[] = []
    await play({
      model,
      tools: [clock],
      context: async ({ messages }) => {
        seen.push(messages.length)
        return { messages: messages.slice(-1) }
      },
    })
    expect(seen).toEqual([1, 3])
    expect(model.calls.map(({ context }) => context.messages.map((message) => message.role))).toEqual([
      ['user'],
      ['tool'],
    ])
  })

  test.each([
    ['overflows', new TidemarkError('context-overflow', 'too long'), 'context-overflow'],
    ['cannot be made', new Error('boom'), 'invalid-request'],
  ])('is not called where the context %s', async (_, thrown, code) => {
    const model = scriptedModel(['x'])
    const context = () => {
      throw thrown
    }
    const { messages, outcome, log } = await play({ model, context })
    expect(outcome).toBe('failed')
    expect(messages[0]).toMatchObject({ status: 'failed', error: { code } })
    expect(model.calls).toEqual([])
    expect(appendsOf(log)).toEqual(['run.started created', 'failed run.finished'])
  })

  test('is called only after its message is written', async () => {
    const disk = createHold()
    const model = scriptedModel(['x'])
    const log = recorder(() => disk.hold)
    const run = play({ model, log })
    await log.seen('message.created')
    expect(model.calls).toEqual([])
    disk.release()
    await run
    expect(model.calls).toHaveLength(1)
  })
})

describe('what a run cost', () => {
  const calling = { toolCall: { name: 'clock', arguments: {} } }

  test('is the sum of its calls', async () => {
    const model = scriptedModel([
      [calling, { usage: usage(10, 1) }],
      ['noon', { usage: usage(20, 2) }],
    ])
    const { log } = await play({ model, tools: [clock] })
    expect(log.events.at(-1)).toMatchObject({ usage: usage(30, 3) })
  })

  test('is not told where one of them did not say', async () => {
    const model = scriptedModel([[calling, { usage: usage(10, 1) }], 'noon'])
    const { log } = await play({ model, tools: [clock] })
    expect(log.events.at(-1)).not.toHaveProperty('usage')
  })

  test('counts an attempt that failed after it had begun', async () => {
    const model = scriptedModel([
      [{ usage: usage(10, 0) }, { error: 'network' }],
      ['x', { usage: usage(10, 1) }],
    ])
    const { log, messages } = await play({ model })
    expect(messages[0]).toMatchObject({ usage: usage(10, 1) })
    expect(log.events.at(-1)).toMatchObject({ usage: usage(20, 1) })
  })
})
