import { expect, test } from 'vitest'
import { createChat } from '../../src/chat/create.ts'
import { growthOf } from '../../src/context/growth.ts'
import { direct } from '../../src/runtime/direct.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { defaultContext } from '../../src/turn/default-context.ts'
import { assistantMessage, userMessage } from '../support/messages.ts'

const usage = { input: 10, output: 5, cacheRead: 30, cacheWrite: 2, total: 47 }

test('what was sent grows turn by turn: as estimated, as counted, by part', async () => {
  const model = scriptedModel([['one', { usage }], 'two'])
  const chat = createChat({
    storage: memoryStorage(),
    runtime: direct({ model, system: 'Be brief.', context: defaultContext() }),
  })
  const session = chat.session('s1')
  await (await session.send('Hello')).answer
  await (await session.send('And?')).answer
  const points = growthOf(session.get().messages, await session.calls())
  expect(points.map(({ turn, actual }) => [turn, actual])).toEqual([
    [1, 42],
    [2, undefined],
  ])
  const [first, second] = points
  expect(second?.estimated).toBeGreaterThan(first?.estimated ?? 0)
  expect(second?.whole).toBe(second?.estimated)
  expect(Object.keys(second?.sections ?? {})).toEqual(['system', 'history', 'newest'])
  await chat.close()
})

test('an answer of which nothing is known is no point', () => {
  expect(growthOf([userMessage('u'), assistantMessage('a')])).toEqual([])
  expect(growthOf([assistantMessage('a', 'x', { usage })])).toEqual([{ messageId: 'a', turn: 0, actual: 42 }])
})
