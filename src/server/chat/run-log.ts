import type { Env } from '../../lib/env.ts'
import type { Message } from '../../message/schema.ts'
import type { ChatEvent } from '../../protocol/events.ts'
import type { RunLog } from '../../turn/run-turn.ts'

/** A log that gathers what comes in quick succession into one commit. */
export interface BatchedLog extends RunLog {
  /** Commits what was gathered; resolves when nothing is under way. Never rejects: whoever appended is told. */
  flush(): Promise<void>
}

export interface BatchOptions {
  /** Writes events, in order; one call at a time. Resolves with what stands instead. */
  commit(events: readonly ChatEvent[]): Promise<readonly Message[]>
  env: Pick<Env, 'sleep'>
  /** Milliseconds for which deltas are gathered. */
  batch: number
}

/** Appends waiting for one commit. A run that must not have more of them under way should not wait for the clock. */
const MAX_WAITING = 12

/** Deltas that continue each other in one block, as one. */
function joined(events: readonly ChatEvent[]): ChatEvent[] {
  const result: ChatEvent[] = []
  for (const event of events) {
    const last = result.at(-1)
    if (
      event.type === 'message.delta' &&
      last?.type === 'message.delta' &&
      last.id === event.id &&
      last.index === event.index &&
      event.block === undefined &&
      (last.offset === undefined || event.offset === last.offset + last.delta.length)
    ) {
      result[result.length - 1] = { ...last, delta: last.delta + event.delta }
    } else result.push(event)
  }
  return result
}

/** Deltas wait for company; everything else is committed at once, together with what waits. */
export function createBatchedLog({ commit, env, batch }: BatchOptions): BatchedLog {
  let waiting: {
    events: readonly ChatEvent[]
    resolve(standing: readonly Message[]): void
    reject(reason: unknown): void
  }[] = []
  let work: Promise<void> = Promise.resolve()
  let timer: AbortController | undefined

  async function write(): Promise<void> {
    const due = waiting
    waiting = []
    timer?.abort()
    timer = undefined
    if (due.length === 0) return
    try {
      const standing = await commit(joined(due.flatMap(({ events }) => events)))
      for (const { resolve } of due) resolve(standing)
    } catch (error) {
      for (const { reject } of due) reject(error)
    }
  }
  const flush = (): Promise<void> => {
    work = work.then(write)
    return work
  }
  function schedule(): void {
    if (timer) return
    timer = new AbortController()
    // Aborted when somebody else flushes before: then there is nothing left to do.
    env.sleep(batch, timer.signal).then(flush, () => undefined)
  }

  return {
    append: (events) =>
      new Promise((resolve, reject) => {
        waiting.push({ events, resolve, reject })
        const urgent = waiting.length >= MAX_WAITING || events.some(({ type }) => type !== 'message.delta')
        if (urgent) void flush()
        else schedule()
      }),
    flush,
  }
}
