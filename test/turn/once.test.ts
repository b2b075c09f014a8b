import { describe, expect, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { failure, type ToolResult } from '../../src/turn/result.ts'
import { storedExecutions } from '../../src/turn/stored-executions.ts'
import { tool } from '../../src/turn/tool.ts'
import { watchedStorage } from '../chat/storages.ts'
import { createWorld, noStrayRejections } from '../chat/world.ts'
import { calling, resultsIn, SCENES, type SceneOptions, stages } from './scenes.ts'

noStrayRejections()

const parameters = { type: 'object' }
const forever = () => new Promise<never>(() => {})
const CUT_OFF = { ok: false, error: 'cut off before it answered; it may have been carried out' }

describe.each(SCENES)('a crash, over %s', (_, open) => {
  /** A tool that hangs, once or always, until its process is gone. */
  const hanging = (times: number, idempotent: boolean): SceneOptions['tools'] => {
    let begun = 0
    return (spy) => [
      tool({
        name: 'work',
        parameters,
        idempotent,
        timeout: 3_600_000,
        execute: spy('work', () => (++begun <= times ? forever() : 'done')),
      }),
      tool({ name: 'look', parameters, execute: spy('look') }),
    ]
  }

  test.each([
    ['that may be executed again is', true, 2, { ok: true, data: 'done' }],
    ['is not executed again, and the model is told so', false, 1, CUT_OFF],
  ])('during a tool: what %s', async (__, idempotent, times, result) => {
    const scene = open({ steps: [calling(['work'], ['look']), 'Done.'], tools: hanging(1, idempotent) })
    await scene.session.send('Please.')
    await scene.until(() => JSON.stringify(stages(scene.session)) === '["started","started"]')
    await scene.pass(100)
    await scene.crash()
    await scene.until(() => textOf(scene.session.get().messages.at(-1) ?? { content: [] }) === 'Done.')
    expect(resultsIn(scene.session)[0]).toEqual(result)
    expect(scene.executed.filter((one) => one.startsWith('work'))).toHaveLength(times)
    await scene.crash()
    await scene.pass(10_000)
    expect(scene.executed.filter((one) => one.startsWith('work'))).toHaveLength(times)
  })

  test('each time a tool is executed ends after three of them', async () => {
    const scene = open({ steps: [calling(['work']), 'Done.'], tools: hanging(9, true) })
    await scene.session.send('Please.')
    for (let times = 1; times <= 3; times++) {
      await scene.until(() => scene.executed.length === times)
      await scene.pass(100)
      await scene.crash()
    }
    await scene.until(() => textOf(scene.session.get().messages.at(-1) ?? { content: [] }) === 'Done.')
    expect(resultsIn(scene.session)).toEqual([CUT_OFF])
    expect(scene.executed).toHaveLength(3)
  })
})

describe('what was executed', () => {
  const done: ToolResult = { text: '{"ok":true,"data":1}', isError: false }
  const cutOff = failure(CUT_OFF.error)
  function tabs() {
    const { env } = createWorld()
    const storage = watchedStorage()
    const tab = (over = storage.reopen()) => ({ over, ...storedExecutions(over, 's') })
    return { env, storage, tab }
  }

  test('is executed by the first of several tabs', async () => {
    const { tab } = tabs()
    const [one, two] = [tab(), tab()]
    const begun = await Promise.all([one.begin('k', false), two.begin('k', false)])
    expect(new Set(begun)).toEqual(new Set([undefined, cutOff]))
  })

  test('is known by its result', async () => {
    const { tab } = tabs()
    const [one, two] = [tab(), tab()]
    expect(await one.begin('k', false)).toBeUndefined()
    await one.end('k', done)
    expect(await two.begin('k', false)).toEqual(done)
    expect(await two.begin('k', true)).toEqual(done)
  })

  test('and cut off is executed again by one tab, where it may be', async () => {
    const { tab } = tabs()
    await tab().begin('k', true)
    const [two, three] = [tab(), tab()]
    const begun = await Promise.all([two.begin('k', true), three.begin('k', true)])
    expect(begun.filter((result) => result === undefined)).toHaveLength(1)
    await two.end('k', done)
    expect(await tab().begin('k', true)).toEqual(done)
  })

  test('is executed also while nothing can be stored', async () => {
    const { tab } = tabs()
    const one = tab()
    one.over.fail(() => true)
    expect(await one.begin('k', false)).toBeUndefined()
    await one.end('k', done)
  })

  test('goes with its session', async () => {
    const { tab, storage } = tabs()
    await tab().begin('k', false)
    await storage.commit([{ type: 'deleteSession', id: 's' }])
    expect(await storage.records('toolRun')).toEqual([])
  })
})
