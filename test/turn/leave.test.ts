import { expect, test } from 'vitest'
import { createHold, scriptedModel } from '../../src/testing/scripted-model.ts'
import { runTurn } from '../../src/turn/run-turn.ts'
import { fold } from './fold.ts'
import { options, play, recorder } from './stage.ts'

test.each([
  ['when it is done', 'done'],
  ['when it is left in mid-stream', 'text'],
])('a model may close its doors %s', async (_, last) => {
  let closed = false
  const controller = new AbortController()
  const stream = async function* () {
    const message = { role: 'assistant' as const, content: [] }
    try {
      yield { type: 'text' as const, index: 0, delta: 'A li' }
      if (last === 'text') controller.abort()
      else yield { type: 'done' as const, reason: 'stop' as const, message }
      yield { type: 'text' as const, index: 0, delta: 'never heard' }
    } finally {
      closed = true
    }
  }
  await play({ model: { provider: 'p', id: 'm', stream }, signal: controller.signal })
  await expect.poll(() => closed).toBe(true)
})

test('what a model does after it was left behind is not heard', async () => {
  const late = createHold()
  const controller = new AbortController()
  const log = recorder()
  const model = scriptedModel([['A li', late, 'ne.', { throw: new Error('boom') }]], { deaf: true })
  const run = runTurn(options({ model, log, signal: controller.signal }))
  await log.seen('message.delta')
  controller.abort()
  await run
  const before = log.events.length
  late.release()
  await new Promise((resolve) => setImmediate(resolve))
  expect(log.events).toHaveLength(before)
  expect(fold(log.events).problems).toEqual([])
})
