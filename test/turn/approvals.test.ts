import { describe, expect, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { validateConversation } from '../../src/message/validate.ts'
import { tool } from '../../src/turn/tool.ts'
import { ending } from '../chat/direct-chat.ts'
import { noStrayRejections } from '../chat/world.ts'
import {
  type Call,
  calling,
  callsIn,
  resultsIn,
  SCENES,
  type Scene,
  type SceneOptions,
  stages,
} from './scenes.ts'

noStrayRejections()

const parameters = { type: 'object' }

/** A tool that asks, one that does not, and one that asks only for much. */
const tools: SceneOptions['tools'] = (spy) => [
  tool({ name: 'send', parameters, execute: spy('send'), needsApproval: true }),
  tool({ name: 'look', parameters, execute: spy('look') }),
  tool({
    name: 'pay',
    parameters,
    execute: spy('pay'),
    needsApproval: async (args) => Number(Object(args).amount) > 10,
  }),
  tool({ name: 'ask', parameters }),
  tool({ name: 'slow', parameters, timeout: 3_000, execute: spy('slow', () => new Promise(() => {})) }),
  tool({ name: 'hurry', parameters, execute: spy('hurry'), needsApproval: true, approvalTimeout: 1_000 }),
]

const last = ({ session }: Scene) => {
  const message = session.get().messages.at(-1)
  return message && `${message.status} ${textOf(message)}`
}
const waits = (scene: Scene, ...expected: string[]) =>
  scene.until(() => JSON.stringify(stages(scene.session)) === JSON.stringify(expected))
const ends = (scene: Scene) => scene.until(() => last(scene) === 'completed Done.')

describe.each(SCENES)('over %s', (_, open) => {
  /** A question whose answer calls these, and what comes of that. */
  async function asked(...calls: Call[]) {
    const scene = open({ steps: [calling(...calls), 'Done.'], tools })
    const sent = await scene.session.send('Please.')
    return { scene, sent }
  }

  test('a call that needs to be allowed waits, and is executed when it is', async () => {
    const { scene, sent } = await asked(['send', { to: 'Ada' }])
    await waits(scene, 'approval')
    expect(scene.session.get().status).toBe('running')
    expect(scene.executed).toEqual([])
    await scene.session.approve('call_1')
    await ends(scene)
    expect(scene.executed).toEqual(['send {"to":"Ada"}'])
    expect(resultsIn(scene.session)).toEqual([{ ok: true, data: { to: 'Ada' } }])
    await expect(sent.answer).resolves.toMatchObject({ content: [{ text: 'Done.' }] })
    expect(validateConversation(scene.session.get().messages)).toEqual({ valid: true, errors: [] })
    expect(callsIn(scene.session)[0]).not.toHaveProperty('stage')
  })

  test('with other arguments it is executed with those, and the model is told', async () => {
    const { scene } = await asked(['send', { to: 'Ada' }])
    await waits(scene, 'approval')
    await scene.session.approve('call_1', { arguments: { to: 'Bob' } })
    await ends(scene)
    expect(scene.executed).toEqual(['send {"to":"Bob"}'])
    expect(resultsIn(scene.session)).toEqual([{ ok: true, data: { to: 'Bob' }, arguments: { to: 'Bob' } }])
    expect(callsIn(scene.session)[0]).toMatchObject({ arguments: { to: 'Bob' } })
  })

  test('with arguments that do not fit it is not executed', async () => {
    const { scene } = await asked(['send', { to: 'Ada' }])
    await waits(scene, 'approval')
    await scene.session.approve('call_1', { arguments: 'Bob' })
    await ends(scene)
    expect(scene.executed).toEqual([])
    const error = 'the arguments do not fit: expected object'
    expect(resultsIn(scene.session)).toEqual([{ ok: false, error, arguments: 'Bob' }]) // the model's own did
  })

  test('what is said that does not fit the call is refused, and the call goes on waiting', async () => {
    const { scene } = await asked(['send', { to: 'Ada' }], ['ask'])
    const { session } = scene
    await waits(scene, 'approval', 'client')
    for (const wrong of [
      // As JSON it would be nothing, and the call be executed with what the model asked for.
      session.approve('call_1', { arguments: () => 'Bob' }),
      session.approve('call_1', { arguments: 1n }),
      session.toolResult('call_2', { data: Symbol('blue') }),
    ])
      expect(await ending(wrong)).toBe('invalid-request')
    for (const [wrong, words] of [
      [session.toolResult('call_1', { data: 1 }), 'call_1 waits for a result'],
      [session.approve('call_2'), 'call_2 waits to be allowed'],
      [session.approve('call_3'), 'call_3 waits in this session'],
    ] as const)
      await expect(wrong).rejects.toMatchObject({
        code: 'not-found',
        message: expect.stringContaining(`no call ${words}`),
      })
    expect(stages(session)).toEqual(['approval', 'client'])
    await session.reject('call_1')
    await session.reject('call_2')
    await ends(scene)
    expect(scene.executed).toEqual([])
  })

  test('what is allowed and stopped in the same moment is not executed', async () => {
    const { scene } = await asked(['send', { to: 'Ada' }])
    await waits(scene, 'approval')
    await Promise.all([scene.session.approve('call_1'), scene.session.stop()])
    await scene.until(() => scene.session.get().status === 'ready')
    await scene.pass(5_000)
    expect(scene.executed).toEqual([])
    expect(resultsIn(scene.session)).toMatchObject([{ ok: false }])
  })

  test('one that is not allowed is not executed, and the model is told why', async () => {
    const { scene } = await asked(['send', { to: 'Ada' }])
    await waits(scene, 'approval')
    await scene.session.reject('call_1', 'not to her')
    await ends(scene)
    expect(scene.executed).toEqual([])
    expect(resultsIn(scene.session)).toEqual([
      { ok: false, error: 'the user did not allow this call: not to her' },
    ])
  })

  test('others of the same answer are executed meanwhile, and the model hears of all in their order', async () => {
    const { scene } = await asked(
      ['send', { n: 1 }],
      ['look', { n: 2 }],
      ['pay', { amount: 5 }],
      ['pay', { amount: 50 }],
    )
    await waits(scene, 'approval', 'completed', 'completed', 'approval')
    expect(scene.executed).toEqual(['look {"n":2}', 'pay {"amount":5}'])
    await scene.session.approve('call_4')
    await waits(scene, 'approval', 'completed', 'completed', 'completed')
    await scene.session.reject('call_1')
    await ends(scene)
    expect(scene.executed).toHaveLength(3)
    expect(resultsIn(scene.session).map((result) => Object(result).ok)).toEqual([false, true, true, true])
  })

  test('nobody allows it in time: it is not executed, and the model is told', async () => {
    const { scene } = await asked(['hurry'])
    await waits(scene, 'approval')
    await scene.pass(5_000)
    await ends(scene)
    expect(scene.executed).toEqual([])
    expect(resultsIn(scene.session)).toMatchObject([
      { error: 'nobody allowed the call in time; the tool was not executed' },
    ])
  })

  test('what was allowed in time is executed, though another call of the same answer takes longer than that', async () => {
    const { scene } = await asked(['hurry', { n: 1 }], ['slow'])
    await waits(scene, 'approval', 'started')
    await scene.session.approve('call_1', { arguments: { n: 2 } })
    await ends(scene)
    expect(scene.executed).toEqual(['slow {}', 'hurry {"n":2}'])
    expect(resultsIn(scene.session)).toMatchObject([{ ok: true, data: { n: 2 } }, { ok: false }])
  })

  test.each([
    ['a result', { data: 'blue' }, { ok: true, data: 'blue' }],
    ['what went wrong with it', { error: 'nobody is there' }, { ok: false, error: 'nobody is there' }],
  ])('%s from elsewhere is waited for, and goes to the model', async (_result, given, told) => {
    const { scene } = await asked(['ask', { question: 'Red?' }])
    await waits(scene, 'client')
    await scene.session.toolResult('call_1', given)
    await ends(scene)
    expect(resultsIn(scene.session)).toEqual([told])
  })

  test('after a reload it waits as before', async () => {
    const { scene } = await asked(['send', { to: 'Ada' }], ['look'])
    await waits(scene, 'approval', 'completed')
    await scene.reload()
    await waits(scene, 'approval', 'completed')
    await scene.session.approve('call_1')
    await ends(scene)
    expect(scene.executed.toSorted()).toEqual(['look {}', 'send {"to":"Ada"}'])
  })

  test('so it does after a crash of what executes it, and is allowed once', async () => {
    const { scene } = await asked(['send', { to: 'Ada' }])
    await waits(scene, 'approval')
    await scene.crash()
    await scene.session.approve('call_1')
    await scene.session.approve('call_1').catch(() => undefined)
    await ends(scene)
    await scene.crash()
    await scene.pass(5_000)
    expect(scene.executed).toEqual(['send {"to":"Ada"}'])
  })

  test('of two pages that decide, the first counts, and both see it', async () => {
    const { scene } = await asked(['send'])
    const other = scene.other()
    await waits(scene, 'approval')
    await scene.until(() => stages(other)[0] === 'approval')
    await Promise.all([scene.session.reject('call_1', 'no'), other.approve('call_1')])
    await ends(scene)
    await scene.until(() => JSON.stringify(resultsIn(other)) === JSON.stringify(resultsIn(scene.session)))
    const executed = resultsIn(other).map((result) => Object(result).ok)
    expect(scene.executed).toHaveLength(executed[0] ? 1 : 0)
  })

  test('what is said meanwhile waits until the run is over', async () => {
    const { scene } = await asked(['send'])
    await waits(scene, 'approval')
    await scene.session.send('And then?')
    await scene.pass(1_000)
    expect(stages(scene.session)).toEqual(['approval'])
    await scene.session.approve('call_1')
    await waits(scene, 'completed', 'approval')
    const said = scene.session.get().messages.map((message) => textOf(message))
    expect(said.filter((text) => text !== '' && !text.startsWith('{'))).toEqual([
      'Please.',
      'Done.',
      'And then?',
    ])
    await scene.session.reject('call_2')
    await ends(scene)
  })

  test.each([
    ['here', false],
    ['after a reload', true],
  ])('a run that waits can be stopped %s: its calls are answered, none is executed', async (__, again) => {
    const { scene } = await asked(['send'], ['ask'])
    await waits(scene, 'approval', 'client')
    if (again) await scene.reload()
    await waits(scene, 'approval', 'client')
    await scene.session.stop()
    await waits(scene, 'error', 'error')
    await scene.until(() => scene.session.get().status === 'ready')
    expect(scene.executed).toEqual([])
    expect(validateConversation(scene.session.get().messages).valid).toBe(true)
    await expect(ending(scene.session.approve('call_1'))).resolves.toBe('not-found')
  })
})
