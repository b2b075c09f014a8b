import { describe, expect, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { validateConversation } from '../../src/message/validate.ts'
import type { ScriptStep } from '../../src/testing/scripted-model.ts'
import { tool } from '../../src/turn/tool.ts'
import { noStrayRejections } from '../chat/world.ts'
import { calling, SCENES, type Scene, type SceneOptions } from './scenes.ts'

noStrayRejections()

const tools: SceneOptions['tools'] = (spy) => [
  tool({ name: 'look', parameters: { type: 'object' }, execute: spy('look') }),
]
const silent: ScriptStep = [{ stall: true }]

const last = ({ session }: Scene) => {
  const message = session.get().messages.at(-1)
  return message && `${message.role} ${message.status} ${textOf(message)}`
}
const ends = (scene: Scene, words: string) => scene.until(() => last(scene) === words)

/** A run whose process goes between two model calls: the result is there, of the next answer not a word. */
async function cutOff(open: (options: SceneOptions) => Scene, more: (times: number) => ScriptStep) {
  let times = 0
  const steps = (_: string, answered: number) => (answered === 0 ? calling(['look']) : more(times++))
  const scene = open({ steps, tools })
  await scene.session.send('Please.')
  await scene.until(() => last(scene) === 'assistant pending ' && times === 1)
  await scene.pass(500)
  await scene.crash()
  return { scene, times: () => times }
}

describe.each(SCENES)('over %s', (_name, open) => {
  const cut = (more: (times: number) => ScriptStep) => cutOff(open, more)

  test('a run that was cut off between two model calls goes on', async () => {
    const { scene } = await cut((times) => (times === 0 ? silent : 'Done.'))
    await ends(scene, 'assistant completed Done.')
    expect(scene.executed).toEqual(['look {}'])
    const { messages, status } = scene.session.get()
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(validateConversation(messages)).toEqual({ valid: true, errors: [] })
    expect(messages.at(-1)).not.toHaveProperty('attempts')
    await scene.until(() => scene.session.get().status === 'ready')
    expect(status).not.toBe('loading')
  })

  test('a question that nobody had said a word to is asked once more', async () => {
    let times = 0
    const scene = open({ steps: () => (times++ === 0 ? silent : 'Hello.'), tools })
    await scene.session.send('Please.')
    await scene.until(() => last(scene) === 'assistant pending ' && times === 1)
    await scene.pass(500)
    await scene.crash()
    await ends(scene, 'assistant completed Hello.')
    expect(scene.session.get().messages).toHaveLength(2)
  })

  test('it is not asked for ever where its process goes each time', async () => {
    const { scene, times } = await cut(() => silent)
    for (let n = 2; n <= 4; n++) {
      await scene.until(() => times() === n)
      await scene.pass(500)
      await scene.crash()
    }
    await ends(scene, 'assistant interrupted ')
    expect(times()).toBe(4)
    expect(scene.executed).toEqual(['look {}'])
  })

  test('what goes on from an answer that was cut off still does so', async () => {
    let times = 0
    const said: ScriptStep[] = [['The tide ', { stall: true }], silent, 'is high.']
    const scene = open({ steps: () => said[times++] ?? 'No.', tools })
    await scene.session.send('Please.')
    await ends(scene, 'assistant streaming The tide ')
    await scene.session.stop()
    await ends(scene, 'assistant interrupted The tide ')
    await scene.session.continue(scene.session.get().messages.at(-1)?.id ?? '')
    await scene.until(() => last(scene) === 'assistant pending ' && times === 2)
    await scene.pass(500)
    await scene.crash()
    await ends(scene, 'assistant completed The tide is high.')
  })

  test('it ends where it was stopped meanwhile', async () => {
    const { scene } = await cut(() => silent)
    await scene.session.stop()
    await ends(scene, 'assistant interrupted ')
    await scene.until(() => scene.session.get().status === 'ready')
  })
})

describe('where this client asks the model itself', () => {
  test('it waits until somebody can be reached, and that is no attempt', async () => {
    const { scene, times } = await cutOff(SCENES[0][1], (n) =>
      n > 0 && n < 6 ? [{ error: 'network' }] : n === 0 ? silent : 'Done.',
    )
    await scene.until(() => times() > 3)
    expect(last(scene)).toBe('assistant pending ')
    await ends(scene, 'assistant completed Done.')
  })

  test('it ends where nobody can be reached for long', async () => {
    const { scene } = await cutOff(SCENES[0][1], (n) => (n === 0 ? silent : [{ error: 'network' }]))
    await ends(scene, 'assistant interrupted ')
    await scene.until(() => scene.session.get().status === 'ready')
    await scene.reload()
    await ends(scene, 'assistant interrupted ')
  })
})
