import type { ChatStorage } from '../chat/ports.ts'
import { type Env, platformEnv } from '../lib/env.ts'
import { TidemarkError } from '../lib/errors.ts'
import { BLOCK, EMPTY, type FactBlock, type Head, readBlock, readHead, writeBlocks } from './blocks.ts'
import { type Fact, lives, matches } from './fact.ts'
import { cosine, keepBest } from './nearest.ts'
import type { Found, Known, MemoryStore, NearestQuery, TextSearch } from './ports.ts'

export interface LocalStoreOptions {
  /** That of the chat will do: a memory has records of its own. */
  storage: Pick<ChatStorage, 'records' | 'commit'>
  /** Names one memory of several in a storage. @default 'memory' */
  name?: string
  /** Finds facts by their words, where they have no vectors. */
  search?: TextSearch | undefined
  /** Keeps tabs from changing the memory at once. @default the platform's, where it has locks */
  locks?: Pick<LockManager, 'request'> | undefined
  /** @default the platform's clock and ids */
  env?: Partial<Env>
}

/** A memory as this tab knows it. */
interface Shelf {
  head: Head
  blocks: FactBlock[]
}

interface Local {
  readonly options: LocalStoreOptions
  readonly name: string
  readonly env: Env
  shelf: Shelf
  /** What the text search knows: ids, and the text of each. */
  readonly indexed: Map<string, string>
}

/** Reads what another tab changed; the rest stays as it is. */
async function refresh(local: Local): Promise<Shelf> {
  const { options, name } = local
  const head = await readHead(options.storage, name)
  const { shelf } = local
  if (head.rev === shelf.head.rev) return shelf
  const known = new Map(shelf.head.blocks.map(({ id, rev }, at) => [`${id} ${rev}`, shelf.blocks[at]]))
  const blocks: FactBlock[] = []
  for (const { id, rev } of head.blocks)
    blocks.push(known.get(`${id} ${rev}`) ?? (await readBlock(options.storage, name, id, head.dims)))
  local.shelf = { head, blocks }
  index(local)
  return local.shelf
}

/** Tells the text search what is new, and what is gone. */
function index({ options: { search }, shelf, indexed }: Local): void {
  if (!search) return
  const present = new Map(shelf.blocks.flatMap(({ facts }) => facts.map((fact) => [fact.id, fact.text])))
  for (const [id, text] of indexed)
    if (present.get(id) !== text) {
      search.discard(id)
      indexed.delete(id)
    }
  for (const [id, text] of present)
    if (!indexed.has(id)) {
      search.add({ id, text })
      indexed.set(id, text)
    }
}

/** A block of these facts with their vectors. */
function blockOf(id: string, known: readonly Known[], dims: number): FactBlock {
  const values = new Float32Array(known.length * dims)
  for (const [at, { vector }] of known.entries()) if (vector) values.set(vector, at * dims)
  return { id, facts: known.map(({ fact }) => fact), values }
}

const knownOf = ({ facts, values }: FactBlock, dims: number): Known[] =>
  facts.map((fact, at) => ({ fact, vector: values.subarray(at * dims, (at + 1) * dims) }))

/** Puts a shelf in place of the one there is: only blocks that differ are written. */
async function replace(
  local: Local,
  shelf: Shelf,
  blocks: readonly FactBlock[],
  dims: number,
): Promise<Shelf> {
  const { options, name } = local
  const before = new Map(shelf.head.blocks.map((entry, at) => [shelf.blocks[at], entry]))
  const rev = shelf.head.rev + 1
  const entries = blocks.map((block) => before.get(block) ?? { id: block.id, rev })
  const ids = new Set(blocks.map(({ id }) => id))
  const head: Head = { rev, dims, blocks: entries }
  await writeBlocks(options.storage, name, head, {
    put: blocks.filter((block) => !before.has(block)),
    gone: shelf.head.blocks.flatMap(({ id }) => (ids.has(id) ? [] : [id])),
  })
  local.shelf = { head, blocks: [...blocks] }
  index(local)
  return local.shelf
}

/** The blocks without some facts, those that lose none as they are. */
function without({ blocks, head }: Shelf, isGone: (fact: Fact) => boolean): FactBlock[] {
  return blocks.flatMap((block) => {
    if (!block.facts.some(isGone)) return [block]
    const left = knownOf(block, head.dims).filter(({ fact }) => !isGone(fact))
    return left.length > 0 ? [blockOf(block.id, left, head.dims)] : []
  })
}

/** So many blocks are written in one transaction. */
const STRIDE = 4

/** Vectors of another embedder cannot be compared with those that are stored. */
function expectDims(
  { head, blocks }: { head: Pick<Head, 'dims'>; blocks: readonly FactBlock[] },
  vector: Float32Array | undefined,
): void {
  const length = vector?.length ?? 0
  if (blocks.length > 0 && length !== head.dims)
    throw new TidemarkError(
      'invalid-request',
      `embed: expected vectors of ${head.dims} numbers, as those that are stored, got ${length}; for another \
embedder, import all that facts() lists, where there are several users by a memory without a user`,
    )
}

async function put(local: Local, given: readonly Known[]): Promise<void> {
  let shelf = await refresh(local)
  const known = new Map(given.map((one) => [one.fact.id, one]))
  const dims = given[0]?.vector?.length ?? 0
  const now = local.env.now()
  let blocks = without(shelf, (fact) => known.has(fact.id) || !lives(fact, now))
  // Of what is replaced, the vectors do not matter: so another embedder takes over all that there is.
  for (const { vector } of given) expectDims({ ...shelf, blocks }, vector)
  const last = blocks.at(-1)
  let waiting = [...known.values()]
  if (last && last.facts.length < BLOCK) {
    const room = waiting.splice(0, BLOCK - last.facts.length)
    blocks = [...blocks.slice(0, -1), blockOf(last.id, [...knownOf(last, dims), ...room], dims)]
  }
  for (;;) {
    const next = waiting.slice(0, BLOCK * STRIDE)
    waiting = waiting.slice(next.length)
    for (let at = 0; at < next.length; at += BLOCK)
      blocks.push(blockOf(local.env.createId(), next.slice(at, at + BLOCK), dims))
    shelf = await replace(local, shelf, blocks, dims)
    if (waiting.length === 0) return
  }
}

/** The nearest by their vectors: each is looked at. */
function byVector(
  { blocks, head: { dims } }: Shelf,
  query: NearestQuery,
  vector: Float32Array,
  now: number,
): Found[] {
  const { count, minScore, filter, exclude } = query
  const best = keepBest<Fact>(count, minScore)
  const doubles = Float64Array.from(vector)
  const isMeant = matches(filter, true)
  for (const { facts, values } of blocks) {
    const vectors = { dims, values }
    for (const [row, fact] of facts.entries()) {
      // To ask whose a fact is costs a hundredth of comparing its vector.
      if (!isMeant(fact)) continue
      const score = cosine(vectors, row, doubles)
      if (score > best.least && !exclude?.has(fact.id) && lives(fact, now)) best.offer(score, fact)
    }
  }
  return best.items.map(({ score, item }) => ({ fact: item, score }))
}

function byWords({ blocks }: Shelf, query: NearestQuery, search: TextSearch, now: number): Found[] {
  const { text, count, minScore, filter, exclude } = query
  const known = matches(filter, true)
  const isMeant = (fact: Fact) => !exclude?.has(fact.id) && lives(fact, now) && known(fact)
  const hits = search.search(text)
  const wanted = new Set(hits.map(({ id }) => id))
  const facts = new Map<string, Fact>()
  for (const block of blocks)
    for (const fact of block.facts) if (wanted.has(fact.id)) facts.set(fact.id, fact)
  const found: Found[] = []
  for (const { id, score } of hits) {
    const fact = facts.get(id)
    if (found.length < count && score > minScore && fact && isMeant(fact)) found.push({ fact, score })
  }
  return found
}

/** Facts in a chat's storage, looked for in memory, all of them: exact, and fast enough for a hundred thousand. */
export function localStore(options: LocalStoreOptions): MemoryStore {
  const { name = 'memory', locks = globalThis.navigator?.locks } = options
  const env = { ...platformEnv, ...options.env }
  const local: Local = { options, name, env, shelf: { head: EMPTY, blocks: [] }, indexed: new Map() }
  let tail: Promise<unknown> = Promise.resolve()

  /** One after the other, over all tabs: who changes something knows all that is there. */
  function alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = tail.then(() => (locks ? locks.request(`tidemark:${name}`, work) : work()))
    tail = turn.catch(() => undefined)
    return turn
  }

  return {
    put: (known) => (known.length === 0 ? Promise.resolve() : alone(() => put(local, known))),
    async nearest(query) {
      const shelf = await refresh(local)
      if (query.vector) expectDims(shelf, query.vector)
      if (query.vector) return byVector(shelf, query, query.vector, env.now())
      return options.search ? byWords(shelf, query, options.search, env.now()) : []
    },
    async list(filter) {
      const isMeant = matches(filter, true)
      const now = env.now()
      const { blocks } = await refresh(local)
      return blocks.flatMap(({ facts }) => facts.filter((fact) => isMeant(fact) && lives(fact, now)))
    },
    delete: (filter) =>
      alone(async () => {
        const shelf = await refresh(local)
        const left = without(shelf, matches(filter, false))
        const count = (blocks: readonly FactBlock[]) =>
          blocks.reduce((sum, { facts }) => sum + facts.length, 0)
        const gone = count(shelf.blocks) - count(left)
        // Without facts, another embedder may begin.
        if (gone > 0) await replace(local, shelf, left, left.length > 0 ? shelf.head.dims : 0)
        return gone
      }),
  }
}
