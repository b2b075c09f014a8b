import { capabilitiesOf } from '../adapters/capabilities.ts'
import { type AssembledContext, applied, closeDraft } from '../context/assemble.ts'
import type { Draft, Policy, Space } from '../context/draft.ts'
import { keptEstimates } from '../context/kept-estimates.ts'
import { type MixOptions, recommendedMix } from '../context/mix.ts'
import { recalled } from '../context/notes.ts'
import { type AssembleOptions, openDraft } from '../context/open-draft.ts'
import type { Recall } from '../context/recalled.ts'
import type { SessionRecords } from '../context/session-records.ts'
import { summarised } from '../context/summary.ts'
import type { ErrorData } from '../lib/error-data.ts'
import { expectNumber, expectOption } from '../lib/expect.ts'
import { modelEstimates } from './model-estimates.ts'
import { recaller } from './recaller.ts'
import type { ContextInput } from './run-turn.ts'
import {
  keepSummaries,
  type Summaries,
  type Summarise,
  type SummaryOptions,
  type SummaryReport,
} from './summaries.ts'
import type { WatchCalls } from './watch.ts'

export interface DefaultContextOptions extends MixOptions, Pick<AssembleOptions, 'reserve' | 'interrupted'> {
  /** What estimates for every model. @default for each model its own, which learns from each call and keeps what it learnt */
  estimate?: AssembleOptions['estimate']
  /** Tokens the model can hold. @default what is known of the model by its name (`capabilitiesOf`), else no limit */
  window?: number
  /** Makes summaries of the oldest turns, when there are many. @default none are made */
  summarise?: Summarise
  /** When a summary is due, and how long a call waits for it. */
  summary?: SummaryOptions
  /** Where summaries are kept. @default with `direct` the chat's own storage, else the memory of this process */
  records?: (sessionId: string) => SessionRecords
  /**
   * Looks for what may help to answer, once for each question; it is told the question as it was written, whatever `redact`
   * replaces in what is sent. @default nothing is looked for
   */
  recall?: Recall
  /** Milliseconds that a model call waits for what is recalled, and then does without. @default 10_000 */
  recallPatience?: number
  /** Policies of your own, before the history is cut. */
  policies?: readonly Policy[]
}

/** What is sent, and how it came about. */
export interface DefaultContext extends AssembledContext {
  /** Where a summary is used, or is due. */
  summary?: SummaryReport
  /** Why nothing was recalled, where looking for it failed. */
  recallError?: ErrorData
}

function summariesOf({ summarise, summary }: DefaultContextOptions, turns: number): Summaries {
  const expected =
    "summarise: expected a function, such as summariseWith(model), for the strategy 'summarize'"
  expectOption(summarise !== undefined, expected)
  return keepSummaries(summarise, { turns, ...summary })
}

/**
 * The mix that is recommended for long conversations with tools: the instructions first and untouched; pins; the task; the last
 * turns whole; older tool results as their conclusion, errors a while longer and then as a line; oversized results cut; a
 * summary of the oldest turns, where `summarise` is given; what was recalled; room for the answer; the newest message last.
 * Every part is an option. Make one for all calls of a runtime: it remembers estimates and copies. Tokens are estimated for the
 * model that is asked, and each count of its provider teaches; in `direct`, what was learnt is kept by model.
 *
 * @example
 * direct({ model, context: defaultContext({ summarise: summariseWith(smallModel) }) })
 */
export function defaultContext(
  options: DefaultContextOptions = {},
): ((input: ContextInput) => Promise<DefaultContext>) & { watch?: WatchCalls } {
  const { summarise, strategy = summarise ? 'summarize' : 'drop_oldest_pair', turns = 5 } = options
  expectNumber('recallPatience', options.recallPatience)
  const mix = recommendedMix({ ...options, strategy, turns })
  const own = options.estimate && keptEstimates(options.estimate)
  const byModel = modelEstimates()
  const recallFor = recaller(options.recall, turns, options.recallPatience)
  const summaries = strategy === 'summarize' ? summariesOf(options, turns) : undefined

  async function summaryFor(given: Draft, first: Draft, space: Space, input: ContextInput) {
    const { sessionId, env, signal, preview = false } = input
    const pinned = new Set(
      first.notes.flatMap(({ kind, of }) => (kind === 'pins' && of !== undefined ? [of] : [])),
    )
    return summaries?.of({
      ...{ sessionId, env, signal, preview, space, pinned },
      turns: given.turns,
      shown: first.turns,
      records: options.records?.(sessionId) ?? input.records,
    })
  }

  const assemble = async (input: ContextInput): Promise<DefaultContext> => {
    const estimate = own ?? (await byModel.of(input))
    const window = options.window ?? capabilitiesOf(input.model).contextWindow
    const opened = openDraft({ ...input, ...options, estimate, ...(window !== undefined && { window }) })
    const first = applied(opened.draft, mix.first, opened.space)
    const [summary, found] = await Promise.all([
      summaryFor(opened.draft, first.draft, opened.space, input),
      recallFor(opened.draft, input),
    ])
    const rest = [
      ...(summary?.use ? [summarised(summary.use.summary, summary.use.covered)] : []),
      recalled(found.items),
      ...(options.policies ?? []),
      ...mix.last,
    ]
    const last = applied(first.draft, rest, opened.space)
    return {
      ...closeDraft(opened, last.draft, [...first.names, ...last.names]),
      ...(summary?.report && { summary: summary.report }),
      ...(found.error && { recallError: found.error }),
    }
  }
  return own ? assemble : Object.assign(assemble, { watch: byModel.watch })
}
