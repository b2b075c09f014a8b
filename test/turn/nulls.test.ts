import { describe, expect, test } from 'vitest'
import { tool } from '../../src/turn/tool.ts'
import { ending } from '../chat/direct-chat.ts'
import { noStrayRejections } from '../chat/world.ts'
import { asked, ends, paged } from './client-tools.ts'
import { calling, resultsIn, SCENES, stages } from './scenes.ts'

noStrayRejections()

const parameters = { type: 'object' }
const data = { street: null, rooms: [null, { floor: null }] }

describe.each(SCENES)('over %s', (_, open) => {
  const sceneOf = async (name: string) => {
    const scene = open({
      steps: [calling([name, { to: 'Ada' }]), 'Done.'],
      tools: (spy) => [
        tool({ name: 'ask', parameters }),
        tool({ name: 'send', parameters, execute: spy('send'), needsApproval: true }),
      ],
    })
    await scene.session.send('Please.')
    await scene.until(() => scene.session.get().waiting.length > 0)
    return scene
  }

  test('the nulls in a result from elsewhere go to the model', async () => {
    const scene = await sceneOf('ask')
    await scene.session.toolResult('call_1', { data })
    await scene.until(() => scene.session.get().status === 'ready')
    expect(resultsIn(scene.session)).toEqual([{ ok: true, data }])
  })

  test.each([null, Number.NaN])(
    '%s is not taken for arguments: a server hears nothing of it',
    async (none) => {
      const scene = await sceneOf('send')
      expect(await ending(scene.session.approve('call_1', { arguments: none }))).toBe('invalid-request')
      await scene.pass(5_000)
      expect(stages(scene.session)).toEqual(['approval'])
      expect(scene.executed).toEqual([])
    },
  )

  test('the nulls within arguments are', async () => {
    const scene = await sceneOf('send')
    await scene.session.approve('call_1', { arguments: data })
    await scene.until(() => scene.session.get().status === 'ready')
    expect(scene.executed).toEqual([`send ${JSON.stringify(data)}`])
  })
})

test('the nulls in what a page made of a call go to the model', async () => {
  const { made } = paged({ execute: () => data })
  const { server, client } = await asked([made])
  await ends(server, client)
  expect(resultsIn(client.session)).toEqual([{ ok: true, data }])
})
