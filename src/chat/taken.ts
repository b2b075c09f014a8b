import { TidemarkError } from '../lib/errors.ts'
import { parseEventId } from '../protocol/events.ts'
import { emptyState, messageOf, messagesOf, putMessages, removeMessage } from '../protocol/state.ts'
import { isSaved, type Unsaved } from './batch.ts'
import { setFields, snapshotOf, update } from './core.ts'
import type { Lobby } from './lobby.ts'
import type { MessageWindow } from './ports.ts'
import type { Room } from './room.ts'

/** Another tab writes the session from now on, or may: what this one had begun, that one goes on with. */
export function endLead({ runtime, persist }: Lobby, room: Room): void {
  room.ending ||= runtime.truth === 'client' && room.leading && !isSaved(persist.unsaved(room.core))
  room.leading = false
  room.drain?.stop()
  room.sync?.stop()
  room.drain = undefined
  room.sync = undefined
  room.serving = undefined
  runtime.leave?.(room.core.id)
  // What was heard and is not stored, nobody tells this tab the end of.
  update(room.core, (state) => ({ ...state, runs: new Set(), missing: null }), 'stored')
  setFields(room.core, { connection: 'idle', term: room.stored?.term ?? 0 })
}

/**
 * What is known here is of an earlier term than what is stored: the rows count as they are stored, and nothing that was heard or
 * done since is written. What a user of this tab has said, and nobody has accepted, stays.
 */
function yieldTerm(
  { runtime }: Lobby,
  room: Room,
  { session, rows }: MessageWindow,
  { messages, pieces }: Unsaved,
): void {
  const { core } = room
  const owns = runtime.truth === 'client'
  const stored = new Map(rows.map(({ message }) => [message.id, message]))
  for (const id of messages) {
    const known = messageOf(core.state, id)
    const message = stored.get(id) ?? known
    // Its row is gone: it was accepted, and nobody else would say so any more.
    const isTaken =
      owns && known?.role === 'user' && known.status === 'completed' && message?.status === 'pending'
    if (!isTaken && (!message || message.seq !== undefined)) messages.delete(id)
  }
  pieces.clear()
  // In another history what lies before the window may be gone as well.
  const [from = 0, top = 0] = [
    owns ? rows[0]?.position : 0,
    rows.findLast(({ message }) => message.seq)?.position,
  ]
  if (!owns) Object.assign(room, { floor: Number.POSITIVE_INFINITY, top: 0 })
  const { tidemark = null, complete = false } = session ?? {}
  setFields(core, { tidemark, complete })
  core.answers.doubt(core.outbox.values())
  update(
    core,
    (state, trace) => {
      const counting = [...stored.values()].filter(({ id }) => !messages.has(id))
      let left = putMessages(state, counting, trace)
      for (const { id, seq } of messagesOf(state))
        if (seq !== undefined && seq >= from && !stored.has(id)) left = removeMessage(left, id, trace)
      const cursor = session?.eventId ? parseEventId(session.eventId) : undefined
      const rev = session?.rev ?? state.rev
      const { runs, tombstones, missing } = emptyState(core.id)
      const now = { ...left, cursor: cursor ?? null, rev, nextSeq: top + 1 }
      // Where the branch ends is read with the rest.
      return { ...now, runs, tombstones, missing, session: undefined, headId: null }
    },
    'stored',
  )
  // What is on its way was asked for before.
  room.sync?.wake()
}

/** What nobody has accepted yet of what is stored: the rest is of a history that the other side has lost. */
function unsaidIn({ core }: Room, window: MessageWindow, { messages }: Unsaved): MessageWindow {
  const { session, rows } = window
  for (const { message } of rows)
    if (message.seq !== undefined && core.fields.complete && !messageOf(core.state, message.id))
      messages.add(message.id)
  return {
    ...window,
    session: session && { ...session, eventId: null, rev: 0 },
    rows: rows.filter(({ message }) => message.seq === undefined),
  }
}

/** Whether this tab has found out that the other side has another history, and has not stored that yet. */
export const isNews = ({ runtime }: Lobby, { core, leading, stored }: Room): boolean =>
  leading && runtime.truth === 'server' && core.fields.term > (stored?.term ?? 0)

/** The same of rows before those that are loaded: what another tab has found out is about to be read from the end. */
export function olderInTerm(lobby: Lobby, room: Room, window: MessageWindow, unsaved: Unsaved) {
  if (isNews(lobby, room)) return unsaidIn(room, window, unsaved)
  return (window.session?.term ?? 0) > room.core.fields.term ? { ...window, rows: [] } : window
}

/** What counts of what is stored, where that is of another term than what is known here. */
export function inTerm(lobby: Lobby, room: Room, window: MessageWindow, unsaved: Unsaved): MessageWindow {
  const { core, leading } = room
  const { term } = core.fields
  const { term: written = 0 } = window.session ?? {}
  const owns = lobby.runtime.truth === 'client'
  // What this tab has found out, and not stored yet, comes after all that is stored.
  if (isNews(lobby, room)) {
    setFields(core, { term: Math.max(term, written + 1) })
    return unsaidIn(room, window, unsaved)
  }
  // What it had not stored when it stopped leading comes too late once another has written.
  const isLate = room.ending && window.session?.epoch !== room.stored?.epoch
  if (room.loaded && (written > term || isLate)) {
    // It took the session over while this one was away, and did not know it yet.
    // Of two that took it over at once the one that has the lock may not be the one that has the word.
    if (leading && owns) room.giveWay()
    room.ending = false
    yieldTerm(lobby, room, window, unsaved)
  }
  setFields(core, { term: Math.max(leading ? term : 0, written) })
  return window
}

/** Leads the session in the place of a tab of which nothing is heard. Resolves when this tab does. */
export function takeOver({ tabs }: Lobby, room: Room): Promise<void> {
  const { core } = room
  if (snapshotOf(core).status !== 'stalled')
    throw new TidemarkError('conflict', 'the session is not stalled: the tab that runs it is there')
  return new Promise((resolve) => {
    const { takesOver } = room
    room.takesOver = () => {
      takesOver?.()
      resolve()
    }
    // Whoever asks twice takes it once.
    if (!takesOver) tabs.takeOver(core.id)
  })
}
