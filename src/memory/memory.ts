import type { Recalled } from '../context/recalled.ts'
import { type Env, platformEnv } from '../lib/env.ts'
import { TidemarkError } from '../lib/errors.ts'
import { expectOption, hasMethod } from '../lib/expect.ts'
import type { Message } from '../message/schema.ts'
import { textOf } from '../message/text.ts'
import { Fact, type NewFact, sameWords } from './fact.ts'
import { localStore } from './local-store.ts'
import { normalised } from './nearest.ts'
import type { Found, Known, MemoryStore } from './ports.ts'
import type { Memory, MemoryOptions, SearchOptions } from './types.ts'

interface Mind {
  readonly options: MemoryOptions
  readonly store: MemoryStore
  readonly env: Env
}

const NEVER = new AbortController().signal

/** Vectors of texts; none where there is no embedder. */
async function vectorsOf(
  { options: { embed } }: Mind,
  texts: readonly string[],
  signal: AbortSignal = NEVER,
): Promise<(Float32Array | undefined)[]> {
  if (!embed || texts.length === 0) return texts.map(() => undefined)
  const vectors = await embed(texts, { signal })
  const dims = vectors[0]?.length ?? 0
  if (vectors.length !== texts.length || dims === 0 || vectors.some(({ length }) => length !== dims))
    throw new TidemarkError('invalid-request', `embed: expected ${texts.length} vectors of one length`)
  return vectors.map(normalised)
}

function factOf({ options: { user, ttl }, env }: Mind, given: string | NewFact): Fact {
  const fact = typeof given === 'string' ? { text: given } : given
  const now = env.now()
  const owner = fact.user ?? user
  const expiresAt = fact.expiresAt ?? (ttl === undefined ? undefined : now + ttl)
  const parsed = Fact.safeParse({
    ...{ kind: 'fact', at: now, ...fact, id: fact.id ?? env.createId(), text: fact.text.trim() },
    ...(owner !== undefined && { user: owner }),
    ...(expiresAt !== undefined && { expiresAt }),
  })
  if (parsed.success) return parsed.data
  const { path = [], message = '' } = parsed.error.issues[0] ?? {}
  throw new TidemarkError('invalid-request', `fact.${path.join('.')}: ${message}`)
}

const dot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)

/** The known fact that says the same, of the same user: by its words, or by what they mean. */
async function twinOf(
  mind: Mind,
  { fact, vector }: Known,
  others: readonly Known[],
): Promise<Fact | undefined> {
  const { same = 0.95 } = mind.options
  const isOf = (other: Fact) => other.kind === 'fact' && other.user === fact.user && other.id !== fact.id
  const words = sameWords(fact.text)
  for (const other of others) if (isOf(other.fact) && sameWords(other.fact.text) === words) return other.fact
  if (!vector) return undefined
  const near = others.find((other) => other.vector && isOf(other.fact) && dot(vector, other.vector) >= same)
  if (near) return near.fact
  const filter = { kind: 'fact' as const, ...(fact.user !== undefined && { user: fact.user }) }
  const found = await mind.store.nearest({ text: fact.text, vector, count: 3, minScore: same, filter })
  return found.find((one) => isOf(one.fact))?.fact
}

/** Adds facts one by one: what is said twice in one breath is also said once. */
async function learn(mind: Mind, facts: readonly Fact[], signal: AbortSignal | undefined): Promise<Fact[]> {
  const said = facts.filter(({ text }) => text !== '')
  const vectors = await vectorsOf(
    mind,
    said.map(({ text }) => text),
    signal,
  )
  // Words are compared with all that is known; it is read once.
  const known: Known[] = (await mind.store.list({ kind: 'fact' })).map((fact) => ({ fact }))
  const learnt = new Map<string, Known>()
  for (const [at, fact] of said.entries()) {
    const vector = vectors[at]
    const one: Known = { fact, vector }
    const twin = fact.kind === 'fact' ? await twinOf(mind, one, [...known, ...learnt.values()]) : undefined
    const kept = twin ? { ...fact, id: twin.id } : fact
    learnt.set(kept.id, { fact: kept, vector })
  }
  await mind.store.put([...learnt.values()])
  return [...learnt.values()].map(({ fact }) => fact)
}

async function search(mind: Mind, text: string, options: SearchOptions): Promise<readonly Found[]> {
  const { embed, user, count = 5, minScore = embed ? 0.3 : 0 } = mind.options
  const { signal, exclude, ...rest } = options
  if (text.trim() === '') return []
  const [vector] = await vectorsOf(mind, [text], signal)
  const { count: most = count, minScore: least = minScore, ...filter } = rest
  return mind.store.nearest({
    text,
    vector,
    count: most,
    minScore: least,
    filter: { ...(user !== undefined && { user }), ...filter },
    exclude,
  })
}

const recalledOf = ({ fact: { id, kind, text, sessionId, source, at }, score }: Found): Recalled => ({
  text,
  score,
  provenance: { kind, id, at, ...(sessionId && { sessionId }), ...(source && { source }) },
})

const messageFact = ({ id, sessionId, createdAt, ...message }: Message): NewFact => ({
  id,
  kind: 'message',
  text: textOf(message),
  sessionId,
  at: createdAt,
})

/** Where facts are kept and looked for. Throws `invalid-request` where something is missing. */
function storeOf({ storage, store, embed, search, name }: MemoryOptions, env: Env): MemoryStore {
  expectOption(
    store !== undefined || embed !== undefined || search !== undefined,
    'embed: expected a function that makes vectors of texts, or a search',
  )
  if (store) return store
  expectOption(
    storage !== undefined && hasMethod(storage, 'records'),
    'storage: expected dexieStorage(name), memoryStorage() or the like, or a store',
  )
  // What has vectors is not looked for by its words.
  return localStore({ storage, env, search: embed ? undefined : search, ...(name !== undefined && { name }) })
}

/**
 * What is known beyond a conversation: facts and messages, found by what they mean (`embed`) or by their words (`search`),
 * each with where it comes from. Everything is kept in the browser, and every vector is looked at: exact, and within 50 ms
 * for 100,000 of 384 numbers.
 * @example
 * const memory = createMemory({ embed, storage, extract: factsBy(model) })
 * await memory.remember(session.id, session.get().messages)
 * const found = await memory.search('Where does she live?')
 */
export function createMemory(options: MemoryOptions): Memory {
  const env = { ...platformEnv, ...options.env }
  const store = storeOf(options, env)
  const mind: Mind = { options, store, env }
  const add: Memory['add'] = (facts, { signal } = {}) =>
    learn(
      mind,
      facts.map((fact) => factOf(mind, fact)),
      signal,
    )

  return {
    add,
    addMessages: (messages, how) =>
      add(messages.filter(({ status }) => status === 'completed').map(messageFact), how),
    async remember(sessionId, messages, { signal = NEVER } = {}) {
      const { extract } = options
      expectOption(
        extract !== undefined,
        'extract: expected a function that finds facts, such as factsBy(model)',
      )
      const found = await extract(messages, { signal })
      const facts = found.map((fact) => (typeof fact === 'string' ? { text: fact } : fact))
      return add(
        facts.map((fact) => ({ sessionId, ...fact })),
        { signal },
      )
    },
    search: (text, how = {}) => search(mind, text, how),
    recall: async ({ text, exclude }, { signal }) =>
      (await search(mind, text, { exclude, signal })).map(recalledOf),
    facts: (filter = {}) => store.list(filter),
    async import(facts, { signal } = {}) {
      const checked = facts.map((fact) => factOf(mind, fact))
      const vectors = await vectorsOf(
        mind,
        checked.map(({ text }) => text),
        signal,
      )
      await store.put(checked.map((fact, at) => ({ fact, vector: vectors[at] })))
    },
    forget: (filter) => store.delete(filter),
  }
}
