import type { CallOptions, Model } from '../../adapters/contract.ts'
import type { Env } from '../../lib/env.ts'
import type { RunOptions } from '../../turn/run-turn.ts'
import type { Tool } from '../../turn/tool.ts'
import type { WatchCalls } from '../../turn/watch.ts'
import type { CorsOptions } from '../http/cors.ts'
import type { Rate } from '../http/limits.ts'
import type { EventLog, HistoryStore } from '../ports.ts'

/** Limits of a chat handler. Each is finite unless you say `Infinity`. Counts by account are kept per instance. */
export interface ChatLimits {
  /** Bytes of a request's body. @default 1_000_000 */
  body: number
  /** Levels of nesting in a body. @default 32 */
  depth: number
  /** Blocks of a message. @default 100 */
  blocks: number
  /** Rows of a page, whatever `limit` asks for. @default 200 */
  page: number
  /** Event streams open at once, by account. @default 64 */
  feeds: number
  /** Requests by account. @default { max: 600, per: 60_000 } */
  requests: Rate
  /** Runs that wait in a session. @default 16 */
  queue: number
}

export const DEFAULT_LIMITS: Readonly<ChatLimits> = {
  body: 1_000_000,
  depth: 32,
  blocks: 100,
  page: 200,
  feeds: 64,
  requests: { max: 600, per: 60_000 },
  queue: 16,
}

export interface ChatHandlerOptions {
  /** Where sessions, messages, runs and events are kept. Not closed by the handler. */
  store: HistoryStore
  /** Where events are read from. @default the store's own */
  log?: EventLog
  /** What answers. */
  model: Model
  /** What the model may call. */
  tools?: readonly Tool[]
  /** Instructions for the model. */
  system?: string
  /** Options of every model call. */
  call?: CallOptions
  /**
   * What the model gets to see of a branch; `defaultContext()` is recommended for long ones. Summaries are kept in the memory of
   * this process, unless its option `records` says where. @default assembleContext
   */
  context?: NonNullable<RunOptions['context']>
  /** Most model calls in one run. @default 8 */
  maxSteps?: number
  /** Records of model calls kept of each session, for `session.calls()`: the newest. 0 keeps none. @default 100 */
  keepCalls?: number
  /** Who hears of each model call, such as `logger(…)`. */
  watch?: readonly WatchCalls[]
  /**
   * Who calls: the account that everything is scoped by, or null for nobody (401). Without it everyone is the account
   * `default`: for one user, or behind something that has asked already.
   */
  authorize?: (request: Request) => string | null | Promise<string | null>
  /** What comes before `/sessions` in the path. @default '' */
  basePath?: string
  /** Which other origins may call. @default none */
  cors?: CorsOptions
  limits?: Partial<ChatLimits>
  /** Milliseconds between signs of life on an event stream. @default 15_000 */
  heartbeat?: number
  /** Milliseconds for which deltas are gathered into one transaction. @default 30 */
  batch?: number
  /**
   * Milliseconds after which a run counts as dead whose producer has not renewed its lease. It renews three times as often.
   * @default 10_000
   */
  lease?: number
  /** Events kept of each session, at least, for feeds that come back. @default 10_000 */
  keepEvents?: number
  /** Hears of failures that are the server's own: of storage, of a tool's host, of code. The caller is told no details. */
  onError?: (error: unknown) => void
  /** @default the platform's clock and randomness */
  env?: Partial<Env>
}

/** What a platform lends a handler for the time after the answer, as Workers do. */
export interface FetchContext {
  /** Keeps the instance alive until the work is done. */
  waitUntil?(work: Promise<unknown>): void
}

export interface ChatHandler {
  /** Answers a request. Never throws. */
  fetch(request: Request, context?: FetchContext): Promise<Response>
  /**
   * Ends what dead processes left behind and begins what waits. The first request does that, too; a server that lives long
   * calls it when it starts, so that nobody has to ask for the work to go on.
   */
  start(): Promise<void>
  /**
   * Ends the event streams, stops the runs of this instance (their partial answers are kept as `interrupted`), and answers
   * what comes later with 503. What waits is left to other instances, or to the next start. Idempotent.
   */
  close(): Promise<void>
}
