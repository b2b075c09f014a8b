import type { Source } from './source.ts'

/** A small file that a rule is tried on: where it would lie, and its text. */
export type Sample = readonly [path: string, text: string]

export interface Rule {
  /** As a sentence, for the test's name. */
  says: string
  /** What is wrong with a file, each with its line; empty for most files. */
  check(source: Source): readonly string[]
  /** Files it must object to: a rule that cannot fail is no rule. */
  bad: readonly Sample[]
  /** Files near the border that it must let through. */
  good: readonly Sample[]
}
