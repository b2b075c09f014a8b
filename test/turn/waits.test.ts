import { describe, expect, test } from 'vitest'
import { tool } from '../../src/turn/tool.ts'
import { noStrayRejections } from '../chat/world.ts'
import { calling, callsIn, resultsIn, SCENES, stages } from './scenes.ts'

noStrayRejections()

const parameters = { type: 'object' }

describe.each(SCENES)('over %s', (_, open) => {
  test('what is waited for for ever is, through a reload and a crash', async () => {
    const forever = Number.POSITIVE_INFINITY
    const scene = open({
      steps: [calling(['send'], ['ask']), 'Done.'],
      tools: (spy) => [
        tool({
          name: 'send',
          parameters,
          needsApproval: true,
          approvalTimeout: forever,
          execute: spy('send'),
        }),
        tool({ name: 'ask', parameters, timeout: forever }),
      ],
    })
    await scene.session.send('Please.')
    const waits = () => stages(scene.session).join() === 'approval,client'
    await scene.until(waits)
    await scene.pass(3_000_000)
    await scene.crash()
    await scene.until(waits)
    expect(callsIn(scene.session).filter((call) => 'expiresAt' in call)).toEqual([])
    await scene.session.approve('call_1')
    await scene.session.toolResult('call_2', { data: 1 })
    await scene.until(() => scene.session.get().status === 'ready')
    expect(resultsIn(scene.session)).toEqual([
      { ok: true, data: {} },
      { ok: true, data: 1 },
    ])
  })

  test('what a tool does to its arguments is not what the model said', async () => {
    const change = (args: unknown) => Object.assign(Object(args), { changed: true })
    const scene = open({
      steps: [calling(['judge', { to: 'Ada' }], ['work', { to: 'Ada' }]), 'Done.'],
      tools: (spy) => [
        tool({
          name: 'judge',
          parameters,
          needsApproval: (args) => change(args) !== args,
          execute: spy('judge'),
        }),
        tool({ name: 'work', parameters, execute: spy('work', change) }),
      ],
    })
    const { answer } = await scene.session.send('Please.')
    await scene.until(() => resultsIn(scene.session).length === 2)
    await answer
    expect(scene.session.get().messages[1]).toMatchObject({
      content: [{ arguments: { to: 'Ada' } }, { arguments: { to: 'Ada' } }],
    })
    const [, call] = scene.session.get().messages
    expect(JSON.stringify(call)).not.toContain('changed')
  })
})
