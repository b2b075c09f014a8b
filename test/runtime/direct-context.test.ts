import { describe, expect, test } from 'vitest'
import { createChat } from '../../src/chat/create.ts'
import { assembleContext } from '../../src/context/assemble.ts'
import { type DirectOptions, direct } from '../../src/runtime/direct.ts'
import { remote } from '../../src/runtime/remote.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import type { ContextInput } from '../../src/turn/run-turn.ts'
import { tool } from '../turn/stage.ts'

function chatWith(options: Omit<DirectOptions, 'model'>, answers: string[] = ['one', 'two']) {
  const model = scriptedModel(answers)
  const storage = memoryStorage()
  const chat = createChat({ storage, runtime: direct({ model, ...options }) })
  return { chat, model, storage, session: chat.session('s1') }
}

describe('session.context()', () => {
  test('shows what would be sent now, with instructions, tools and reasons', async () => {
    const tools = [tool('clock', () => 'noon')]
    const { chat, session } = chatWith({ system: 'Be brief.', tools })
    expect((await session.context()).messages).toEqual([])
    await (await session.send('Hello')).answer
    const { system, tools: specs, messages, included } = await session.context()
    expect({ system, specs }).toEqual({ system: 'Be brief.', specs: [{ name: 'clock', parameters: {} }] })
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(included?.map(({ reason }) => reason)).toEqual(['newest', 'newest'])
    await chat.close()
  })

  test('is what the model then gets, by the option of the runtime, which knows that somebody only looks', async () => {
    const inputs: ContextInput[] = []
    const { chat, session, model } = chatWith({
      context(input) {
        inputs.push(input)
        return assembleContext({ ...input, system: 'Mine.' })
      },
    })
    await (await session.send('Hello')).answer
    await (await session.send('And?')).answer
    expect(await session.context()).toMatchObject({ system: 'Mine.', tokens: expect.any(Number) })
    expect(model.calls.map(({ context }) => context.system)).toEqual(['Mine.', 'Mine.'])
    expect(inputs.map(({ preview }) => preview ?? false)).toEqual([false, false, true])
    expect(inputs[0]).toMatchObject({ sessionId: 's1', model: { id: model.id } })
    await chat.close()
  })

  test('of a session whose server decides is not known here', async () => {
    const fetch = async () => new Response(null, { status: 404 })
    const chat = createChat({ storage: memoryStorage(), runtime: remote({ url: 'http://x.invalid', fetch }) })
    await expect(chat.session('s1').context()).rejects.toMatchObject({ code: 'not-found' })
    await chat.close()
  })
})

test('what a context derives is kept with its session, and goes with it', async () => {
  const { chat, session, storage } = chatWith({
    async context(input) {
      const { records } = input
      if (!records) throw new Error('no records')
      const known = await records.read('note')
      await records.write(
        'note',
        [{ key: `k${known.length}`, value: known.length }],
        known.length > 1 ? ['k0'] : [],
      )
      return assembleContext(input)
    },
  })
  await (await session.send('Hello')).answer
  expect(await storage.records('note')).toEqual([{ kind: 'note', key: 's1:k0', sessionId: 's1', value: 0 }])
  await (await session.send('And?')).answer
  await session.context()
  expect((await storage.records('note', { sessionId: 's1' })).map(({ key }) => key)).toEqual([
    's1:k1',
    's1:k2',
  ])
  await session.delete()
  expect(await storage.records('note')).toEqual([])
  await chat.close()
})
