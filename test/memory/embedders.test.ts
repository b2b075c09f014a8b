import { expect, test } from 'vitest'
import { createMemory } from '../../src/memory/memory.ts'
import { embed, memoryWith, textsOf } from './stage.ts'

test('a memory goes over to another embedder by taking in all that it lists, also what is everybody’s', async () => {
  const { memory, storage } = memoryWith()
  await memory.add(['The museum has a cat'])
  const options = { storage, user: 'ada' }
  await createMemory({ ...options, embed }).add(['Ada likes tea'])
  const other = createMemory({ ...options, embed: async (texts) => texts.map(() => [1, 2]) })
  const all = await other.facts()
  await expect(other.import(all.slice(1))).rejects.toThrow('import all that facts() lists')
  await other.forget({})
  await other.import(all)
  expect(textsOf(await other.search('x'))).toEqual(['The museum has a cat', 'Ada likes tea'])
  expect(await other.facts()).toEqual(all)
})

test('a memory of several users goes over to another embedder by one that is nobody’s', async () => {
  const { memory, storage } = memoryWith()
  for (const user of ['ada', 'bob']) await createMemory({ storage, user, embed }).add(['Likes tea'])
  const changed = { storage, embed: async (texts: readonly string[]) => texts.map(() => [1, 2]) }
  const ada = createMemory({ ...changed, user: 'ada' })
  await expect(ada.import(await ada.facts())).rejects.toThrow('a memory without a user')
  await createMemory(changed).import(await memory.facts())
  expect((await ada.search('x')).map(({ fact }) => fact.user)).toEqual(['ada'])
})
