import type { DraftTurn, Space } from '../context/draft.ts'
import type { SessionRecords } from '../context/session-records.ts'
import {
  bestSummary,
  type Digests,
  planSummary,
  Summary,
  type SummaryPlan,
  type SummaryThresholds,
  summaryInput,
} from '../context/summary.ts'
import type { Env } from '../lib/env.ts'
import type { ErrorData } from '../lib/error-data.ts'
import { errorData, TidemarkError } from '../lib/errors.ts'
import { expectNumber } from '../lib/expect.ts'
import type { Message } from '../message/schema.ts'
import { lateness } from './lateness.ts'

/**
 * Puts messages into few words: an app's own function, or a model (`summariseWith`). Where there is a summary already, the first
 * message is it, to be extended. Must keep what cannot be found out again, as far as it can; pins do not depend on it.
 */
export type Summarise = (
  messages: readonly Message[],
  options: { signal: AbortSignal },
) => string | Promise<string>

/** What became of the summary of one call. */
export interface SummaryReport {
  /**
   * `kept`: made before. `made` or `extended` for this call. `late`, `failed`, `aborted`: a new one was due and is not there;
   * what a former one does not stand for is sent, or dropped where it does not fit.
   */
  state: 'kept' | 'made' | 'extended' | 'late' | 'failed' | 'aborted'
  /** How many messages the summary that is used stands for. */
  messages: number
  error?: ErrorData
}

export interface SummaryOptions extends SummaryThresholds {
  /** Milliseconds that a model call waits for a summary. @default 20_000 */
  patience?: number
}

/** One call's view of a history. */
export interface SummaryInput {
  sessionId: string
  /** As they are in the history. */
  turns: readonly DraftTurn[]
  /** As they would be sent: shortened, and without secrets. */
  shown: readonly DraftTurn[]
  /** Messages that no summary may swallow. */
  pinned: ReadonlySet<string>
  space: Space
  env: Env
  signal: AbortSignal
  records: SessionRecords | undefined
  /** Only what is there already. */
  preview: boolean
}

/** What is known of one session. */
interface Known {
  summaries: readonly Summary[]
  /** A summariser at work, and whether somebody has waited for it in vain: nobody does so again. */
  job?: { done: Promise<Summary | ErrorData>; late: boolean } | undefined
  /** What could not be summarised: not tried again before there is more. */
  failed?: { digest: string; error: ErrorData }
}

const KIND = 'summary'
/** Summaries kept of a session: of the branch that grows, and of others that one may come back to. */
const MOST_SUMMARIES = 4
/** Sessions whose summaries are kept in memory. */
const MOST_SESSIONS = 100
const PATIENCE = 20_000
/** A summary takes at most this part of the space, */
const MOST_SHARE = 0.5
/** and, beyond so many tokens, no more than what it stands for. */
const SHORT = 1_000

/** Those that stand for most, this one among them. */
const withSummary = (all: readonly Summary[], made: Summary): Summary[] =>
  [
    made,
    ...all.filter(({ digest }) => digest !== made.digest).toSorted((a, b) => b.ids.length - a.ids.length),
  ].slice(0, MOST_SUMMARIES)

export interface SummaryOutcome {
  /** The summary to use, and for how many of the turns it stands. */
  use?: { summary: Summary; covered: number }
  report?: SummaryReport
}

export interface Summaries {
  /** The summary to use, and what became of a new one. Never throws. */
  of(input: SummaryInput): Promise<SummaryOutcome>
}

/** What one summariser has made, and is making. */
interface Keeper {
  summarise: Summarise
  options: SummaryOptions
  sessions: Map<string, Known>
  digests: Digests
}

async function knownOf({ sessions }: Keeper, { sessionId, records }: SummaryInput): Promise<Known> {
  const read = sessions.has(sessionId) ? [] : await stored(records)
  const known = sessions.get(sessionId) ?? { summaries: read }
  sessions.delete(sessionId)
  sessions.set(sessionId, known)
  for (const id of sessions.keys()) if (sessions.size > MOST_SESSIONS) sessions.delete(id)
  return known
}

/** How long a summary of so many turns is, and how long it may be: it is there to make room. */
function lengthOf(text: string, { space, shown }: SummaryInput, covered: number) {
  const stoodFor = shown.slice(0, covered).reduce((sum, { tokens }) => sum + tokens, 0)
  const most = Math.floor(Math.min(space.available * MOST_SHARE, Math.max(SHORT, stoodFor)))
  return { tokens: space.estimate.text(text), most }
}

/** Asks the summariser. Never rejects. */
async function make(
  { summarise }: Keeper,
  known: Known,
  input: SummaryInput,
  { plan, present }: { plan: SummaryPlan; present: Summary | undefined },
): Promise<Summary | ErrorData> {
  try {
    const messages = summaryInput(input.shown, plan, present?.text, input.pinned)
    const text = await summarise(messages, { signal: input.signal })
    if (typeof text !== 'string' || text.trim() === '')
      throw new TidemarkError('protocol', 'summarise: expected a text that is not empty')
    const { tokens, most } = lengthOf(text, input, plan.covered)
    if (tokens > most)
      throw new TidemarkError('protocol', `summarise: expected at most ${most} tokens, got ${tokens}`)
    const made = { ids: [...plan.ids], digest: plan.digest, text }
    const before = known.summaries
    known.summaries = withSummary(before, made)
    const gone = before.filter((one) => !known.summaries.includes(one)).map(({ digest }) => digest)
    // What cannot be stored is made again another time.
    await input.records?.write(KIND, [{ key: made.digest, value: made }], gone).catch(() => undefined)
    return made
  } catch (thrown) {
    const error = errorData(thrown, 'server')
    if (error.code !== 'aborted') known.failed = { digest: plan.digest, error }
    return error
  }
}

/** The summary to use; where it is time for another, that one, if it comes in time. */
async function use(keeper: Keeper, known: Known, input: SummaryInput, late: Promise<'late' | 'aborted'>) {
  const sizes = input.shown.map(({ tokens }) => tokens)
  const { available, estimate } = input.space
  // One that was made for a larger window would take the place of what it stands for, and then not fit itself.
  const fits = ({ text }: Summary) => estimate.text(text) <= available * MOST_SHARE
  let state: SummaryReport['state'] = 'kept'
  for (;;) {
    const best = bestSummary(input.turns, known.summaries.filter(fits), keeper.digests)
    const covered = best?.covered ?? 0
    const plan = planSummary(input.turns, sizes, covered, input.space, keeper.options, keeper.digests)
    if (!plan || input.preview) return best ? outcomeOf(best, state) : {}
    if (known.failed?.digest === plan.digest) return outcomeOf(best, 'failed', known.failed.error)
    // One call at a time: who finds another waits for that.
    const others = known.job
    const done = () =>
      make(keeper, known, input, { plan, present: best?.summary }).finally(() => {
        known.job = undefined
      })
    const job = others ?? { done: done(), late: false }
    known.job = job
    const outcome = await Promise.race([job.done, job.late ? ('late' as const) : late])
    if (outcome === 'late') job.late = true
    if (outcome === 'late' || outcome === 'aborted') return outcomeOf(best, outcome)
    // Another call's summary was given up with that call; this one still wants it.
    if (others && 'code' in outcome && outcome.code === 'aborted' && !input.signal.aborted) continue
    if ('code' in outcome) return outcomeOf(best, outcome.code === 'aborted' ? 'aborted' : 'failed', outcome)
    state = best || state !== 'kept' ? 'extended' : 'made'
  }
}

/** Summaries of sessions: read, used while they are true, extended when it is time; one call at a time in each session. */
export function keepSummaries(summarise: Summarise, options: SummaryOptions = {}): Summaries {
  for (const [name, value] of Object.entries(options)) expectNumber(`summary.${name}`, value)
  const keeper: Keeper = { summarise, options, sessions: new Map(), digests: new WeakMap() }
  return {
    async of(input) {
      const known = await knownOf(keeper, input)
      const wait = new AbortController()
      try {
        return await use(keeper, known, input, lateness(input, options.patience ?? PATIENCE, wait))
      } finally {
        wait.abort()
      }
    },
  }
}

const outcomeOf = (
  best: ReturnType<typeof bestSummary>,
  state: SummaryReport['state'],
  error?: ErrorData,
): SummaryOutcome => ({
  ...(best && { use: best }),
  report: { state, messages: best?.summary.ids.length ?? 0, ...(error && { error }) },
})

/** What is stored that can be read. */
async function stored(records: SessionRecords | undefined): Promise<Summary[]> {
  try {
    const rows = (await records?.read(KIND)) ?? []
    return rows.flatMap(({ value }) => Summary.safeParse(value).data ?? [])
  } catch {
    return []
  }
}
