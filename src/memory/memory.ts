import type { Recalled } from '../context/recalled.ts'
import { type Env, platformEnv } from '../lib/env.ts'
import { TidemarkError } from '../lib/errors.ts'
import { expectOption, hasMethod } from '../lib/expect.ts'
import type { Message } from '../message/schema.ts'
import { textOf } from '../message/text.ts'
import { Fact, type FactFilter, type NewFact, sameWords } from './fact.ts'
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

/** So many texts are given to an embedder at once. */
const AT_ONCE = 256

/** Vectors of texts; none where there is no embedder. */
async function vectorsOf(
  { options: { embed } }: Mind,
  texts: readonly string[],
  signal: AbortSignal = NEVER,
): Promise<(Float32Array | undefined)[]> {
  if (!embed) return texts.map(() => undefined)
  const made: Float32Array[] = []
  for (let from = 0; from < texts.length; from += AT_ONCE) {
    const some = texts.slice(from, from + AT_ONCE)
    const vectors: readonly (ArrayLike<number> | undefined)[] = await embed(some, { signal })
    const dims = made[0]?.length ?? vectors?.[0]?.length
    const copies = Array.from(vectors ?? [], (vector) => Float32Array.from(vector ?? []))
    if (
      copies.length !== some.length ||
      !dims ||
      !copies.every((copy) => copy.length === dims && copy.every(Number.isFinite))
    )
      throw new TidemarkError(
        'invalid-request',
        `embed: expected ${some.length} vectors of as many numbers each`,
      )
    for (const copy of copies) made.push(normalised(copy))
  }
  return made
}

function factOf(
  { options: { user, ttl }, env }: Mind,
  given: string | NewFact,
  shared?: ReadonlySet<string>,
): Fact {
  const fact: Partial<NewFact> = typeof given === 'string' ? { text: given } : given
  expectOption(typeof fact === 'object' && fact !== null, 'fact: expected a text, or an object with a text')
  const now = env.now()
  const owner = fact.user ?? (shared?.has(fact.id ?? '') ? undefined : user)
  const expiresAt = fact.expiresAt ?? (ttl === undefined ? undefined : now + ttl)
  const parsed = Fact.safeParse({
    ...{ kind: 'fact', at: now, ...fact, id: fact.id ?? env.createId() },
    ...(owner !== undefined && { user: owner }),
    ...(expiresAt !== undefined && { expiresAt }),
  })
  if (parsed.success) return { ...parsed.data, text: parsed.data.text.trim() }
  const { path = [], message = '' } = parsed.error.issues[0] ?? {}
  throw new TidemarkError('invalid-request', `fact.${path.join('.')}: ${message}`)
}

const dot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)

/** What facts have in common that say the same in the same words, of the same user. */
const wordsOf = ({ user, text }: Fact): string => JSON.stringify([user, sameWords(text)])

/** Facts that are compared with. */
interface Others {
  byWords: Map<string, Fact>
  learnt: Map<string, Known>
}

/** The known fact that says the same, of the same user: by its words, or by what they mean. */
async function twinOf(
  mind: Mind,
  { fact, vector }: Known,
  { byWords, learnt }: Others,
): Promise<Fact | undefined> {
  const { same = 0.95 } = mind.options
  const isOf = (other: Fact) => other.kind === 'fact' && other.user === fact.user && other.id !== fact.id
  const twin = byWords.get(wordsOf(fact))
  if (twin && isOf(twin)) return twin
  if (!vector) return undefined
  const others = [...learnt.values()]
  const near = others.find((other) => other.vector && isOf(other.fact) && dot(vector, other.vector) >= same)
  if (near) return near.fact
  const filter = { kind: 'fact' as const, ...(fact.user !== undefined && { user: fact.user }) }
  const found = await mind.store.nearest({ text: fact.text, vector, count: 3, minScore: same, filter })
  return found.find((one) => isOf(one.fact))?.fact
}

/** Facts with their vectors, those that say something. */
async function knownOf(
  mind: Mind,
  given: readonly (string | NewFact)[],
  signal?: AbortSignal,
  shared?: ReadonlySet<string>,
) {
  const facts = given.map((fact) => factOf(mind, fact, shared)).filter(({ text }) => text !== '')
  const texts = facts.map(({ text }) => text)
  const vectors = await vectorsOf(mind, texts, signal)
  return facts.map((fact, at): Known => ({ fact, vector: vectors[at] }))
}

/** Adds facts one by one: what is said twice in one breath is also said once. */
async function learn(mind: Mind, said: readonly Known[]): Promise<Fact[]> {
  // Words are compared with all that is known; it is read once.
  const known = await mind.store.list({ kind: 'fact' })
  const byWords = new Map(known.map((fact) => [wordsOf(fact), fact]))
  const learnt = new Map<string, Known>()
  for (const { fact, vector } of said) {
    const isFact = fact.kind === 'fact'
    const twin = isFact ? await twinOf(mind, { fact, vector }, { byWords, learnt }) : undefined
    const kept = twin ? { ...fact, id: twin.id } : fact
    learnt.set(kept.id, { fact: kept, vector })
    if (isFact) byWords.set(wordsOf(kept), kept)
  }
  await mind.store.put([...learnt.values()])
  return [...learnt.values()].map(({ fact }) => fact)
}

/** A filter that, unless it says whose facts are meant, means those of the memory's user. */
function ownOf({ options }: Mind, { user = options.user, ...filter }: FactFilter): FactFilter {
  return user === undefined ? filter : { user, ...filter }
}

async function search(mind: Mind, text: string, options: SearchOptions): Promise<readonly Found[]> {
  const { embed, count = 5, minScore = embed ? 0.3 : 0 } = mind.options
  const { signal, exclude, ...rest } = options
  if (text.trim() === '') return []
  const [vector] = await vectorsOf(mind, [text], signal)
  const { count: most = count, minScore: least = minScore, ...filter } = rest
  return mind.store.nearest({
    text,
    vector,
    count: most,
    minScore: least,
    filter: ownOf(mind, filter),
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
  let last: Promise<unknown> = Promise.resolve()
  const add: Memory['add'] = async (given, { signal } = {}) => {
    const said = await knownOf(mind, given, signal)
    // What is added at once is compared with each other, too.
    const learnt = last.then(() => learn(mind, said))
    last = learnt.catch(() => undefined)
    return learnt
  }

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
    facts: (filter = {}) => store.list(ownOf(mind, filter)),
    async import(facts, { signal } = {}) {
      // What is everybody's stays so, though somebody takes it in that lists it: else it would be lost to all others.
      const known = await store.list({})
      const shared = new Set(known.filter(({ user }) => user === undefined).map(({ id }) => id))
      return store.put(await knownOf(mind, facts, signal, shared))
    },
    forget: (filter) => store.delete(ownOf(mind, filter)),
  }
}
