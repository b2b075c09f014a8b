import { expectOption } from '../lib/expect.ts'
import type { Message } from '../message/schema.ts'
import {
  type Calibration,
  type CountedRequest,
  costOf,
  learn,
  type TextClass,
  tokensOf,
  uncalibrated,
} from './calibration.ts'
import { FAMILIES, type Family, familyOf } from './families.ts'
import { type CountableRequest, type Counts, createTally, type Tally, type TallyOptions } from './tally.ts'
import { type TextCounter, type TextPosition, tableCounter, tokenizerCounter } from './text-counter.ts'
import type { Spread, TokenTables } from './token-code.ts'
import { smallSpread, smallTables } from './token-tables.ts'

export interface EstimatorOptions extends TallyOptions {
  /** @default by `model` */
  family?: Family
  /** A real tokenizer: then nothing but what is around the text is estimated. */
  count?: (text: string) => number
  /** Tokens a message costs beside its content. `overheadsOf(model)` knows more of these. @default 4 */
  messageOverhead?: number
  /** What earlier reports have taught: what `calibrate` gave. */
  calibration?: Calibration
  /** Told once, when a provider's count is far outside of the bounds. */
  onSurprise?: (surprise: Surprise) => void
}

/** A count that the estimate was far from. */
export interface Surprise {
  estimated: number
  actual: number
  /** The class of text that it is put down to most. */
  suspect: TextClass
}

/** Where counting a text stands. Plain data; what is appended next goes on from here. */
export interface TextState extends TextPosition {
  /** Of all that was appended. */
  readonly tokens: number
}

/** Tokens, both included. */
export interface Bounds {
  low: number
  high: number
}

/** A request, or what was measured of it, and the tokens it turned out to have: all of its input, cached or not. */
export type CalibrationReport = (CountableRequest & { actual: number }) | CountedRequest

/** Says how many tokens something will cost, before anybody counted. All counts are whole and never negative. */
export interface Estimator {
  text(text: string): number
  /** With what a message costs beside its content. An answer of the same model costs what its usage says, less its reasoning. */
  message(message: Message): number
  /** What a text or a message is made of: it stays the same, whatever is learnt. */
  counts(of: string | Message): Counts
  /** What that costs, by what was learnt. */
  cost(counts: Counts): number
  /** A whole request: what was counted of its session already, and an estimate of what is new. */
  messages(messages: Iterable<Message>, rest?: Omit<CountableRequest, 'messages'>): number
  /** Goes on counting a text. Costs what is appended; the sum is that of the whole text, however it is cut. */
  append(state: TextState | undefined, text: string): TextState
  /** What a request is made of, to be kept until its count arrives. */
  measure(request: CountableRequest): Counts
  /**
   * Learns from a provider's count, and gives what to keep for the next estimator of the model. A count that is no positive
   * number teaches nothing.
   */
  calibrate(report: CalibrationReport): Calibration
  /** Holds nine of ten counts. Of the tokens, `counted` are known and not in doubt. @default counted 0 */
  bounds(tokens: number, counted?: number): Bounds
}

/** How far off an unknown tokenizer may be besides, as a part of the estimate, until it has been counted by. */
const UNKNOWN = 1.1
/** How many times the width of the bounds is worth a word. */
const FAR = 2

const whole = (tokens: number): number => Math.max(0, Math.round(tokens))

/** No request has no tokens: a server that says so, or nothing that is a number, has not counted. */
const isCount = (tokens: number): boolean => tokens > 0 && tokens < Number.POSITIVE_INFINITY

/** What has been counted of a session already. */
const countedOf = ({ last }: Calibration, session: string | undefined): number =>
  last && last.session === session ? last.actual : 0

function countedBy(
  tally: Tally,
  { messages, actual, ...rest }: CountableRequest & { actual: number },
): CountedRequest {
  const all = [...messages]
  return { counts: tally.request({ ...rest, messages: all }), actual, session: all[0]?.sessionId }
}

/** Throws `invalid-request` where a family or a tokenizer is none. */
function counterOf(tables: TokenTables, family: Family, count: EstimatorOptions['count']): TextCounter {
  expectOption(FAMILIES.includes(family), `family: expected one of ${FAMILIES.join(', ')}, got ${family}`)
  expectOption(!count || typeof count === 'function', `count: expected a function, got ${count}`)
  return count ? tokenizerCounter(count) : tableCounter(tables, family)
}

export function estimatorOf(tables: TokenTables, spread: Spread, options: EstimatorOptions): Estimator {
  const { count, messageOverhead = 4, onSurprise } = options
  const known = options.family ?? familyOf(options.model ?? 'gpt')
  const family = known ?? 'o200k'
  const counter = counterOf(tables, family, count)
  const tally = createTally(counter, family, options)
  let calibration = options.calibration ?? uncalibrated(messageOverhead, known !== undefined)
  let isTold = false
  const estimate = ({ counts, session }: CountedRequest): number =>
    whole(tokensOf(calibration, counts, session))
  const alone = (counts: Counts): number => whole(costOf(calibration, counts))
  /** Nine of ten counts are nearer. */
  const reach = (fresh: number): number => {
    if (count) return 1
    const [stays, shrinks] = spread
    const doubt = known ? 0 : UNKNOWN / (1 + calibration.reports)
    return Math.ceil(fresh * (stays + doubt) + Math.sqrt(fresh) * shrinks) + 1
  }
  return {
    text: (text) => alone(tally.text(text)),
    message: (message) => alone(tally.message(message)),
    counts: (of) => (typeof of === 'string' ? tally.text(of) : tally.message(of)),
    cost: alone,
    messages: (messages, rest) => estimate(countedBy(tally, { ...rest, messages, actual: 0 })),
    append(state, text) {
      const { parts, ...position } = counter.append(state, text)
      return { ...position, tokens: alone([...parts, 0, 0]) }
    },
    measure: tally.request,
    calibrate(report) {
      const counted = 'counts' in report ? report : countedBy(tally, report)
      const { actual, session } = counted
      if (!isCount(actual)) return calibration
      const estimated = estimate(counted)
      const { calibration: learnt, suspect } = learn(calibration, counted)
      const fresh = estimated - countedOf(calibration, session)
      if (!isTold && Math.abs(actual - estimated) > FAR * reach(Math.abs(fresh))) {
        isTold = true
        onSurprise?.({ estimated, actual, suspect })
      }
      calibration = learnt
      return learnt
    },
    bounds(tokens, counted = 0) {
      const by = reach(Math.abs(tokens - counted))
      return { low: Math.max(0, tokens - by), high: tokens + by }
    },
  }
}

/**
 * An estimator of tokens: small tables in place of a vocabulary, one pass, no network. Its mean error over 48 kinds of text and
 * eight tokenizers is under 5 % on long texts and 9 % on short ones. It learns from what providers count.
 */
export const createEstimator = (options: EstimatorOptions = {}): Estimator =>
  estimatorOf(smallTables, smallSpread, options)
