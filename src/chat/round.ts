import { backoffDelay } from '../lib/backoff.ts'
import type { ErrorData } from '../lib/error-data.ts'
import { errorData, isRetryable } from '../lib/errors.ts'
import type { Message } from '../message/schema.ts'
import { formatEventId } from '../protocol/events.ts'
import { messagesOf, type SessionState } from '../protocol/state.ts'
import { catchUp, foldBatch } from './catch-up.ts'
import type { ChatContext } from './context.ts'
import { type Core, setFields, update } from './core.ts'
import type { CoreFields } from './fields.ts'
import type { EventBatch, Runtime } from './runtime-port.ts'
import type { Seat } from './seat.ts'
import { isOffline } from './wake.ts'

export interface SyncDeps extends ChatContext {
  runtime: Runtime
  /** What waited can be sent now. */
  onDue(): void
  seat: Seat
  /** Whether this session is one of the few that hold a connection; the others are read in pages. */
  isSeated(): Promise<boolean>
  /** Milliseconds until a session that holds none is read again, where nothing is outstanding in it. */
  turn(): number
}

/** The line works. */
export const ONLINE: Partial<CoreFields> = { connection: 'online', error: undefined }

/** The line does not work. */
export const broken = ({ platform }: ChatContext): Partial<CoreFields> => ({
  connection: isOffline(platform) ? 'offline' : 'reconnecting',
})

/** Tells of what trying again will not mend. */
export function tellOf(core: Core, { onProblem }: ChatContext, error: ErrorData): void {
  if (isRetryable(error)) return
  setFields(core, { error })
  onProblem(error)
}

/** Milliseconds: the longest wait between looks at a server without a feed while an answer is outstanding. */
const POLL_CAP = 5_000

/** The line to the server of one session. */
export interface Line {
  /** `none`: the server has no feed, the session is read in pages. One that was there once is only out of order. */
  feed: 'unknown' | 'open' | 'closed' | 'none'
  /** Ends the connection of this round, and the pause after it. */
  round: AbortController
  /** Rounds since the last one that brought something. */
  attempts: number
  /** Rounds in a row that soon ended because something was missing. */
  gaps: number
  /** The last feed that was opened brought nothing, so that pages have to. */
  mute: boolean
  /** Requests whose events are being read. */
  streams: number
  ended: boolean
  /** Who waits for a full look, and whether one is asked for. */
  asked: (() => void)[]
}

const hasNoRoute = ({ status, code }: { status?: number | undefined; code: string }) =>
  code === 'not-found' || status === 405 || status === 501

/** Whether something is outstanding that only asking again will bring: an answer in flight, or one not begun. */
export function isOutstanding(state: SessionState): boolean {
  if (state.live.size + state.runs.size > 0) return true
  let newest: Message | undefined
  for (const message of state.rest.values()) if ((message.seq ?? 0) > (newest?.seq ?? 0)) newest = message
  return newest?.role === 'user'
}

/** Whether the server is one without revisions: it has answered, and none came. */
export function isUnrevised(state: SessionState): boolean {
  if (!isFresh(state)) return false
  for (const { role, rev } of messagesOf(state)) if (role !== 'user' && rev === undefined) return true
  return false
}

/** Whether nothing was told with a number yet that would tell what is known. */
export const isFresh = ({ cursor, rev }: SessionState): boolean => cursor === null && rev === 0

/** Tells of what could not be read, where there is such. */
export function tellUnread(onProblem: ChatContext['onProblem'], count: number, what: string): void {
  if (count > 0) onProblem({ code: 'protocol', message: `${count} ${what} could not be read` }, count)
}

export function fold(core: Core, batch: EventBatch, deps: SyncDeps): void {
  foldBatch(core, batch, deps.env.now())
  if (batch.malformed === 0) return
  tellUnread(deps.onProblem, batch.malformed, 'events')
  update(core, (state) => (state.missing ? state : { ...state, missing: { reason: 'malformed' } }))
}

/** What nobody needs to wait for any longer. */
const release = (line: Line, waiting: readonly (() => void)[]): void => {
  line.asked = line.asked.filter((resolve) => !waiting.includes(resolve))
  for (const resolve of waiting) resolve()
}

/** Reads everything that changed. */
async function readPages(core: Core, line: Line, deps: SyncDeps, signal: AbortSignal): Promise<void> {
  const { runtime, env, onDue } = deps
  const waiting = [...line.asked]
  const byMessage = core.fields.complete && isUnrevised(core.state)
  const malformed = await catchUp(core, { runtime, env, byMessage, onDue }, signal)
  tellUnread(deps.onProblem, malformed, 'messages')
  setFields(core, ONLINE)
  release(line, waiting)
}

/** One connection's life. Returns how long to pause after it: milliseconds, or until somebody wakes it. */
export async function round(
  core: Core,
  line: Line,
  deps: SyncDeps,
  signal: AbortSignal,
): Promise<number | 'woken'> {
  // There is nothing to read before the session is there.
  if ([...core.outbox.values()].some(({ request }) => request.type === 'createSession')) {
    release(line, line.asked)
    return 'woken'
  }
  if (core.fields.connection === 'idle') setFields(core, { connection: 'connecting' })
  const fresh = isFresh(core.state)
  const inPages = !(await deps.isSeated()) || line.feed === 'none'
  // What a request's stream tells without numbers must not be told by pages and a feed as well.
  const alone = line.streams === 0 || !fresh
  const read =
    line.asked.length > 0 ||
    core.state.missing !== null ||
    line.mute ||
    // Somebody was interrupted between two pages.
    (core.fields.tidemark !== null && !core.fields.complete) ||
    (alone && (core.state.cursor === null || inPages))
  if (read) await readPages(core, line, deps, signal)
  // One connection for each session: what a request's stream leaves out is read after it.
  if (line.streams > 0) return 'woken'
  if (!inPages) {
    try {
      return await follow(core, line, deps, signal)
    } catch (thrown) {
      if (line.feed !== 'unknown' || !hasNoRoute(errorData(thrown))) throw thrown
      line.feed = 'none'
      if (!read) await readPages(core, line, deps, signal)
    }
  }
  // What others say meanwhile nobody tells; where there is no feed, nobody tells that anyway.
  if (!isOutstanding(core.state)) return line.feed === 'none' ? 'woken' : deps.turn()
  return POLL_CAP / 10 + backoffDelay(line.attempts++, deps.env.random(), 0, { cap: POLL_CAP })
}

/** A round that lasted so long, in milliseconds, has nothing to do with the one before. */
const CALM = 60_000

async function follow(core: Core, line: Line, deps: SyncDeps, signal: AbortSignal): Promise<number> {
  const { env, runtime } = deps
  const began = env.now()
  const { cursor } = core.state
  let opened = false
  for await (const batch of runtime.follow(core.id, cursor && formatEventId(cursor), signal)) {
    if (signal.aborted) break
    // Open at its first bytes, and not before: what lies between may keep them all to itself.
    if (opened) line.feed = 'open'
    line.mute = !opened
    opened = true
    setFields(core, ONLINE)
    const before = core.state
    fold(core, batch, deps)
    if (core.state.missing) {
      // Asked for at once, unless the answer to that did not help.
      line.gaps = env.now() - began > CALM ? 1 : line.gaps + 1
      return line.gaps === 1 ? 0 : backoffDelay(line.gaps, env.random())
    }
    // Progress resets the back-off; connecting does not, and neither does being told what is known.
    if (core.state !== before) line.attempts = 0
  }
  if (env.now() - began > CALM) line.gaps = 0
  return backoffDelay(line.attempts++, env.random())
}

/** What a round's failure means for the next one. */
export function failed(
  core: Core,
  line: Line,
  deps: SyncDeps,
  thrown: unknown,
  signal: AbortSignal,
): number | 'woken' {
  if (line.ended || signal.aborted) return 0
  const error = errorData(thrown, 'protocol')
  const gone = error.status === 410
  const isKnown = !isFresh(core.state) || core.fields.tidemark !== null
  if (gone) update(core, (state) => (state.deleted ? state : { ...state, deleted: true }))
  // A session that the server does not know: there is something to ask for once something was sent. One that it knew is
  // only lost on the way.
  if (gone || (error.code === 'not-found' && !isKnown)) {
    deps.seat.give()
    setFields(core, { connection: 'idle' })
    release(line, line.asked)
    return 'woken'
  }
  setFields(core, broken(deps))
  const words = 'the server does not know this session any more'
  tellOf(core, deps, error.code === 'not-found' ? { ...error, message: words } : error)
  return backoffDelay(line.attempts++, deps.env.random(), error.retryAfter)
}
