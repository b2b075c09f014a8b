import type { Fact, FactFilter } from './fact.ts'

/** A fact with the vector of its text; without one where no embedder was given. */
export interface Known {
  fact: Fact
  /** Of length 1. */
  vector?: Float32Array | undefined
}

export interface NearestQuery {
  text: string
  /** Of length 1; absent where no embedder was given. */
  vector?: Float32Array | undefined
  /** Most answers. */
  count: number
  /** Answers have a higher score. */
  minScore: number
  filter: FactFilter
  /** Ids that are not asked for. */
  exclude?: ReadonlySet<string> | undefined
}

/** A fact that was found. */
export interface Found {
  fact: Fact
  /** The cosine, or what the text search says; the higher, the nearer. */
  score: number
}

/**
 * Where facts are kept and looked for: the chat's own storage, or a vector database. Failures are thrown as
 * `TidemarkError`, `storage` or `network`.
 */
export interface MemoryStore {
  /** Puts facts; those of the same id are replaced. */
  put(known: readonly Known[]): Promise<void>
  /** The nearest ones, the nearest first. What has expired is not among them. */
  nearest(query: NearestQuery): Promise<readonly Found[]>
  /** Facts in the order in which they were put. */
  list(filter: FactFilter): Promise<readonly Fact[]>
  /** Forgets facts; resolves with how many. */
  delete(filter: FactFilter): Promise<number>
}

/** Makes vectors of texts, one each, all of one length; it is asked for at most 256 at once. */
export type Embed = (
  texts: readonly string[],
  options: { signal: AbortSignal },
) => Promise<readonly ArrayLike<number>[]>

/** A search over texts in memory: a `MiniSearch` over the field `text` is one. */
export interface TextSearch {
  add(document: { id: string; text: string }): void
  discard(id: string): void
  search(text: string): readonly { id: string; score: number }[]
}
