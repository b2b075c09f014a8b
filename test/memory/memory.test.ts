import MiniSearch from 'minisearch'
import { describe, expect, test } from 'vitest'
import { factsBy } from '../../src/memory/extract.ts'
import { createMemory } from '../../src/memory/memory.ts'
import type { MemoryStore } from '../../src/memory/ports.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { assistantMessage, userMessage } from '../support/messages.ts'
import { embed, memoryWith, textsOf } from './stage.ts'

describe('a memory', () => {
  test('finds what means the nearest, the nearest first, and nothing that is far', async () => {
    const { memory } = memoryWith()
    await memory.add(['Her cat drinks tea', 'The dog barks', 'The cat is called Mia'])
    expect(textsOf(await memory.search('a cat'))).toEqual(['The cat is called Mia', 'Her cat drinks tea'])
    expect(await memory.search('coffee')).toEqual([])
    expect(await memory.search('  ')).toEqual([])
  })

  test('knows it after a reload, and what another tab has added since', async () => {
    const { memory, storage } = memoryWith()
    await memory.add(['The cat is called Mia'])
    const again = memoryWith({ storage, env: {} }).memory
    expect(textsOf(await again.search('cat'))).toEqual(['The cat is called Mia'])
    await memory.add(['Paris in May'])
    await again.add(['Berlin in June'])
    expect(textsOf(await again.search('paris'))).toEqual(['Paris in May'])
    expect(textsOf(await memory.search('berlin'))).toEqual(['Berlin in June'])
  })

  test('keeps apart what is whose, and gives everybody what is nobody’s', async () => {
    const { memory, storage } = memoryWith()
    await memory.add([{ text: 'cat of Ann', user: 'ann' }, { text: 'cat of Bob', user: 'bob' }, 'cat of all'])
    const ann = memoryWith({ storage, user: 'ann' }).memory
    expect(textsOf(await ann.search('cat'))).toEqual(['cat of Ann', 'cat of all'])
    expect(textsOf(await memory.search('cat', { user: 'bob', sessionId: 's9' }))).toEqual([])
    expect(await memory.forget({ user: 'bob' })).toBe(1)
    expect(textsOf(await memory.search('cat'))).toEqual(['cat of Ann', 'cat of all'])
  })

  test('keeps the newer words of what it knows already, under the old id', async () => {
    const { memory, clock } = memoryWith()
    const [first] = await memory.add(['Her cat drinks tea'])
    clock.now = 2_000
    const [words] = await memory.add([{ text: 'her  cat drinks tea.', sessionId: 's2' }])
    const [meaning] = await memory.add(['The cat had tea'])
    expect([words?.id, meaning?.id]).toEqual([first?.id, first?.id])
    expect(await memory.facts()).toMatchObject([{ text: 'The cat had tea', at: 2_000 }])
  })

  test('says once what was said twice in one breath, and keeps what is another’s', async () => {
    const { memory } = memoryWith()
    await memory.add(['A cat', 'the cat', '', { text: 'A cat', user: 'ann' }])
    expect((await memory.facts()).map(({ text, user }) => [text, user])).toEqual([
      ['the cat', undefined],
      ['A cat', 'ann'],
    ])
  })

  test('forgets what has expired, by the fact’s own time or by its own', async () => {
    const { memory, clock } = memoryWith({ ttl: 500 })
    await memory.add(['A cat', { text: 'A dog', expiresAt: 9_000 }])
    clock.now = 1_500
    expect(await memory.search('cat')).toEqual([])
    expect((await memory.facts()).map(({ text }) => text)).toEqual(['A dog'])
  })

  test('forgets by id, by session, and all', async () => {
    const { memory, storage } = memoryWith()
    const [cat] = await memory.add(['A cat', { text: 'A dog', sessionId: 's1' }, 'Some tea'])
    expect(await memory.forget({ ids: [cat?.id ?? ''] })).toBe(1)
    expect(await memory.forget({ sessionId: 's1' })).toBe(1)
    expect((await memory.facts()).map(({ text }) => text)).toEqual(['Some tea'])
    expect(await memory.forget({})).toBe(1)
    expect(await storage.records('memory:f4')).toEqual([])
  })

  test('is exported as its facts, and taken in elsewhere', async () => {
    const { memory } = memoryWith()
    await memory.add(['A cat', { text: 'A dog', user: 'ann', expiresAt: 9_000 }])
    const exported = JSON.parse(JSON.stringify(await memory.facts()))
    const other = memoryWith().memory
    await other.import(exported)
    await other.import(exported)
    expect(await other.facts()).toEqual(await memory.facts())
    expect(textsOf(await other.search('dog'))).toEqual(['A dog'])
    await expect(other.import([{ ...exported[0], kind: 'rumour' }])).rejects.toMatchObject({
      code: 'invalid-request',
      message: expect.stringContaining('fact.kind'),
    })
  })

  test('has thousands of facts in blocks, and writes again only the one that grows', async () => {
    const { memory, storage } = memoryWith()
    const facts = Array.from({ length: 2_500 }, (_, at) => ({
      ...{ id: `n${at}`, kind: 'fact' as const, text: `code ${at}`, at: 1 },
    }))
    await memory.import(facts)
    const commits: number[] = []
    const watched = {
      records: storage.records,
      commit: (changes: Parameters<typeof storage.commit>[0]) => {
        commits.push(changes.length)
        return storage.commit(changes)
      },
    }
    const again = createMemory({ embed, storage: watched })
    await again.add(['A cat'])
    expect(commits).toEqual([2])
    expect(await again.facts()).toHaveLength(2_501)
    await again.forget({ ids: facts.slice(0, 1_024).map(({ id }) => id) })
    expect(await memory.facts()).toHaveLength(1_477)
  })

  test('refuses vectors of another length than those it has', async () => {
    const { memory, storage } = memoryWith()
    await memory.add(['A cat'])
    const other = createMemory({ embed: async (texts) => texts.map(() => [1, 2]), storage })
    await expect(other.add(['A dog'])).rejects.toMatchObject({ code: 'invalid-request' })
    // Found by nothing, it would look forgotten.
    await expect(other.search('cat')).rejects.toThrow('vectors of 8 numbers, as those that are stored, got 2')
    await memory.forget({})
    await other.add(['A dog'])
    expect(textsOf(await other.search('x'))).toEqual(['A dog'])
  })

  test('refuses an embedder that answers with something else', async () => {
    const { memory } = memoryWith({ embed: async () => [[1], [1, 2]] })
    await expect(memory.add(['A cat', 'A dog'])).rejects.toMatchObject({ code: 'invalid-request' })
  })
})

describe('without an embedder', () => {
  test('facts are found by their words, by an existing library', async () => {
    const storage = memoryStorage()
    const searchOf = () => new MiniSearch<{ id: string; text: string }>({ fields: ['text'] })
    const memory = createMemory({ storage, search: searchOf() })
    const [mia] = await memory.add([
      'The cat is called Mia',
      'She lives in Paris',
      { text: 'Mia', user: 'bob' },
    ])
    expect(textsOf(await memory.search('Mia', { user: 'ann' }))).toEqual(['The cat is called Mia'])
    await memory.import([{ id: mia?.id ?? '', kind: 'fact', text: 'The cat is called Leo', at: 2 }])
    const again = createMemory({ storage, search: searchOf() })
    for (const one of [memory, again]) {
      expect(textsOf(await one.search('Leo'))).toEqual(['The cat is called Leo'])
      expect(textsOf(await one.search('Mia'))).toEqual(['Mia'])
    }
    await again.forget({ ids: [mia?.id ?? ''] })
    expect(await memory.search('Leo')).toEqual([])
  })

  test.each([
    ['nowhere to keep them', { embed }, 'storage'],
    ['no way to find them', { storage: memoryStorage() }, 'embed'],
  ])('and with %s there is no memory', (_, options, field) => {
    expect(() => createMemory(options)).toThrow(new RegExp(`^${field}: expected`))
  })
})

describe('remembering a conversation', () => {
  const messages = [userMessage('u1', 'My cat is called Mia'), assistantMessage('a1', 'Nice')]

  test('keeps what the app finds in it, with the session it is from', async () => {
    const { memory } = memoryWith({ extract: async () => ['The cat is called Mia'] })
    await memory.remember('s1', messages)
    await memory.remember('s1', messages)
    expect(await memory.facts()).toMatchObject([
      { text: 'The cat is called Mia', sessionId: 's1', kind: 'fact' },
    ])
  })

  test('keeps what a model finds in it, line by line', async () => {
    const model = scriptedModel(['- The cat is called Mia\n2. She likes tea\n\nNONE'])
    const { memory } = memoryWith({ extract: factsBy(model) })
    await memory.remember('s1', [...messages, userMessage('u2', 'half', { status: 'failed' })])
    expect((await memory.facts()).map(({ text }) => text)).toEqual(['The cat is called Mia', 'She likes tea'])
    const [asked] = model.calls[0]?.context.messages ?? []
    expect(JSON.stringify(asked?.content)).toContain('user: My cat is called Mia')
    expect(JSON.stringify(asked?.content)).not.toContain('half')
  })

  test('adds nothing where the model fails, and says so', async () => {
    const { memory } = memoryWith({ extract: factsBy(scriptedModel([[{ error: 'rate-limit' }]])) })
    await expect(memory.remember('s1', messages)).rejects.toMatchObject({ code: 'rate-limit' })
    expect(await memory.facts()).toEqual([])
  })

  test('needs somebody who finds facts', async () => {
    await expect(memoryWith().memory.remember('s1', messages)).rejects.toThrow(/^extract: expected/)
  })
})

describe('recalling for a context', () => {
  const signal = new AbortController().signal

  test('says where things come from, and leaves out what is in the window anyway', async () => {
    const { memory } = memoryWith({ user: 'ann' })
    await memory.add([{ text: 'The cat is called Mia', sessionId: 's0', source: 'said in May' }])
    await memory.addMessages([
      userMessage('u1', 'A cat and tea'),
      userMessage('u2', 'Another cat'),
      userMessage('u3', 'cat', { status: 'failed' }),
    ])
    const exclude = new Set(['u2'])
    const found = await memory.recall({ sessionId: 's1', text: 'cat?', exclude }, { signal })
    expect(found.map(({ text, provenance }) => [text, provenance])).toEqual([
      [
        'The cat is called Mia',
        { kind: 'fact', id: 'f1', at: 1_000, sessionId: 's0', source: 'said in May' },
      ],
      ['A cat and tea', { kind: 'message', id: 'u1', at: expect.any(Number), sessionId: expect.any(String) }],
    ])
  })

  test('asks a vector database where there is one', async () => {
    const asked: unknown[] = []
    const fact = { id: 'x', kind: 'fact' as const, text: 'far away', at: 1 }
    const store: MemoryStore = {
      put: async () => undefined,
      list: async () => [],
      delete: async () => 0,
      async nearest(query) {
        asked.push(query)
        return [{ fact, score: 0.9 }]
      },
    }
    const memory = createMemory({ embed, store, user: 'ann' })
    expect(await memory.recall({ sessionId: 's1', text: 'cat', exclude: new Set() }, { signal })).toEqual([
      { text: 'far away', score: 0.9, provenance: { kind: 'fact', id: 'x', at: 1 } },
    ])
    expect(asked).toMatchObject([{ text: 'cat', count: 5, minScore: 0.3, filter: { user: 'ann' } }])
  })
})
