import { describe, expect, test } from 'vitest'
import type { Fact } from '../../src/memory/fact.ts'
import { createMemory } from '../../src/memory/memory.ts'
import type { TextSearch } from '../../src/memory/ports.ts'
import { embed, memoryWith, textsOf } from './stage.ts'

const fact = (id: string, text = id, more: Partial<Fact> = {}): Fact => ({
  ...{ id, kind: 'fact', text, at: 1 },
  ...more,
})

describe('what an embedder answers that is no vectors', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['too few', []],
    ['a hole', [undefined]],
    ['no numbers', [[1, Number.NaN]]],
    ['what has no end', [[1, Number.POSITIVE_INFINITY]]],
    ['a vector of none', [[]]],
    ['base64', ['AAAA']],
  ])('is refused, and nothing is kept by it: %s', async (_, answer) => {
    const { memory } = memoryWith({ embed: async () => answer as number[][] })
    const refused = { code: 'invalid-request', message: expect.stringContaining('embed: expected') }
    await expect(memory.add(['A cat'])).rejects.toMatchObject(refused)
    await expect(memory.import([fact('f1')])).rejects.toMatchObject(refused)
    await expect(memory.search('cat')).rejects.toMatchObject(refused)
    expect(await memory.facts()).toEqual([])
  })

  test('comes as what it threw, and does not stop what is added later', async () => {
    let calls = 0
    const broken = new Error('no device')
    const { memory } = memoryWith({
      async embed(texts, how) {
        if (++calls === 1) throw broken
        return embed(texts, how)
      },
    })
    await expect(memory.add(['A cat'])).rejects.toBe(broken)
    expect(await memory.add(['A dog'])).toHaveLength(1)
  })
})

test('an embedder is asked for hundreds at once, not for all of an import', async () => {
  const sizes: number[] = []
  const { memory } = memoryWith({
    embed(texts, how) {
      sizes.push(texts.length)
      return embed(texts, how)
    },
  })
  await memory.import(Array.from({ length: 600 }, (_, at) => fact(`f${at}`, `code ${at}`)))
  expect(sizes).toEqual([256, 256, 88])
  expect(await memory.facts()).toHaveLength(600)
})

describe('an import', () => {
  test.each<[unknown]>([
    [null],
    [7],
    [{ id: 'x', kind: 'fact', at: 1 }],
    [fact('x', 5 as unknown as string)],
  ])('of %j is refused by the name of what is wrong', async (one) => {
    const { memory } = memoryWith()
    await expect(memory.import([fact('good'), one as Fact])).rejects.toMatchObject({
      code: 'invalid-request',
      message: expect.stringContaining('fact'),
    })
    expect(await memory.facts()).toEqual([])
  })

  test('of keys that mean something to an object changes no object, and is found', async () => {
    const { memory } = memoryWith()
    const hostile =
      '{"id":"__proto__","kind":"fact","text":"A cat","at":1,"__proto__":{"admin":true},"constructor":1}'
    await memory.import([JSON.parse(hostile)])
    expect(textsOf(await memory.search('cat'))).toEqual(['A cat'])
    const [known] = await memory.facts()
    expect(known).toEqual(fact('__proto__', 'A cat'))
    expect('admin' in {}).toBe(false)
    expect(await memory.forget({ ids: ['__proto__'] })).toBe(1)
  })

  test('that has an id twice keeps the later one, and what says nothing stays out', async () => {
    const { memory } = memoryWith()
    await memory.import([fact('f1', 'A cat'), fact('f2', ' '), fact('f1', 'A dog')])
    expect(await memory.facts()).toEqual([fact('f1', 'A dog')])
  })
})

describe('at once', () => {
  test('the same fact is added once', async () => {
    const { memory } = memoryWith()
    await Promise.all([memory.add(['A cat']), memory.add(['a  cat']), memory.add(['A cat.'])])
    expect(await memory.facts()).toHaveLength(1)
  })

  test('searching and forgetting finds what was there, or what is, and never half of it', async () => {
    const { memory } = memoryWith()
    await memory.import(Array.from({ length: 3_000 }, (_, at) => fact(`f${at}`, at % 2 ? 'A cat' : 'A dog')))
    const [before, gone, after] = await Promise.all([
      memory.search('cat', { count: 3 }),
      memory.forget({ ids: Array.from({ length: 2_000 }, (_, at) => `f${at}`) }),
      memory.search('cat', { count: 3 }),
    ])
    expect(gone).toBe(2_000)
    for (const found of [before, after]) expect(textsOf(found)).toEqual(['A cat', 'A cat', 'A cat'])
    expect(await memory.facts()).toHaveLength(1_000)
    expect((await memory.search('cat', { count: 1 }))[0]?.fact.id).toBe('f2001')
  })

  test('a search in the middle of a large import loses nothing of it, for other tabs neither', async () => {
    const { memory, storage } = memoryWith()
    const other = memoryWith({ storage }).memory
    const work = memory.import(Array.from({ length: 9_000 }, (_, at) => fact(`f${at}`, 'A cat')))
    let done = false
    void work.finally(() => {
      done = true
    })
    while (!done) {
      await memory.search('cat')
      await other.search('cat')
    }
    await work
    expect(await other.facts()).toHaveLength(9_000)
    expect(await memory.facts()).toHaveLength(9_000)
  })
})

test('what is somebody else’s is neither listed nor forgotten, unless it is asked for', async () => {
  const { memory, storage } = memoryWith()
  await memory.add([{ text: 'cat of Ann', user: 'ann' }, { text: 'cat of Bob', user: 'bob' }, 'cat of all'])
  const ann = memoryWith({ storage, user: 'ann' }).memory
  const texts = (facts: readonly Fact[]) => facts.map(({ text }) => text)
  expect(texts(await ann.facts())).toEqual(['cat of Ann', 'cat of all'])
  const unset: object = { user: undefined }
  expect(textsOf(await ann.search('cat', { ...unset, minScore: 0 }))).not.toContain('cat of Bob')
  expect(await ann.forget({})).toBe(1)
  expect(texts(await memory.facts())).toEqual(['cat of Bob', 'cat of all'])
})

describe('a search by words', () => {
  /** The least there is: words that are in a text. */
  function wordSearch(): TextSearch & { texts: Map<string, string> } {
    const texts = new Map<string, string>()
    return {
      texts,
      add: ({ id, text }) => void texts.set(id, text),
      discard: (id) => void texts.delete(id),
      search: (text) =>
        [...texts].filter(([, known]) => known.includes(text)).map(([id]) => ({ id, score: 1 })),
    }
  }

  test('knows the newer words of a fact that another tab has changed', async () => {
    const { storage } = memoryWith()
    const [one, two] = [wordSearch(), wordSearch()]
    const here = createMemory({ search: one, storage })
    const there = createMemory({ search: two, storage })
    await here.import([fact('f1', 'A cat')])
    expect(textsOf(await there.search('cat'))).toEqual(['A cat'])
    await here.import([fact('f1', 'A dog')])
    expect(textsOf(await there.search('dog'))).toEqual(['A dog'])
    expect(textsOf(await there.search('cat'))).toEqual([])
  })

  test('still knows what could not be changed, since the storage failed', async () => {
    const { storage } = memoryWith()
    let fails = false
    const commit: typeof storage.commit = (changes, options) => {
      if (fails) throw new Error('disk full')
      return storage.commit(changes, options)
    }
    const memory = createMemory({ search: wordSearch(), storage: { records: storage.records, commit } })
    await memory.import([fact('f1', 'A cat')])
    fails = true
    await expect(memory.import([fact('f1', 'A dog')])).rejects.toThrow('disk full')
    expect(textsOf(await memory.search('cat'))).toEqual(['A cat'])
  })

  test('is not taken for one by vectors: what has none is not lost to those that have', async () => {
    const { storage } = memoryWith()
    const words = createMemory({ search: wordSearch(), storage })
    await words.import(Array.from({ length: 1_500 }, (_, at) => fact(`f${at}`)))
    const vectors = createMemory({ embed, storage })
    await expect(vectors.add(['A cat'])).rejects.toThrow('expected vectors of 0 numbers')
    const all = await vectors.facts()
    expect(all).toHaveLength(1_500)
    await vectors.forget({})
    await vectors.import(all)
    expect(await vectors.facts()).toHaveLength(1_500)
  })
})
