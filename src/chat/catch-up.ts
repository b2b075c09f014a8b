import type { Env } from '../lib/env.ts'
import { type EventId, type MessagePage, parseEventId } from '../protocol/events.ts'
import { mergePage, reduceAll } from '../protocol/reduce.ts'
import type { SessionState } from '../protocol/state.ts'
import { type Core, update } from './core.ts'
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
  for (let more = true; more; ) {
    const query: Omit<PageQuery, 'limit'> = byMessage
      ? { after: core.fields.tidemark }
      : { changedSince: core.state.rev }
    const answer = await runtime.page(core.id, { ...query, limit: PAGE }, signal)
    const { page } = answer
    first ??= page
    malformed += answer.malformed
    const snapshot = first
    const moved = page.messages.at(-1)?.rev ?? core.state.rev
    // A page that moves no cursor would be asked for again and again.
    more = page.hasMore === true && page.messages.length > 0 && (byMessage || moved > core.state.rev)
    const last = !more
    update(core, (state, trace) => {
      const session = state.session ?? newSession(core.id, env.now())
      const merged = mergePage({ ...state, session }, page, trace)
      if (!last) return { ...merged, rev: Math.max(state.rev, moved) }
      const rev = Math.max(state.rev, page.rev ?? moved)
      return { ...merged, rev, cursor: cursorAfter(state, snapshot), missing: null, runs: new Set() }
    })
  }
  return malformed
}
