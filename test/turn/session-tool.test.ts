import { describe, expect, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import { validateConversation } from '../../src/message/validate.ts'
import type { ScriptStep } from '../../src/testing/scripted-model.ts'
import { sessionTool, subSessionOf } from '../../src/turn/session-tool.ts'
import { tool } from '../../src/turn/tool.ts'
import { noStrayRejections } from '../chat/world.ts'
import { assistantMessage } from '../support/messages.ts'
import { calling, callsIn, resultsIn, SCENES, type Scene, type SceneOptions } from './scenes.ts'

noStrayRejections()

const tools: SceneOptions['tools'] = (spy, chat) => [
  sessionTool({ name: 'research', chat }),
  tool({ name: 'look', parameters: { type: 'object' }, execute: spy('look') }),
  tool({ name: 'wait', parameters: {}, execute: spy('wait', () => new Promise(() => {})) }),
]

const isOver = ({ session }: Scene, words = 'Told.') => {
  const { messages, status } = session.get()
  const last = messages.at(-1)
  return status === 'ready' && last?.status === 'completed' && textOf(last) === words
}

/** The session that the first call of the newest answer with calls began. */
function subOf(scene: Scene, depth = 1) {
  const asked = scene.session.get().messages.find(({ role }) => role === 'tool')
  const found = subSessionOf({ id: asked?.parentId ?? '', sessionId: depth === 1 ? 's' : 'sub1_x' }, 0)
  expect(found).toBe(`sub${depth}_${asked?.parentId}_0`)
  return scene.sessionOf(found)
}

describe.each(SCENES)('over %s', (_name, open) => {
  /** A question that is looked into by a run of its own. */
  async function asked(sub: (answered: number) => ScriptStep, question = 'Please.') {
    const scene = open({
      steps: (said, answered) =>
        said === question
          ? answered === 0
            ? calling(['research', { task: 'Find it.' }])
            : 'Told.'
          : sub(answered),
      tools,
    })
    const sent = await scene.session.send(question)
    return { scene, sent }
  }

  test('a run has something done in a session of its own, and sees its answer alone', async () => {
    const { scene } = await asked((answered) => (answered === 0 ? ['Hm.', ...calling(['look'])] : 'Found.'))
    await scene.until(() => isOver(scene))
    expect(resultsIn(scene.session)).toEqual([{ ok: true, data: 'Found.' }])
    expect(scene.session.get().messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ])
    const sub = subOf(scene)
    await scene.until(() => sub.get().messages.length === 4)
    expect(sub.get().messages.map((message) => textOf(message))).toEqual([
      'Find it.',
      'Hm.',
      '{"ok":true,"data":{}}',
      'Found.',
    ])
    expect(sub.get().session?.metadata).toEqual({
      subRun: { sessionId: 's', key: `${callsIn(scene.session)[0]?.parentId}_0` },
    })
    expect(validateConversation(scene.session.get().messages).valid).toBe(true)
    expect(validateConversation(sub.get().messages).valid).toBe(true)
  })

  test('after a crash it finds the run that it began, and nothing in that is done twice', async () => {
    let held = 0
    const { scene } = await asked((answered) =>
      answered === 0 ? calling(['look']) : held++ === 0 ? [{ stall: true }] : 'Found.',
    )
    await scene.until(() => held === 1)
    await scene.pass(500)
    await scene.crash()
    await scene.until(() => isOver(scene))
    expect(resultsIn(scene.session)).toEqual([{ ok: true, data: 'Found.' }])
    expect(scene.executed).toEqual(['look {}'])
    const sub = subOf(scene)
    await scene.until(() => sub.get().messages.length === 4)
    expect(sub.get().messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  })

  test('an answer that the crash cut off is asked for once more', async () => {
    let times = 0
    const { scene } = await asked(() => (times++ === 0 ? ['Fou', { stall: true }] : 'Found.'))
    await scene.until(() => times === 1)
    await scene.pass(500)
    await scene.crash()
    await scene.until(() => isOver(scene))
    expect(resultsIn(scene.session)).toEqual([{ ok: true, data: 'Found.' }])
    expect(times).toBe(2)
  })

  test('an answer that was there before the crash is taken as it is', async () => {
    const { scene } = await asked(() => 'Found.')
    await scene.until(() => isOver(scene))
    const sub = subOf(scene)
    await scene.until(() => sub.get().messages.length === 2)
    const again = await sub.send('Something else.', { id: sub.get().messages[0]?.id ?? '' })
    await expect(again.answer).resolves.toMatchObject({ content: [{ text: 'Found.' }] })
    expect(sub.get().messages).toHaveLength(2)
  })

  test('it is stopped with the run that began it', async () => {
    let times = 0
    const { scene } = await asked(() => {
      times++
      return ['Fou', { stall: true }]
    })
    await scene.until(() => times === 1)
    await scene.pass(500)
    const sub = subOf(scene)
    await scene.session.stop()
    await scene.until(() => sub.get().messages.at(-1)?.status === 'interrupted')
    await scene.until(() => scene.session.get().status === 'ready' && sub.get().status === 'ready')
    expect(resultsIn(scene.session)).toMatchObject([{ ok: false }])
  })

  test('that it was stopped among its calls is told, and not taken for an answer', async () => {
    const { scene } = await asked((answered) => (answered === 0 ? calling(['wait']) : 'Found.'))
    await scene.until(() => scene.executed.length === 1)
    const sub = subOf(scene)
    await scene.until(() => sub.get().messages.length === 3)
    await sub.stop()
    await scene.until(() => isOver(scene))
    expect(resultsIn(scene.session)).toEqual([
      { ok: false, error: 'the sub-run ended before it had an answer' },
    ])
  })

  test('that it failed is told', async () => {
    const { scene } = await asked(() => [{ error: { code: 'auth', message: 'No key.' } }])
    await scene.until(() => isOver(scene))
    expect(resultsIn(scene.session)).toEqual([{ ok: false, error: 'No key.' }])
  })

  test('it begins others only so deep', async () => {
    const scene = open({
      steps: (_, answered) => (answered === 0 ? calling(['research', { task: 'Deeper.' }]) : 'Told.'),
      tools,
    })
    await scene.session.send('Please.')
    await scene.until(() => isOver(scene))
    const first = subOf(scene)
    await scene.until(() => first.get().messages.length === 4)
    const second = scene.sessionOf(`sub2_${first.get().messages[1]?.id}_0`)
    await scene.until(() => second.get().messages.length === 4)
    expect(resultsIn(second)).toMatchObject([{ ok: false, error: expect.stringMatching(/begins no other/) }])
  })
})

test('how deep it is, is known of whatever depth, and its message can be named after any call', async () => {
  const begun: string[] = []
  const session = (id: string) => ({
    get: () => ({ messages: [], status: 'ready' }),
    subscribe: () => () => {},
    async send(_: unknown, options: { id: string }) {
      begun.push(id, options.id)
      return { answer: Promise.resolve(assistantMessage('a')) }
    },
    retry: () => expect.unreachable(),
    stop: async () => {},
  })
  const research = sessionTool({ name: 'research', chat: () => ({ session }), maxDepth: 12 })
  const key = `${'k'.repeat(64)}_0`
  const begin = (sessionId: string) =>
    research.execute?.(
      { task: 'Find it.' },
      { key, sessionId, toolCallId: 'c', attempt: 1, signal: new AbortController().signal },
      { sleep: () => new Promise(() => {}) },
    )
  expect(await begin('sub11_x')).toMatchObject({ isError: false })
  expect(begun[0]).toMatch(/^sub12_k+_0$/)
  expect(Math.max(...begun.map((id) => id.length))).toBeLessThanOrEqual(60)
  expect(await begin('sub12_x')).toMatchObject({ isError: true })
})
