import type { Env } from '../lib/env.ts'
import { type EventId, formatEventId, type MessagePage, parseEventId } from '../protocol/events.ts'
import { mergePage } from '../protocol/page.ts'
import { reduceAll } from '../protocol/reduce.ts'
import {
  emptyState,
  messageOf,
  messagesOf,
  putMessages,
  type SessionState,
  type Trace,
} from '../protocol/state.ts'
import { type Core, setFields, update } from './core.ts'
import { newSession } from './intents.ts'
import { askedId } from './outbox.ts'
import { repoint } from './repoint.ts'
import type { EventBatch, Runtime } from './runtime-port.ts'

const PAGE = 200

/** Folds a batch of events in, as one change. */
export const foldBatch = (core: Core, batch: EventBatch, now: number): void =>
  update(core, (state, trace) => reduceAll(state, batch.envelopes, now, trace))

/** Where the feed goes on after a snapshot: never behind what is applied already, unless that was given up. */
function cursorAfter(state: SessionState, first: MessagePage): EventId | null {
  const given = first.eventId ? (parseEventId(first.eventId) ?? null) : null
  if (state.missing || !state.cursor) return given
  return given && given.n > state.cursor.n ? given : state.cursor
}

/** The last revision that a page speaks of. */
function lastRev({ messages, deleted = [] }: MessagePage): number {
  let last = 0
  for (const { rev = 0 } of [...messages, ...deleted]) last = Math.max(last, rev)
  return last
}

/** The state with a page's rows. A session that nobody has heard of does not come into being by being looked at. */
function withPage(state: SessionState, page: MessagePage, now: number, trace: Trace): SessionState {
  const isThere = state.session || page.session || page.messages.length === 0
  const session = isThere ? state.session : newSession(state.sessionId, now)
  return mergePage(session === state.session ? state : { ...state, session }, page, trace)
}

/** What stays when the other side has another history: what was not said to it yet. */
function unsaid(state: SessionState, { outbox }: Core): SessionState {
  const asked = new Set([...outbox.values()].map(askedId))
  const own = messagesOf(state).filter(({ id, seq }) => seq === undefined && asked.has(id))
  return putMessages({ ...emptyState(state.sessionId), deleted: state.deleted }, own)
}

/** The state with these cursors, and nothing missing any more. */
function caughtUp(state: SessionState, rev: number, cursor: EventId | null): SessionState {
  const same = state.rev === rev && state.cursor?.n === cursor?.n && state.cursor?.tag === cursor?.tag
  if (same && !state.missing && state.runs.size === 0) return state
  return { ...state, rev, cursor: same ? state.cursor : cursor, missing: null, runs: new Set() }
}

/** Why the numbers of this client mean nothing to the other side. */
const isForeign = ({ missing }: SessionState): boolean =>
  missing?.reason === 'diverged' || missing?.reason === 'restarted'

/** Everything was read, and these were not in it. Behind a window they may still be there. */
function noteGone(state: SessionState, merged: SessionState, trace: Trace): void {
  for (const { id } of messagesOf(state)) if (!messageOf(merged, id)) trace.removed.add(id)
}

/** What others know, and what is stored, counts no more beside what was read anew; nor does what was asked for. */
function beginTerm(core: Core): void {
  setFields(core, { term: core.fields.term + 1 })
  core.answers.doubt(core.outbox.values())
}

export interface CatchUpOptions {
  /** What waited can be sent now. */
  onDue?: () => void
  runtime: Runtime
  env: Env
  byMessage: boolean
  /** Reads everything, and replaces what was acknowledged by it, at once. @default where the other side has another history */
  anew?: boolean
  /** Takes the rows and moves no cursor: another tab follows the session, and sees to what cannot be proven. */
  looksOn?: boolean
}

/**
 * Fetches what is missing, page by page: by the change cursor, or by the message cursor from a server without revisions.
 * The change cursor moves with each page; the event cursor takes the first page's, together with the last page's rows.
 * Where a cursor cannot be proven everything is read anew, and swapped in as a whole.
 * @returns how many rows could not be read
 */
export async function catchUp(core: Core, options: CatchUpOptions, signal: AbortSignal): Promise<number> {
  const { runtime, env, byMessage, looksOn, anew = isForeign(core.state) } = options
  const pages: MessagePage[] = []
  let malformed = 0
  const { tidemark, complete, term } = core.fields
  const cursor = anew || !core.state.cursor ? null : formatEventId(core.state.cursor)
  let [since, after] = anew ? [0, null] : [core.state.rev, tidemark]
  // Whether this reads on from where everything was known, or from the very beginning.
  const isWhole = anew || complete || tidemark !== null || cursor === null
  // What a page ended with: one that ends as another did would be asked for again and again.
  const passed = new Set<string | null>([after])
  for (let more = true; more; ) {
    const query = { ...(byMessage ? { after } : { changedSince: since }), limit: PAGE, cursor }
    const { page, malformed: unread } = await runtime.page(core.id, query, signal)
    if (page.limited && !anew && (byMessage ? after !== null : since > 0))
      return looksOn ? malformed : catchUp(core, { ...options, anew: true }, signal)
    malformed += unread
    after = page.messages.at(-1)?.id ?? after
    const last = lastRev(page)
    more = page.hasMore === true && !page.limited && (byMessage ? !passed.has(after) : last > since)
    passed.add(after)
    since = Math.max(since, last)
    if (looksOn) {
      // What another tab has read anew since is of another history.
      if (term === core.fields.term) update(core, (state, trace) => withPage(state, page, env.now(), trace))
      continue
    }
    pages.push(page)
    const [first = page] = pages
    if (anew && more) continue
    // Between two pages a message may be missing that changed after those there; in another history the tidemark may.
    const isNew = first.limited || anew
    if (!more) setFields(core, { complete: isWhole && !first.limited, ...(isNew && { tidemark: null }) })
    else if (!byMessage) setFields(core, { complete: false })
    if (anew) beginTerm(core)
    update(core, (state, trace) => {
      const known = anew ? { ...unsaid(state, core), missing: state.missing } : state
      let merged = known
      // The session's row may name a head that comes with a later page: with the last one it is sure to be there.
      const rows = more ? { ...page, session: undefined } : page
      for (const one of anew ? pages : [rows]) merged = withPage(merged, one, env.now(), trace)
      if (more) return byMessage ? merged : { ...merged, rev: last }
      if (anew && !first.limited) noteGone(state, merged, trace)
      const rev = Math.max(merged.rev, last, page.hasMore ? 0 : (page.rev ?? 0))
      return caughtUp(merged, rev, cursorAfter(known, first))
    })
    if (anew && repoint(core, env.now())) options.onDue?.()
  }
  return malformed
}
