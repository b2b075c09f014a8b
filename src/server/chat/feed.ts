import { formatSse } from '../../lib/sse.ts'
import { frameOf } from '../../protocol/codec.ts'
import type { ChatEvent, EventId } from '../../protocol/events.ts'
import type { EventRow, Scope, SessionRow } from '../ports.ts'
import type { ChatContext } from './context.ts'
import { publish } from './publish.ts'

export interface FeedOptions {
  scope: Scope
  /** The last event the reader has. */
  cursor?: EventId | undefined
  /** Where the feed begins: after this event. @default the cursor, or else 0, the beginning */
  from?: number
  /** Ends the feed with this run. `ended`: the number of its last event, where it has ended. */
  until?: { runId: string; ended: number | null }
  signal: AbortSignal
}

/** Events read at once: what a slow reader holds in memory. */
const CHUNK = 200

type Gap = Extract<ChatEvent, { type: 'gap' }>

const frame = (row: { id?: EventId; event: ChatEvent }): string => formatSse(frameOf(row))

/** A control frame: it has no id, so that it never moves a cursor. */
const gap = (from: number, to: number, reason: Gap['reason']): string =>
  frame({ event: { type: 'gap', reason, ...(from <= to && { from, to }) } })

interface Found {
  rows: readonly EventRow[]
  /** Committed up to here, but not to be had any more. */
  gone?: number
}

/** Events after a number. What was committed but has not reached a log of its own is brought there first. */
async function readAfter(ctx: ChatContext, scope: Scope, after: number): Promise<Found> {
  const { entries, tail } = await ctx.log.read(scope.sessionId, after, CHUNK)
  if (!ctx.external || entries[0]?.id.n === after + 1) return { rows: entries }
  const { session } = await ctx.store.read(scope, {})
  if (!session || session.events <= after) return { rows: entries }
  await publish(ctx, scope.sessionId, entries.length > 0 ? after : Math.min(tail, after))
  const { entries: rows } = await ctx.log.read(scope.sessionId, after, CHUNK)
  return rows.length > 0 ? { rows } : { rows, gone: session.events }
}

/** Why a reader cannot go on from its last event, and from which it will instead; undefined where it can. */
async function hindrance(
  ctx: ChatContext,
  scope: Scope,
  { n, tag }: EventId,
): Promise<{ reason: Gap['reason']; to: number } | undefined> {
  const { rows } = await readAfter(ctx, scope, n - 1)
  const [first] = rows
  if (first?.id.n === n && first.id.tag === tag) return undefined
  const { session } = await ctx.store.read(scope, {})
  const last = session?.events ?? 0
  if (first?.id.n === n || n > last) return { reason: 'diverged', to: last }
  return { reason: 'trimmed', to: first ? first.id.n - 1 : last }
}

/** Whether an event is of another history than the one of this session. */
export async function isForeign(
  ctx: ChatContext,
  scope: Scope,
  cursor: EventId,
  { events, tag }: SessionRow,
): Promise<boolean> {
  if (cursor.n === events) return cursor.tag !== tag
  return (await hindrance(ctx, scope, cursor))?.reason === 'diverged'
}

/** Waits until there may be something after `at`; `silent` where there was nothing for the length of a heartbeat. */
async function pause(
  ctx: ChatContext,
  sessionId: string,
  at: number,
  signal: AbortSignal,
): Promise<'woken' | 'silent'> {
  const over = new AbortController()
  const end = () => over.abort()
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  const woken = ctx.log.wait(sessionId, at, over.signal).then(() => 'woken' as const)
  const silent = ctx.env.sleep(ctx.heartbeat, over.signal).then(
    () => 'silent' as const,
    () => 'woken' as const,
  )
  const what = await Promise.race([woken, silent])
  end()
  signal.removeEventListener('abort', end)
  return what
}

/** Whether a feed ends with this event. */
const isLast = ({ event }: EventRow, until: FeedOptions['until']): boolean =>
  event.type === 'session.deleted' || (event.type === 'run.finished' && event.runId === until?.runId)

/**
 * A session's events as text of an event stream: what is missing, then what comes. Each piece is what one read found.
 * Where events are gone, or the reader's last one belongs to another history, a `gap` says so before what follows.
 */
export async function* follow(ctx: ChatContext, options: FeedOptions): AsyncGenerator<string, void> {
  const { scope, cursor, from = cursor?.n ?? 0, until, signal } = options
  // The first bytes prove to the reader, and to what lies between, that the line is open.
  yield formatSse({ comment: 'open' })
  let at = from
  const hindered = cursor ? await hindrance(ctx, scope, cursor) : undefined
  if (hindered) {
    yield gap(at + 1, hindered.to, hindered.reason)
    at = hindered.to
  }
  while (!signal.aborted) {
    const { rows, gone } = await readAfter(ctx, scope, at)
    const [first] = rows
    const begin = first ? first.id.n - 1 : (gone ?? at)
    let text = begin > at ? gap(at + 1, begin, 'trimmed') : ''
    at = begin
    for (const row of rows) {
      text += frame(row)
      at = row.id.n
      if (!isLast(row, until)) continue
      yield text
      return
    }
    if (text !== '') yield text
    else if ((await pause(ctx, scope.sessionId, at, signal)) === 'silent')
      yield formatSse({ comment: 'ping' })
    if (until?.ended && at >= until.ended) return
  }
}
