import { expect, test } from 'vitest'
import { createEstimator } from '../../src/context/estimate.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { taught, teach } from '../../src/telemetry/calibration.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { userMessage } from '../support/messages.ts'
import { play } from '../turn/stage.ts'

const usage = { input: 10, output: 3, cacheRead: 5, cacheWrite: 1, total: 19 }
const model = { provider: 'scripted', model: 'script' }

test('an estimator learns from each request that was counted, and what it learnt is kept by model', async () => {
  const storage = memoryStorage()
  const estimator = createEstimator()
  expect(await taught(storage, model)).toBeUndefined()
  const history = [userMessage('u1', 'Hello')]
  const watch = [teach(estimator, { storage })]
  const before = estimator.messages(history, { system: 'Be brief.' })
  await play({ model: scriptedModel([['x', { usage }]]), history, system: 'Be brief.', watch })
  expect(estimator.messages(history, { system: 'Be brief.' })).toBe(16)
  expect(before).not.toBe(16)
  await play({ model: scriptedModel(['not counted']), history, watch })
  await play({ model: scriptedModel([['x', { usage }]]), history, watch })
  const calibration = await taught(storage, model)
  expect(calibration?.reports).toBe(2)
  expect(await taught(storage, { ...model, model: 'other' })).toBeUndefined()
  const next = createEstimator(calibration && { calibration })
  expect(next.message(userMessage('u2', 'Hi'))).toBe(estimator.message(userMessage('u2', 'Hi')))
})

test('nothing is kept of the session that was counted', async () => {
  const storage = memoryStorage()
  const history = [userMessage('u1', 'Hello')]
  const watch = [teach(createEstimator(), { storage })]
  await play({ model: scriptedModel([['x', { usage }]]), history, watch })
  expect(JSON.stringify(await storage.records('calibration'))).not.toContain(history[0]?.sessionId)
})

test.each([null, 7, {}, { values: [1], doubt: [1], reports: 1 }, { values: 'x', doubt: [], reports: 0 }])(
  'what is kept and is no calibration is none: %j',
  async (value) => {
    const storage = memoryStorage()
    const record = { kind: 'calibration', key: 'scripted/script', sessionId: null, value }
    await storage.commit([{ type: 'record', record }])
    expect(await taught(storage, model)).toBeUndefined()
  },
)

test('a storage that fails, or an estimator that does, fails no call', async () => {
  const commit = () => Promise.reject(new Error('the disk is full'))
  const fails = {
    calibrate() {
      throw new Error('boom')
    },
  }
  const watch = [teach(createEstimator(), { storage: { commit } }), teach(fails)]
  expect((await play({ model: scriptedModel([['x', { usage }]]), watch })).outcome).toBe('completed')
})
