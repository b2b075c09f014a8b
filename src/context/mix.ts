import { expectNumber, expectOption } from '../lib/expect.ts'
import type { Message } from '../message/schema.ts'
import { type ClipOptions, clipBlocks } from './clip.ts'
import { type CompactOptions, compactResults, squeezeNewest } from './compact.ts'
import type { NoteKind, Policy } from './draft.ts'
import {
  type FinishedTask,
  finishedTasks,
  type GoalOptions,
  goalNote,
  nearQuestion,
  type PinOptions,
  pins,
} from './notes.ts'
import { dropOldest, dropOldestTurns, slidingWindow } from './policies.ts'
import type { Redaction } from './redact.ts'

/** What goes where a history does not fit: single messages, whole turns, or, with a summariser, whole turns behind a summary. */
export type Strategy = 'drop_oldest' | 'drop_oldest_pair' | 'summarize'
const STRATEGIES: readonly Strategy[] = ['drop_oldest', 'drop_oldest_pair', 'summarize']

export interface MixOptions {
  /** Turns that stay whole, the newest one included; older tool results give way to their conclusion. @default 5 */
  turns?: number
  /** Turns for which errors of tools stay whole; then a line of each does. @default 3 */
  errors?: number
  /** Most tokens of a tool's result; what is longer is cut in its middle. @default 2_000 */
  toolResult?: number
  /** What is left to know of an old result. @default conclusionOf */
  conclude?: NonNullable<CompactOptions['conclude']>
  /** Facts and messages that are never dropped, shortened or summarised. @default messages whose metadata has `pinned: true` */
  pins?: PinOptions
  /** The user's task, restated. @default the first message, or the newest whose metadata has `goal: true` */
  goal?: GoalOptions | false
  /** Parts of the conversation that are over: a line stands for each. @default none */
  tasks?: readonly FinishedTask[] | ((messages: readonly Message[]) => readonly FinishedTask[])
  /** Most turns at all. @default no limit */
  maxTurns?: number
  /** Notes that stand before the newest question instead of behind the instructions. @default none */
  near?: readonly NoteKind[]
  /** Replaces what is secret. @default nothing is replaced */
  redact?: Redaction
  /** @default 'drop_oldest_pair', with a summariser 'summarize' */
  strategy?: Strategy
}

/** What is to be done before and after a summary takes the place of the oldest turns. */
export interface Mix {
  /** Notes are made of what must not get lost, then what is long is made short. No turn goes. */
  first: readonly Policy[]
  /** Turns go, and it is decided what stands where. */
  last: readonly Policy[]
}

/** The policies of the recommended mix, in their order. Made once and used for all calls, it remembers what it made short. */
export function recommendedMix(options: MixOptions = {}): Mix {
  const {
    turns = 5,
    errors = 3,
    toolResult,
    conclude,
    goal,
    tasks,
    maxTurns,
    near,
    redact,
    strategy,
  } = options
  expectOption(
    strategy === undefined || STRATEGIES.includes(strategy),
    `strategy: expected ${STRATEGIES.join(' or ')}, got ${strategy}`,
  )
  expectNumber('toolResult', toolResult)
  expectNumber('maxTurns', maxTurns)
  const clip: ClipOptions = toolResult === undefined ? {} : { results: toolResult }
  const short = conclude ? { conclude } : {}
  const drop = strategy === 'drop_oldest' ? dropOldest() : dropOldestTurns()
  return {
    first: [
      ...(redact ? [redact.policy] : []),
      pins(options.pins),
      ...(goal === false ? [] : [goalNote(goal)]),
      compactResults({ turns, errors, ...short }),
      clipBlocks(clip),
    ],
    last: [
      ...(tasks ? [finishedTasks(tasks)] : []),
      ...(maxTurns === undefined ? [] : [slidingWindow(maxTurns)]),
      squeezeNewest(short),
      ...(near ? [nearQuestion(near)] : []),
      ...(redact ? [redact.notes] : []),
      drop,
    ],
  }
}
