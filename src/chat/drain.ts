import type { ErrorData } from '../lib/error-data.ts'
import { errorData } from '../lib/errors.ts'
import { formatEventId } from '../protocol/events.ts'
import { sameJson } from '../protocol/merge.ts'
import { reduce } from '../protocol/reduce.ts'
import type { ChatContext } from './context.ts'
import { type Core, setFields, setOutbox, update } from './core.ts'
import { noteAccepted } from './held.ts'
import { acknowledge, refuse, withHeadBack } from './local.ts'
import { afterFailure, askedId, claimed, dueNow, insteadOf, type Lane, nextRow, showing } from './outbox.ts'
import type { Persist } from './persist.ts'
import type { OutboxRow } from './ports.ts'
import { repoint } from './repoint.ts'
import { broken, ONLINE, tellOf } from './round.ts'
import type { Accepted, EventBatch, Runtime } from './runtime-port.ts'

/** Sends what one session has in its outbox, for as long as this tab leads the session. */
export interface Drain {
  /** Looks at the outbox again. `due`: rows need not wait longer, unless the other side asked them to. */
  kick(due?: boolean): void
  stop(): void
}

export interface DrainDeps extends ChatContext {
  runtime: Runtime
  persist: Persist
  /** Names this tab where others send as well: a row is claimed before it is sent. */
  token: string | undefined
  /** Whether the session's feed is open. */
  feedOpen(): boolean
  /** Whether an answer may come back on its request, and hold a connection meanwhile. */
  mayStream(): Promise<boolean>
  /** The server may have another history than is known: it is read anew. */
  onDiverged(): void
  /** Something was accepted, so that the server knows the session now. */
  onAccepted(): void
  /** Takes the events that come back on a request. */
  consume(events: AsyncIterable<EventBatch>): Promise<void>
}

/** What passes goes first. */
const LANES: readonly Lane[] = ['cancel', 'queue']

/** Lets rows go before their time, except those that the other side asked to wait. */
function hurry(core: Core): void {
  const rows = [...core.outbox.values()].filter(
    ({ state, nextAttemptAt, claim, error }) =>
      state === 'waiting' && nextAttemptAt > 0 && claim === null && error?.retryAfter === undefined,
  )
  setOutbox(
    core,
    rows.map((row) => ({ ...row, nextAttemptAt: 0 })),
  )
}

/** What is being sent by the id of its row, and what is read of the answers to what was sent; and what ends that. */
interface Flights {
  readonly sent: Map<string, AbortController>
  readonly read: Set<AbortController>
}

/** A wait that is over when its time has come, or when it is ended. */
function createPause(env: DrainDeps['env']) {
  let ends = new AbortController()
  return {
    // Ended early, it has not failed.
    wait: (ms: number) => env.sleep(ms, ends.signal).catch(() => undefined),
    end() {
      const ended = ends
      ends = new AbortController()
      ended.abort()
    },
  }
}

/** Tells the runtime what waits: what waits behind others may be about what those wait for. */
function tellQueue(core: Core, { account, runtime }: DrainDeps): void {
  const own = [...core.outbox.values()].filter((row) => row.account === account && row.state === 'waiting')
  runtime.queued?.(
    own.map(({ request }) => request),
    core.id,
  )
}

export function createDrain(core: Core, deps: DrainDeps): Drain {
  const { env, account } = deps
  const flights: Flights = { sent: new Map(), read: new Set() }
  const running = new Set<Lane>()
  const pause = createPause(env)
  let ended = false

  async function run(lane: Lane): Promise<void> {
    while (!ended) {
      const decision = nextRow(core.outbox.values(), account, env.now(), lane)
      if (decision.type === 'idle' || decision.type === 'blocked') return
      if (decision.type === 'send') {
        tellQueue(core, deps)
        await attempt(core, decision.row, deps, flights)
        // A stop may have waited for the session to be there; it goes before what it stops.
        for (const other of LANES) start(other)
      } else await pause.wait(decision.until - env.now())
    }
  }

  const start = (lane: Lane) => {
    if (running.has(lane) || ended) return
    running.add(lane)
    void run(lane).finally(() => {
      running.delete(lane)
      // A row that came while the last one was being given up on.
      if (nextRow(core.outbox.values(), account, env.now(), lane).type === 'send') start(lane)
    })
  }

  return {
    kick(due = false) {
      if (due) hurry(core)
      // What was given up need not arrive.
      for (const [id, flight] of flights.sent) if (!core.outbox.has(id)) flight.abort()
      pause.end()
      tellQueue(core, deps)
      for (const lane of LANES) start(lane)
    },
    stop() {
      ended = true
      for (const flight of [...flights.sent.values(), ...flights.read]) flight.abort()
      pause.end()
    },
  }
}

/** Claims a row where others might send it, too. Returns whether it is this tab's: a storage that fails keeps nobody apart. */
async function claim(core: Core, row: OutboxRow, { token, env, persist }: DrainDeps): Promise<boolean> {
  if (token === undefined) return true
  setOutbox(core, [claimed(row, token, env.now())])
  await persist.commit(core)
  return core.outbox.get(row.id)?.claim === token
}

async function attempt(core: Core, row: OutboxRow, deps: DrainDeps, flights: Flights): Promise<void> {
  const { account, runtime, persist } = deps
  if (!(await claim(core, row, deps))) return
  const flight = new AbortController()
  flights.sent.set(row.id, flight)
  const { signal } = flight
  const { cursor } = core.state
  const context = {
    sessionId: core.id,
    key: row.id,
    account,
    feed: row.request.type !== 'send' || !(await deps.mayStream()),
    cursor: cursor && formatEventId(cursor),
    attempts: row.attempts,
    signal,
  }
  try {
    const accepted = await runtime.dispatch(row.request, context)
    settle(core, row, accepted, deps)
    // What comes back on the request is read first: the same from elsewhere would be read twice.
    if (!accepted.events) deps.onAccepted()
    else {
      flights.read.add(flight)
      void deps.consume(accepted.events).finally(() => {
        flights.read.delete(flight)
        // Whatever of it is not read holds no connection.
        flight.abort()
      })
    }
  } catch (thrown) {
    // Given up, or a chat that closes: nothing was learnt about the row.
    if (!signal.aborted) fail(core, row, errorData(thrown, 'invalid-request'), deps)
  } finally {
    flights.sent.delete(row.id)
  }
  await persist.commit(core)
}

/** The other side has it. */
function settle(core: Core, row: OutboxRow, accepted: Accepted, deps: DrainDeps): void {
  const { message } = accepted
  const now = deps.env.now()
  const { request } = row
  update(core, (state, trace) => {
    const clientId = askedId(row)
    const stored = message
      ? reduce(state, { event: { type: 'message.created', message, clientId } }, now, trace)
      : state
    return request.type === 'send' || request.type === 'command'
      ? acknowledge(stored, clientId, now, trace)
      : stored
  })
  noteAccepted(core.held, row, core.state, accepted)
  setOutbox(core, [], [row.id])
  if (accepted.unanswered) update(core, (state) => withHeadBack(state, row))
  setFields(core, ONLINE)
}

function fail(core: Core, row: OutboxRow, error: ErrorData, deps: DrainDeps): void {
  const waits = core.outbox.get(row.id)
  // Given up meanwhile, or changed: nobody has said anything about what it is now.
  if (!waits || !sameJson(waits.request, row.request)) return
  const { env } = deps
  const now = env.now()
  const failed = afterFailure(row, error, now, env.random())
  if (failed.state === 'waiting') {
    setOutbox(core, [failed])
    if (!deps.feedOpen()) setFields(core, broken(deps))
    tellOf(core, deps, error)
    return
  }
  const instead = insteadOf(failed, error)
  if (instead) {
    setOutbox(core, [instead])
    deps.onProblem(error)
    return
  }
  const shown = showing(row, core.outbox.values())
  if (!shown) {
    setOutbox(core, [failed])
    // Nobody could try it again or give it up: it is told, and does not hold up the others. A session that nothing is said
    // in is tried again with the first message.
    if (row.request.type !== 'createSession') setOutbox(core, [], [row.id])
    update(core, (state) => withHeadBack(state, row))
    deps.onProblem(error)
    return
  }
  if (shown.id === row.id) setOutbox(core, [failed])
  else setOutbox(core, [dueNow(failed), { ...shown, state: 'refused', error }])
  update(core, (state, trace) => refuse(state, askedId(shown), error, now, trace))
  // Refused for what it follows: the other side has lost that, and no number told of it.
  if (!repoint(core, now) && (error.field === 'parentId' || error.field === 'messageId')) deps.onDiverged()
}
