import * as z from 'zod/mini'

/** Something worth to be known later: a fact, or a message that was said. */
export const Fact = z.object({
  id: z.string(),
  kind: z.enum(['fact', 'message']),
  text: z.string(),
  /** Whose it is; absent: everybody's. */
  user: z.optional(z.string()),
  /** Where it was learnt. */
  sessionId: z.optional(z.string()),
  /** In words for the model, such as the name of a document. */
  source: z.optional(z.string()),
  /** Milliseconds since the epoch: when it was learnt, or confirmed last. */
  at: z.number(),
  /** Milliseconds since the epoch, after which it is not known any more. */
  expiresAt: z.optional(z.number()),
})
export type Fact = z.infer<typeof Fact>

/** A fact that is to be kept. */
export interface NewFact extends Omit<Fact, 'id' | 'kind' | 'at'> {
  /** Replaces the fact of this id. @default a new one */
  id?: string
  /** @default 'fact' */
  kind?: Fact['kind']
  /** @default now */
  at?: number
}

/** Which facts are meant: those of which all of this is true. */
export interface FactFilter {
  ids?: ReadonlySet<string> | readonly string[]
  /** This user's; in a search, everybody's as well. */
  user?: string
  sessionId?: string
  kind?: Fact['kind']
}

/** Whether a fact is still known. */
export const lives = ({ expiresAt }: Fact, now: number): boolean => expiresAt === undefined || expiresAt > now

/**
 * The filter as a question.
 * @param shared whether what belongs to nobody is everybody's
 */
export function matches(
  { ids, user, sessionId, kind }: FactFilter,
  shared: boolean,
): (fact: Fact) => boolean {
  const wanted = ids && new Set(ids)
  return (fact) =>
    (!wanted || wanted.has(fact.id)) &&
    (user === undefined || fact.user === user || (shared && fact.user === undefined)) &&
    (sessionId === undefined || fact.sessionId === sessionId) &&
    (kind === undefined || fact.kind === kind)
}

/** What two texts that say the same in other spaces, capitals and full stops have in common. */
export const sameWords = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s.!]+/gu, ' ')
    .trim()
