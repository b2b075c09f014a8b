import { expect, test } from 'vitest'
import { memoryStorage } from '../../src/storage/memory.ts'
import { type Learner, taught, teach } from '../../src/telemetry/calibration.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { userMessage } from '../support/messages.ts'
import { play } from '../turn/stage.ts'

const usage = { input: 10, output: 3, cacheRead: 5, cacheWrite: 1, total: 19 }
const model = { provider: 'scripted', model: 'script' }

test('an estimator learns from each request that was counted, and what it learnt is kept by model', async () => {
  const storage = memoryStorage()
  const reports: Parameters<Learner['calibrate']>[0][] = []
  const learner: Learner = { calibrate: (report) => ({ reports: reports.push(report) }) }
  expect(await taught(storage, model)).toBeUndefined()
  const history = [userMessage('u1', 'Hello')]
  const watch = [teach(learner, { storage })]
  await play({ model: scriptedModel([['x', { usage }]]), history, system: 'Be brief.', watch })
  await play({ model: scriptedModel(['not counted']), history, watch })
  await play({ model: scriptedModel([['x', { usage }]]), history, watch })
  expect(reports).toHaveLength(2)
  expect(reports[0]).toMatchObject({ system: 'Be brief.', messages: history, actual: 16 })
  expect(await taught(storage, model)).toEqual({ reports: 2 })
  expect(await taught(storage, { ...model, model: 'other' })).toBeUndefined()
})

test('a storage that fails, or an estimator that does, fails no call', async () => {
  const commit = () => Promise.reject(new Error('the disk is full'))
  const fails: Learner = {
    calibrate() {
      throw new Error('boom')
    },
  }
  const watch = [teach({ calibrate: () => 1 }, { storage: { commit } }), teach(fails)]
  expect((await play({ model: scriptedModel([['x', { usage }]]), watch })).outcome).toBe('completed')
})
