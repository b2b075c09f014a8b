import { errorData, isRetryable } from '../lib/errors.ts'
import { reduce } from '../protocol/reduce.ts'
import type { ChatContext } from './context.ts'
import { type Core, setFields, setOutbox, update } from './core.ts'
import { acknowledge, refuse } from './local.ts'
import { afterFailure, askedId, type Lane, nextRow } from './outbox.ts'
import type { Persist } from './persist.ts'
import type { OutboxRow } from './ports.ts'
import type { EventBatch, Runtime } from './runtime-port.ts'

/** Sends what one session has in its outbox, for as long as this tab leads the session. */
export interface Drain {
  /** Looks at the outbox again. `due`: waiting rows need not wait longer. */
  kick(due?: boolean): void
  stop(): void
}

export interface DrainDeps extends ChatContext {
  runtime: Runtime
  persist: Persist
  /** Whether the session's feed is open. */
  feedOpen(): boolean
  /** Something was accepted, so that the server knows the session now. */
  onAccepted(): void
  /** Takes the events that come back on a request. */
  consume(events: AsyncIterable<EventBatch>): Promise<void>
}

const LANES: readonly Lane[] = ['queue', 'cancel']

export function createDrain(core: Core, deps: DrainDeps): Drain {
  const { env, account } = deps
  const ended = new AbortController()
  const running = new Set<Lane>()
  let waiting = new AbortController()

  async function run(lane: Lane): Promise<void> {
    while (!ended.signal.aborted) {
      const decision = nextRow(core.outbox.values(), account, env.now(), lane)
      if (decision.type === 'idle' || decision.type === 'blocked') return
      if (decision.type === 'send') await attempt(core, decision.row, deps, ended.signal)
      else {
        const { signal } = waiting
        // Woken early by a kick, which is no failure.
        await env.sleep(decision.until - env.now(), signal).catch(() => undefined)
      }
    }
  }

  const start = (lane: Lane) => {
    if (running.has(lane) || ended.signal.aborted) return
    running.add(lane)
    void run(lane).finally(() => {
      running.delete(lane)
      // A row that came while the last one was being given up on.
      if (!ended.signal.aborted && nextRow(core.outbox.values(), account, env.now(), lane).type === 'send')
        start(lane)
    })
  }

  return {
    kick(due = false) {
      if (due) {
        const rows = [...core.outbox.values()].filter(
          (row) => row.state === 'waiting' && row.nextAttemptAt > 0,
        )
        setOutbox(
          core,
          rows.map((row) => ({ ...row, nextAttemptAt: 0 })),
        )
      }
      const woken = waiting
      waiting = new AbortController()
      woken.abort()
      for (const lane of LANES) start(lane)
    },
    stop() {
      ended.abort()
      waiting.abort()
    },
  }
}

async function attempt(core: Core, row: OutboxRow, deps: DrainDeps, ended: AbortSignal): Promise<void> {
  const { env, account, runtime, persist } = deps
  try {
    const { request } = row
    const context = { sessionId: core.id, key: row.id, account, feed: deps.feedOpen(), signal: ended }
    const { message, events } = await runtime.dispatch(request, context)
    update(core, (state, trace) => {
      const stored = message
        ? reduce(state, { event: { type: 'message.created', message, clientId: row.id } }, env.now(), trace)
        : state
      return request.type === 'send' || request.type === 'command'
        ? acknowledge(stored, askedId(row), env.now(), trace)
        : stored
    })
    setOutbox(core, [], [row.id])
    await persist.commit(core, [{ type: 'deleteOutbox', id: row.id }])
    setFields(core, { connection: 'online' })
    deps.onAccepted()
    if (events) void deps.consume(events)
  } catch (thrown) {
    if (ended.aborted) return
    const error = errorData(thrown, 'protocol')
    const failed = afterFailure(row, error, env.now(), env.random())
    setOutbox(core, [failed])
    if (failed.state === 'refused')
      update(core, (state, trace) => refuse(state, askedId(row), error, env.now(), trace))
    if (isRetryable(error)) setFields(core, { connection: 'reconnecting' })
    await persist.commit(core, [{ type: 'outbox', row: failed }])
  }
}
