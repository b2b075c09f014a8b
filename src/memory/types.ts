import type { ChatStorage } from '../chat/ports.ts'
import type { Recall } from '../context/recalled.ts'
import type { Env } from '../lib/env.ts'
import type { Message } from '../message/schema.ts'
import type { Fact, FactFilter, NewFact } from './fact.ts'
import type { Embed, Found, MemoryStore, TextSearch } from './ports.ts'

/** Finds in messages what is worth to be known later: as texts, or with what else is known of them. */
export type Extract = (
  messages: readonly Message[],
  options: { signal: AbortSignal },
) => Promise<readonly (string | NewFact)[]>

export interface MemoryOptions {
  /** Makes vectors of texts: facts are found by what they mean. Without it, `search` finds them by their words. */
  embed?: Embed
  /** Finds facts by their words, such as `new MiniSearch({ fields: ['text'] })`. */
  search?: TextSearch
  /** Where facts are kept: that of the chat will do. */
  storage?: Pick<ChatStorage, 'records' | 'commit'>
  /** Instead of `storage`: a vector database. */
  store?: MemoryStore
  /** Names one memory of several in a storage. @default 'memory' */
  name?: string
  /** Whose memory it is: what is added is this user's, and nobody else's is found, listed or forgotten. @default nobody's and everybody's */
  user?: string
  /** Most that a search finds. @default 5 */
  count?: number
  /** What is found has a higher score. @default a cosine of 0.3; any score of a text search */
  minScore?: number
  /** From this cosine on, two facts say the same, and the newer one stays. @default 0.95 */
  same?: number
  /** Milliseconds after which a fact is forgotten that does not say so itself. @default never */
  ttl?: number
  /** For `remember`, such as `factsBy(model)`. */
  extract?: Extract
  /** @default the platform's clock and ids */
  env?: Partial<Env>
}

export interface SearchOptions extends FactFilter {
  count?: number
  minScore?: number
  /** Ids that are not asked for. */
  exclude?: ReadonlySet<string>
  signal?: AbortSignal
}

/** What is known beyond a conversation. Failures are thrown as `TidemarkError`; what `embed` and `extract` throw, as it is. */
export interface Memory {
  /** Adds facts. One that says what is known already confirms it: the newer words stay, under the old id. */
  add(facts: readonly (string | NewFact)[], options?: { signal?: AbortSignal }): Promise<readonly Fact[]>
  /** Adds messages of a conversation by what they say, under their own ids. What is not settled is left out. */
  addMessages(messages: readonly Message[], options?: { signal?: AbortSignal }): Promise<readonly Fact[]>
  /**
   * Adds what `extract` finds in a conversation, at its end or whenever it is time. Throws `invalid-request` without
   * `extract`.
   */
  remember(
    sessionId: string,
    messages: readonly Message[],
    options?: { signal?: AbortSignal },
  ): Promise<readonly Fact[]>
  /** The nearest to a text, the nearest first. */
  search(text: string, options?: SearchOptions): Promise<readonly Found[]>
  /** For a context: the nearest to what was asked that is not in the window anyway, and where it comes from. */
  readonly recall: Recall
  /** Everything that is known, to the memory's user where it has one, in the order in which it was learnt: as JSON it is an export. */
  facts(filter?: FactFilter): Promise<readonly Fact[]>
  /**
   * Adds facts as they are, such as those of another device; those of the same id are replaced. With all that `facts` lists,
   * another embedder takes over. What is nobody's becomes the memory's user's, but for what is known as everybody's.
   */
  import(facts: readonly Fact[], options?: { signal?: AbortSignal }): Promise<void>
  /** Forgets facts, by `{}` all of them, or all of the memory's user; resolves with how many. */
  forget(filter: FactFilter): Promise<number>
}
