import { expect, test } from 'vitest'
import type { Effort } from '../../src/adapters/contract.ts'
import { createChat } from '../../src/chat/create.ts'
import { direct } from '../../src/runtime/direct.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { taught } from '../../src/telemetry/calibration.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { defaultContext } from '../../src/turn/default-context.ts'

/** A provider that counts three times as much as anybody would think. */
const usage = { input: 300, output: 1, cacheRead: 0, cacheWrite: 0, total: 301 }
const QUESTION = 'How far is it to the moon, and how far to the sun? '.repeat(8)

function chatWith(storage: ReturnType<typeof memoryStorage>) {
  const model = scriptedModel([['Far.', { usage }], ['Far.', { usage }], 'Far.'])
  // Whoever opens another chat on it finds it open.
  const kept = { ...storage, close: () => Promise.resolve() }
  const chat = createChat({ storage: kept, runtime: direct({ model, context: defaultContext() }) })
  return { chat, model: { provider: model.provider, model: model.id } }
}

test('the estimates of defaultContext learn from each count, and are learnt after a reload', async () => {
  const storage = memoryStorage()
  const first = chatWith(storage)
  const session = first.chat.session('s1')
  await (await session.send(QUESTION)).answer
  await (await first.chat.session('s2').send(QUESTION)).answer
  const [call] = await session.calls()
  const [next] = await first.chat.session('s2').calls()
  const before = call?.sent?.estimated ?? 0
  const learnt = next?.sent?.estimated ?? 0
  expect(Math.abs(300 - learnt)).toBeLessThan(Math.abs(300 - before) / 2)
  await first.chat.close()
  expect(await taught(storage, first.model)).toMatchObject({ reports: 2 })
  const reopened = chatWith(storage)
  const again = reopened.chat.session('s3')
  await (await again.send(QUESTION)).answer
  const known = (await again.calls())[0]?.sent?.estimated ?? 0
  expect(Math.abs(300 - known)).toBeLessThan(Math.abs(300 - before) / 2)
  await reopened.chat.close()
})

test('what is kept of a model names no session', async () => {
  const storage = memoryStorage()
  const { chat, model } = chatWith(storage)
  await (await chat.session('session-one').send(QUESTION)).answer
  await chat.close()
  expect(await taught(storage, model)).toBeDefined()
  expect(JSON.stringify(await storage.records('calibration'))).not.toContain('session-one')
})

test('a model that is told to think is counted with what it is told, when it is asked and when somebody looks', async () => {
  const estimated = async (thinking: Effort): Promise<number[]> => {
    const model = { ...scriptedModel(['Far.']), provider: 'anthropic', id: 'claude-sonnet-4-6' }
    const runtime = direct({ model, call: { thinking }, context: defaultContext() })
    const chat = createChat({ storage: memoryStorage(), runtime })
    const session = chat.session('s1')
    await (await session.send(QUESTION)).answer
    const [call] = await session.calls()
    const { tokens = 0 } = await session.context()
    await chat.close()
    return [call?.sent?.estimated ?? 0, tokens]
  }
  const [plain, thinking] = [await estimated('none'), await estimated('low')]
  expect(thinking).toEqual(plain.map((tokens) => tokens + 30))
})
