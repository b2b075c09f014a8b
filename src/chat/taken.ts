import { TidemarkError } from '../lib/errors.ts'
import { parseEventId } from '../protocol/events.ts'
import { messageOf, messagesOf, putMessages, removeMessage } from '../protocol/state.ts'
import type { Unsaved } from './batch.ts'
import { setFields, snapshotOf, update } from './core.ts'
import type { Lobby } from './lobby.ts'
import type { MessageWindow } from './ports.ts'
import type { Room } from './room.ts'

/** Another tab writes the session from now on, or may: what this one had begun, that one goes on with. */
export function endLead({ runtime }: Lobby, room: Room): void {
  room.leading = false
  room.drain?.stop()
  room.sync?.stop()
  room.drain = undefined
  room.sync = undefined
  room.serving = undefined
  runtime.leave?.(room.core.id)
  // What was heard and is not stored, nobody tells this tab the end of.
  update(room.core, (state) => ({ ...state, runs: new Set(), missing: null }), 'stored')
  setFields(room.core, { connection: 'idle' })
}

/** Whether another tab took the session over while this one was away, and does not know it yet. */
export const isTaken = (room: Room, { session }: MessageWindow): boolean =>
  room.leading && (session?.term ?? 0) > room.term

/**
 * What this tab had run since is not so: the rows count as they are stored, and nothing of what its runs have said is written.
 * What its user has said, and nobody has accepted, stays.
 */
export function yieldLead(
  lobby: Lobby,
  room: Room,
  { session, rows }: MessageWindow,
  unsaved: Unsaved,
): void {
  const { core } = room
  endLead(lobby, room)
  const isOwn = (id: string) => messageOf(core.state, id)?.seq !== undefined
  for (const id of unsaved.messages) if (isOwn(id)) unsaved.messages.delete(id)
  unsaved.pieces.clear()
  const stored = new Set(rows.map(({ message }) => message.id))
  const [from = 0, top = 0] = [rows[0]?.position, rows.findLast(({ message }) => message.seq)?.position]
  update(
    core,
    (state, trace) => {
      let left = putMessages(
        state,
        rows.map(({ message }) => message),
        trace,
      )
      for (const { id, seq } of messagesOf(state))
        if (seq !== undefined && seq >= from && !stored.has(id)) left = removeMessage(left, id, trace)
      const cursor = session?.eventId ? parseEventId(session.eventId) : undefined
      const rev = session?.rev ?? state.rev
      return { ...left, cursor: cursor ?? null, rev, nextSeq: top + 1, session: session?.session }
    },
    'stored',
  )
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
