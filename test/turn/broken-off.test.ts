import { describe, expect, test } from 'vitest'
import { textOf } from '../../src/message/text.ts'
import type { ScriptPiece } from '../../src/testing/scripted-model.ts'
import { noStrayRejections } from '../chat/world.ts'
import { calling, SCENES } from './scenes.ts'

noStrayRejections()

describe.each(SCENES)('over %s', (_, open) => {
  test.each<[string, ScriptPiece[], string]>([
    ['words', ['It is '], 'It is '],
    ['thoughts', [{ thinking: 'hm' }], ''],
    ['words and a call', ['I look. ', ...calling(['look'])], 'I look. '],
    ['no more than that it is there', [{ start: true }], ''],
  ])('a line that breaks at once behind %s fails the answer', async (_what, said, text) => {
    const scene = open({ steps: [[...said, { error: 'network' }]], tools: () => [] })
    const { answer } = await scene.session.send('Please.')
    await scene.pass(60_000)
    expect(scene.session.get().status).toBe('ready')
    const last = scene.session.get().messages.at(-1)
    expect(last).toMatchObject({ role: 'assistant', status: 'failed', error: { code: 'network' } })
    expect(last && textOf(last)).toBe(text)
    await expect(answer).resolves.toMatchObject({ status: 'failed' })
  })
})
