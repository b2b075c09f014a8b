import { type Env, platformEnv } from '../../lib/env.ts'
import { TidemarkError } from '../../lib/errors.ts'
import type { Terms } from '../decide/draft.ts'
import { createRateLimit, createSlots, type RateLimit, type Slots } from '../http/limits.ts'
import type { EventLog, HistoryStore } from '../ports.ts'
import { type ChatHandlerOptions, type ChatLimits, DEFAULT_LIMITS } from './options.ts'
import { createTraces, type Traces } from './traces.ts'

/** What every part of one chat handler shares. */
export interface ChatContext {
  readonly options: ChatHandlerOptions
  readonly store: HistoryStore
  readonly log: EventLog
  /** Events have to be published to the log: it is not the store's own. */
  readonly external: boolean
  readonly limits: ChatLimits
  readonly env: Env
  readonly heartbeat: number
  readonly lease: number
  readonly rate: RateLimit
  readonly feeds: Slots
  readonly traces: Traces
  /** Aborted when the handler closes. */
  readonly closing: AbortSignal
  /** What ends the streams that are open. Not listeners of `closing`: there may be thousands. */
  readonly streams: Set<() => void>
  /** What a decision made now has to know. */
  terms(): Terms
  /** Tells the operator. */
  report(error: unknown): void
}

export function createContext(options: ChatHandlerOptions, closing: AbortSignal): ChatContext {
  const { store, heartbeat = 15_000, lease = 10_000, keepEvents: keep = 10_000, onError } = options
  const log = options.log ?? store.log
  if (!log) throw new TidemarkError('invalid-request', 'log: this store has no event log of its own')
  const env = { ...platformEnv, ...options.env }
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const external = log !== store.log
  return {
    options,
    store,
    log,
    external,
    limits,
    env,
    heartbeat,
    lease,
    rate: createRateLimit(limits.requests, env),
    feeds: createSlots(limits.feeds, 'event streams'),
    traces: createTraces(),
    closing,
    streams: new Set(),
    // A clock may tell fractions; what is stored is whole.
    terms: () => ({
      now: Math.floor(env.now()),
      tag: env.createId(),
      lease: Math.ceil(lease),
      keep,
      external,
    }),
    report: (error) => onError?.(error),
  }
}
