import type { Counts } from './tally.ts'

/** What text is made of: see `Counts`. */
export type TextClass = 'words' | 'signs' | 'alphabets' | 'ideographs'

/** What reports have taught about one model. Plain data: keep it by model, hand it to the next estimator. */
export interface Calibration {
  /** What a token of each class really costs, then what a message costs beside its content. */
  readonly values: readonly number[]
  /** How unsure each of them is, and how much of that they have in common: variances and covariances, a row for each. */
  readonly doubt: readonly (readonly number[])[]
  readonly reports: number
  /** The last request that was counted: what comes on top of it is all that has to be estimated. */
  readonly last?: CountedRequest
}

export interface CountedRequest {
  readonly counts: Counts
  /** Tokens of the whole request, as the provider counted them. */
  readonly actual: number
  /** Whose request it was. */
  readonly session?: string | undefined
}

/** No token is believed to cost less. */
const LEAST = 0.05
/**
 * How far off one report may be by itself: a part of what is new in it, and some tokens, which grow with the root of that. Of a
 * short text more is chance than of a long one.
 */
const NOISE = 0.06
const NOISE_TOKENS = 4

/** How unsure a class of text is, of a family that is known and of one that is not, and what a message costs. */
const KNOWN = 0.004
const UNKNOWN = 0.3
const MESSAGE = 4
/** Where a tokenizer is not known, what one class of text is off by says so much of the others. */
const ALIKE = 0.09

/** What is believed before anybody reported: little can be wrong with a family that is known, much with one that is not. */
export function uncalibrated(messageOverhead: number, known: boolean): Calibration {
  const values = [1, 1, 1, 1, messageOverhead]
  const between = (at: number, other: number): number => {
    if (at === other) return at > 3 ? MESSAGE : known ? KNOWN : UNKNOWN
    return known || at > 3 || other > 3 ? 0 : ALIKE
  }
  const doubt = values.map((_, at) => values.map((_, other) => between(at, other)))
  return { values, doubt, reports: 0 }
}

/**
 * What has come since the last counted request of the same session, which itself is known without estimating; everything, where
 * there is none.
 */
function since({ last }: Calibration, counts: Counts, session: string | undefined): number[] {
  const base = last?.session === session ? last : undefined
  return counts.map(
    (count, at) => count - (base?.counts[at] ?? 0) + (at > CLASSES.length ? (base?.actual ?? 0) : 0),
  )
}

/** Of all messages of a history, each time: a loop, since that is fast. */
function dot(values: readonly number[], fresh: readonly number[]): number {
  let sum = 0
  for (let at = 0; at < fresh.length; at++) sum += (fresh[at] ?? 0) * (values[at] ?? 1)
  return sum
}

/** Tokens of counts alone, whatever was counted before. */
export const costOf = ({ values }: Calibration, counts: readonly number[]): number => dot(values, counts)

/** Tokens of a request: what was counted, and an estimate of what is new. */
export const tokensOf = (calibration: Calibration, counts: Counts, session?: string): number =>
  costOf(calibration, since(calibration, counts, session))

export interface Lesson {
  calibration: Calibration
  /** The class that the error is put down to most. */
  suspect: TextClass
}

/** Learns from a request that was counted: Kalman's filter over what a token of each class costs. */
export function learn(calibration: Calibration, { counts, actual, session }: CountedRequest): Lesson {
  const { values, doubt, reports } = calibration
  const fresh = since(calibration, counts, session).slice(0, values.length)
  const size = fresh.reduce((sum, count) => sum + Math.abs(count), 0)
  const pulls = doubt.map((row) => dot(row, fresh))
  const blame = pulls.map((pull, at) => pull * (fresh[at] ?? 0))
  const spread = dot(pulls, fresh) + NOISE_TOKENS ** 2 * (1 + size) + (NOISE * size) ** 2
  const miss = actual - tokensOf(calibration, counts, session)
  // A report that cannot be true of the text alone teaches no more than one that just can.
  const limit = 3 * Math.sqrt(spread)
  const step = Math.max(-limit, Math.min(limit, miss)) / spread
  return {
    calibration: {
      values: values.map((value, at) => Math.max(LEAST, value + step * (pulls[at] ?? 0))),
      doubt: doubt.map((row, at) =>
        row.map((variance, other) => variance - ((pulls[at] ?? 0) * (pulls[other] ?? 0)) / spread),
      ),
      reports: reports + 1,
      last: { counts, actual, session },
    },
    suspect: CLASSES[blame.indexOf(Math.max(...blame.slice(0, CLASSES.length)))] ?? 'words',
  }
}

const CLASSES = ['words', 'signs', 'alphabets', 'ideographs'] as const
