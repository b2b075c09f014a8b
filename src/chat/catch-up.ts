import type { Env } from '../lib/env.ts'
import { type EventId, type MessagePage, parseEventId } from '../protocol/events.ts'
import { mergePage, reduceAll } from '../protocol/reduce.ts'
import type { SessionState, Trace } from '../protocol/state.ts'
import { type Core, setFields, update } from './core.ts'
import { newSession } from './intents.ts'
import type { EventBatch, PageQuery, Runtime } from './runtime-port.ts'

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

/** The state with these cursors, and nothing missing any more. */
function caughtUp(state: SessionState, rev: number, cursor: EventId | null): SessionState {
  const same = state.rev === rev && state.cursor?.n === cursor?.n && state.cursor?.tag === cursor?.tag
  if (same && !state.missing && state.runs.size === 0) return state
  return { ...state, rev, cursor: same ? state.cursor : cursor, missing: null, runs: new Set() }
}

/**
 * Fetches what is missing, page by page: by the change cursor, or by the message cursor from a server without revisions.
 * The change cursor moves with each page; the event cursor takes the first page's, together with the last page's rows.
 * @returns how many rows could not be read
 */
export async function catchUp(
  core: Core,
  { runtime, env, byMessage }: { runtime: Runtime; env: Env; byMessage: boolean },
  signal: AbortSignal,
): Promise<number> {
  let first: MessagePage | undefined
  let malformed = 0
  let after = core.fields.tidemark
  const fromStart = core.state.rev === 0
  // What a page ended with: one that ends as another did would be asked for again and again.
  const passed = new Set<string | null>([after])
  for (let more = true; more; ) {
    const query: Omit<PageQuery, 'limit'> = byMessage ? { after } : { changedSince: core.state.rev }
    const answer = await runtime.page(core.id, { ...query, limit: PAGE }, signal)
    const { page } = answer
    first ??= page
    malformed += answer.malformed
    after = page.messages.at(-1)?.id ?? after
    const last = lastRev(page)
    more = page.hasMore === true && (byMessage ? !passed.has(after) : last > core.state.rev)
    passed.add(after)
    const snapshot = first
    if (!more && !snapshot.limited && fromStart) setFields(core, { complete: true })
    update(core, (state, trace) => {
      const merged = withPage(state, page, env.now(), trace)
      if (more) return byMessage ? merged : { ...merged, rev: last }
      const rev = Math.max(merged.rev, last, page.hasMore ? 0 : (page.rev ?? 0))
      return caughtUp(merged, rev, cursorAfter(state, snapshot))
    })
  }
  return malformed
}
