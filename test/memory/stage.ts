import type { ChatStorage } from '../../src/chat/ports.ts'
import { createMemory } from '../../src/memory/memory.ts'
import type { Embed } from '../../src/memory/ports.ts'
import type { MemoryOptions } from '../../src/memory/types.ts'
import { memoryStorage } from '../../src/storage/memory.ts'

/** What a text is about, as a vector: a number for each of these words, by how often they come. */
const TOPICS = ['cat', 'dog', 'paris', 'berlin', 'tea', 'coffee', 'train', 'code'] as const

export const embed: Embed = async (texts) =>
  texts.map((text) => TOPICS.map((topic) => text.toLowerCase().split(topic).length - 1))

/** A memory with a clock that stands still until it is set. */
export function memoryWith(options: Partial<MemoryOptions> & { storage?: ChatStorage } = {}) {
  const clock = { now: 1_000 }
  let ids = 0
  const storage = options.storage ?? memoryStorage()
  const env = { now: () => clock.now, createId: () => `f${++ids}` }
  const memory = createMemory({ embed, env, ...options, storage })
  return { memory, storage, clock }
}

export const textsOf = (found: readonly { fact: { text: string } }[]): string[] =>
  found.map(({ fact }) => fact.text)
