import { createMemory, type Embed, type Memory, memoryStorage } from 'tidemark'
import type { Case } from './measure.ts'

export interface MemorySizes {
  facts: number
  /** Numbers of a vector. */
  dims: number
}

/** Vectors that look like those of an embedder: numbers in all directions, the same in every run. */
export function scriptedEmbed(dims: number): Embed {
  let state = 1
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32 - 0.5
  }
  return async (texts) => texts.map(() => Float32Array.from({ length: dims }, next))
}

/** Fills a memory with so many facts, of two users. */
export async function fillMemory(memory: Memory, { facts }: MemorySizes): Promise<Memory> {
  const atOnce = 8_192
  for (let from = 0; from < facts; from += atOnce)
    await memory.import(
      Array.from({ length: Math.min(atOnce, facts - from) }, (_, at) => ({
        id: `f${from + at}`,
        kind: 'fact' as const,
        text: `fact ${from + at}`,
        user: at % 2 === 0 ? 'ann' : 'bob',
        at: 0,
      })),
    )
  return memory
}

/** What is promised, as somebody who takes exactly so long. */
const PROMISED = 50

export function memoryCases(sizes: MemorySizes): Case[] {
  let memory: Promise<Memory> | undefined
  const name = `${sizes.facts.toLocaleString('en')} vectors of ${sizes.dims}`
  return [
    {
      name: `memory: the nearest five of ${name}`,
      unit: 'search',
      contestants: [
        {
          name: 'tidemark',
          units: 1,
          async run() {
            memory ??= fillMemory(
              createMemory({ embed: scriptedEmbed(sizes.dims), storage: memoryStorage(), user: 'ann' }),
              sizes,
            )
            const known = await memory
            const begin = performance.now()
            const found = await known.search('anything', { minScore: -1 })
            const took = performance.now() - begin
            if (found.length !== 5 || found.some(({ fact }) => fact.user !== 'ann'))
              throw new Error('expected five facts of ann')
            return took
          },
        },
        { name: `${PROMISED} ms`, units: 1, run: () => PROMISED },
      ],
      claims: [{ of: 'tidemark', to: `${PROMISED} ms`, most: 1 }],
    },
  ]
}
