import type { Model } from '../../src/adapters/contract.ts'
import type { Env } from '../../src/lib/env.ts'
import type { Message } from '../../src/message/schema.ts'
import type { ChatEvent, RunOutcome } from '../../src/protocol/events.ts'
import { type RunLog, type RunOptions, runTurn } from '../../src/turn/run-turn.ts'
import { tool as createTool, type Tool, type ToolOptions } from '../../src/turn/tool.ts'
import { userMessage } from '../support/messages.ts'
import { type Folded, fold } from './fold.ts'

/** A clock that ticks when it is read, a coin that shows heads, and sleep that is told of and over at once. */
export function stagedEnv(): Env & { slept: number[] } {
  let ticks = 1_000
  let ids = 0
  const slept: number[] = []
  return {
    slept,
    now: () => ticks++,
    random: () => 0.5,
    createId: () => `id${++ids}`,
    sleep: async (ms) => {
      // The time of a tool that names none is never over.
      if (ms === 60_000) return new Promise(() => {})
      slept.push(ms)
    },
  }
}

export interface Recorder extends RunLog {
  /** What was written, one entry an append. */
  readonly appends: (readonly ChatEvent[])[]
  readonly events: ChatEvent[]
  /** Most appends that were under way at one time. */
  readonly most: number
  /** Resolves when something of this type was appended. */
  seen(type: ChatEvent['type'], times?: number): Promise<void>
}

/** A log in memory. `write` is awaited in each append, and may refuse it. */
export function recorder(write: (events: readonly ChatEvent[]) => unknown = () => undefined): Recorder {
  const appends: (readonly ChatEvent[])[] = []
  const watchers = new Set<() => void>()
  let open = 0
  const log = {
    appends,
    most: 0,
    get events() {
      return appends.flat()
    },
    async append(events: readonly ChatEvent[]) {
      appends.push(events)
      log.most = Math.max(log.most, ++open)
      for (const watcher of watchers) watcher()
      try {
        await write(events)
      } finally {
        open--
      }
      return []
    },
    seen: (type: ChatEvent['type'], times = 1) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (log.events.filter((event) => event.type === type).length < times) return
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
        look()
      }),
  }
  return log
}

export interface Staged {
  outcome: RunOutcome | 'waiting'
  log: Recorder
  folded: Folded
  /** Of this run only. */
  messages: Message[]
}

export interface Play extends Partial<Omit<RunOptions, 'log'>> {
  model: Model
  log?: Recorder
}

export const options = ({ model, ...more }: Play): RunOptions & { log: Recorder } => ({
  runId: 'run1',
  sessionId: 's1',
  history: [userMessage('u1', 'What is a tidemark?')],
  assistantId: 'a1',
  env: stagedEnv(),
  signal: new AbortController().signal,
  model,
  ...more,
  log: more.log ?? recorder(),
})

/** Plays a run to its end. */
export async function play(given: Play): Promise<Staged> {
  const staged = options(given)
  const outcome = await runTurn(staged)
  const folded = fold(staged.log.events)
  return { outcome, log: staged.log, folded, messages: folded.messages }
}

/** A tool that does what the function does. */
export const tool = (
  name: string,
  execute: NonNullable<ToolOptions['execute']>,
  more: Partial<Omit<ToolOptions, 'name' | 'execute'>> = {},
): Tool => createTool({ name, parameters: {}, execute, ...more })

/** Names of the events, deltas next to each other as one. */
export const outline = (events: readonly ChatEvent[]): string[] =>
  events
    .map((event) => (event.type.startsWith('message.') ? event.type.slice(8) : event.type))
    .filter((name, at, all) => name !== 'delta' || all[at - 1] !== 'delta')

/** Each append in one line. */
export const appendsOf = (log: Recorder): string[] =>
  log.appends
    .map((events) => outline(events).join(' '))
    .filter((line, at, all) => line !== 'delta' || all[at - 1] !== 'delta')
