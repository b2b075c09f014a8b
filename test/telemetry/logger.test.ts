import { expect, test } from 'vitest'
import { type CallLine, logger } from '../../src/telemetry/logger.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { userMessage } from '../support/messages.ts'
import { play } from '../turn/stage.ts'

const usage = { input: 10, output: 3, cacheRead: 5, cacheWrite: 1, total: 19 }
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

test('a model call is one line, flat and without content', async () => {
  const lines: CallLine[] = []
  const model = scriptedModel([['my secret', { usage }]])
  const watch = [logger((line) => lines.push(line))]
  await play({ model, watch, traceparent, history: [userMessage('u1', 'my secret')] })
  expect(lines).toEqual([
    {
      session: 's1',
      run: 'run1',
      message: 'a1',
      role: 'assistant',
      status: 'completed',
      stopReason: 'stop',
      provider: 'scripted',
      model: 'script',
      attempt: 0,
      estimate: expect.any(Number),
      actual: 16,
      output: 3,
      firstByte: expect.any(Number),
      latency: expect.any(Number),
      trace: '0af7651916cd43dd8448eb211c80319c',
    },
  ])
})

test('what failed says so by its code, and each attempt has a line', async () => {
  const lines: CallLine[] = []
  const model = scriptedModel([[{ error: 'rate-limit' }], 'x'])
  await play({ model, watch: [logger((line) => lines.push(line))] })
  expect(lines).toMatchObject([
    { status: 'failed', attempt: 0, error: 'rate-limit' },
    { status: 'completed', attempt: 1 },
  ])
  expect(lines[0]).not.toHaveProperty('actual')
})

test('a log that throws fails nothing', async () => {
  const fails = () => {
    throw new Error('the disk is full')
  }
  expect((await play({ model: scriptedModel(['x']), watch: [logger(fails)] })).outcome).toBe('completed')
})

test('a log that fails later fails nothing either: no promise of it is left alone', async () => {
  const alone: unknown[] = []
  const hear = (reason: unknown) => alone.push(reason)
  process.on('unhandledRejection', hear)
  let told = 0
  const fails = async () => {
    told++
    throw new Error('the collector is away')
  }
  expect((await play({ model: scriptedModel(['x']), watch: [logger(fails)] })).outcome).toBe('completed')
  expect(told).toBe(1)
  // Node tells of what was left alone when all microtasks are done.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', hear)
  expect(alone).toEqual([])
})
