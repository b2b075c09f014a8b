import type { Message } from '../message/schema.ts'
import type { ChatEvent } from '../protocol/events.ts'
import type { RunLog } from './run-turn.ts'

/** Writes a run's events into its log, in order. After the first refusal nothing is written any more. */
export interface Writer {
  /** Writes without waiting for it; resolves when another piece may follow. Never rejects: a refusal is told by `onRefused`. */
  push(events: readonly ChatEvent[]): Promise<void> | undefined
  /** Resolves when it is durable. Throws what the log threw, now or before. */
  commit(events: readonly ChatEvent[]): Promise<void>
}

/** Most appends under way: enough to hide a log's latency, few enough that a slow log slows the model down. */
const MAX_IN_FLIGHT = 16

/**
 * @param onRefused called once, as soon as an append was rejected
 * @param onStanding called with each message that stands instead of what was written of it
 */
export function createWriter(
  log: RunLog,
  onRefused: (reason: unknown) => void,
  onStanding: (message: Message) => void,
): Writer {
  let inFlight = 0
  let refusal: { reason: unknown } | undefined
  let onRoom: (() => void) | undefined

  const append = async (events: readonly ChatEvent[]): Promise<void> => {
    inFlight++
    try {
      for (const message of await log.append(events)) onStanding(message)
    } catch (reason) {
      if (!refusal) {
        refusal = { reason }
        onRefused(reason)
      }
    } finally {
      inFlight--
      onRoom?.()
      onRoom = undefined
    }
  }

  return {
    push(events) {
      if (refusal || events.length === 0) return undefined
      void append(events)
      if (inFlight < MAX_IN_FLIGHT) return undefined
      return new Promise((resolve) => {
        onRoom = resolve
      })
    },
    async commit(events) {
      if (!refusal) await append(events)
      if (refusal) throw refusal.reason
    },
  }
}
