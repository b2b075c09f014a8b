import { describe, expect, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { createHold } from '../../src/testing/scripted-model.ts'
import { tool } from '../../src/turn/tool.ts'
import { noStrayRejections } from '../chat/world.ts'
import { calling, resultsIn, SCENES, type Scene, type SceneOptions, stages } from './scenes.ts'

noStrayRejections()

const parameters = { type: 'object' }

const outline = ({ session }: Scene) =>
  session
    .get()
    .messages.map((message) => (message.role === 'tool' ? 'result' : textOf(message) || 'call'))
    .join(' | ')

const shows = (scene: Scene, expected: string) =>
  scene.until(() => outline(scene) === expected && scene.session.get().status === 'ready')

type Open = (typeof SCENES)[number][1]

/** A run in the middle of a call, which ends when it is released. `first` asks for the call. */
async function middle(open: Open, { needsApproval = false, slow = Promise.resolve() } = {}) {
  const { hold, release } = createHold()
  const questions: string[] = []
  const steps: SceneOptions['steps'] = (question, answered) => {
    questions.push(question)
    return question === 'first' && answered === 0
      ? calling(['look'])
      : question === 'first'
        ? 'Done.'
        : ['re: ', { hold: slow }, question]
  }
  const tools: SceneOptions['tools'] = (spy) => [
    tool({ name: 'look', parameters, needsApproval, execute: spy('look', () => hold) }),
  ]
  const scene = open({ steps, tools })
  const first = await scene.session.send('first')
  await scene.until(() => scene.executed.length > 0 || stages(scene.session)[0] === 'approval')
  return { scene, session: scene.session, first, release, questions }
}

describe.each(SCENES)('a message that is sent during a run, over %s,', (_, open) => {
  const inTheMiddle = (options?: Parameters<typeof middle>[1]) => middle(open, options)

  test('is stopped with it, and what else waits is, too: the model hears of none of them', async () => {
    const { scene, session, questions } = await inTheMiddle({ needsApproval: true })
    await session.send('second')
    await session.send('third')
    await scene.pass(500)
    await session.stop()
    await scene.pass(5_000)
    expect(session.get().status).toBe('ready')
    expect(questions).toEqual(['first'])
  })

  test('waits for its end', async () => {
    const { scene, session, release } = await inTheMiddle()
    await session.send('second')
    await scene.pass(500)
    release()
    await shows(scene, 'first | call | result | Done. | second | re: second')
  })

  test('steers it: the model reads it the next time that it is called', async () => {
    const { scene, session, release, questions, first } = await inTheMiddle()
    const { answer } = await session.send('second', { whenBusy: 'steer' })
    await scene.pass(500)
    expect(questions).toEqual(['first'])
    release()
    await shows(scene, 'first | call | result | second | re: second')
    expect(questions).toEqual(['first', 'second'])
    expect(scene.executed).toHaveLength(1)
    expect(await answer).toMatchObject({ status: 'completed' })
    expect(await first.answer).toMatchObject({ status: 'completed', stopReason: 'toolUse' })
  })

  test('steers nothing where the model is not called again', async () => {
    const { hold, release } = createHold()
    const scene = open({
      steps: (question) => (question === 'first' ? ['Do', { hold }, 'ne.'] : `re: ${question}`),
      tools: () => [],
    })
    await scene.session.send('first')
    await scene.until(() => outline(scene).includes('Do'))
    await scene.session.send('second', { whenBusy: 'steer' })
    await scene.pass(500)
    release()
    await shows(scene, 'first | Done. | second | re: second')
  })

  test('steers it also where it waits for somebody’s word', async () => {
    const { scene, session, release } = await inTheMiddle({ needsApproval: true })
    release()
    await session.send('second', { whenBusy: 'steer' })
    await scene.pass(500)
    expect(stages(session)).toEqual(['approval'])
    await session.approve('call_1')
    await shows(scene, 'first | call | result | second | re: second')
    expect(scene.executed).toHaveLength(1)
  })

  test('steers it, and what was said before goes first', async () => {
    const { scene, session, release } = await inTheMiddle()
    await session.send('second')
    await session.send('third', { whenBusy: 'steer' })
    await scene.pass(500)
    release()
    await shows(scene, 'first | call | result | second | re: second | third | re: third')
  })

  test('interrupts it, and not what was said before and waits', async () => {
    const { hold: slow, release } = createHold()
    const { scene, session } = await inTheMiddle({ slow })
    const second = await session.send('second')
    await session.send('third', { whenBusy: 'interrupt' })
    await scene.until(() => outline(scene).includes('re: '))
    await scene.pass(500)
    release()
    await shows(scene, 'first | call | result | second | re: second | third | re: third')
    expect(await second.answer).toMatchObject({ status: 'completed' })
    expect(resultsIn(session)).toMatchObject([{ ok: false }])
  })

  test('interrupts it where it waits for somebody’s word', async () => {
    const { scene, session } = await inTheMiddle({ needsApproval: true })
    await session.send('second', { whenBusy: 'interrupt' })
    await shows(scene, 'first | call | result | second | re: second')
    expect(scene.executed).toEqual([])
  })

  test('is one like any other where nothing runs', async () => {
    const scene = open({ steps: (question) => `re: ${question}`, tools: () => [] })
    for (const whenBusy of ['steer', 'interrupt', 'refuse'] as const) {
      await scene.session.send(whenBusy, { whenBusy })
      await scene.until(
        () => scene.session.get().status === 'ready' && outline(scene).endsWith(`re: ${whenBusy}`),
      )
    }
    expect(scene.session.get().messages.map(({ status }) => status)).toEqual(Array(6).fill('completed'))
  })

  test('is there after a reload, and is answered', async () => {
    const { scene, session, release } = await inTheMiddle({ needsApproval: true })
    release()
    await session.send('second', { whenBusy: 'steer' })
    await session.send('third')
    await scene.pass(100)
    await scene.reload()
    await scene.until(() => stages(scene.session)[0] === 'approval')
    await scene.session.approve('call_1')
    await shows(scene, 'first | call | result | second | re: second | third | re: third')
    expect(scene.executed).toHaveLength(1)
  })
})

test.each(SCENES.slice(0, 1))('a message that is discarded, over %s, steers nothing', async (_, open) => {
  const { scene, session, release } = await middle(open)
  const { id, answer } = await session.send('second', { whenBusy: 'steer' })
  answer.catch(() => undefined)
  await session.discard(id)
  release()
  await shows(scene, 'first | call | result | Done.')
})
