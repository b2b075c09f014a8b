import { besides } from '../message/besides.ts'
import type { Message } from '../message/schema.ts'
import { messageOf, messagesOf, newTrace, type SessionState } from '../protocol/state.ts'
import { setFields, setOutbox, update } from './core.ts'
import { newSession } from './intents.ts'
import { type Lobby, problem } from './lobby.ts'
import { refuse } from './local.ts'
import { askedId, newRow } from './outbox.ts'
import type { MessageWindow, OutboxRow } from './ports.ts'
import { nextPosition, type Room } from './room.ts'

/** Claims nothing of what is stored, so that the other side is asked for all of it. */
function claimNothing({ core }: Room): void {
  setFields(core, { complete: false, tidemark: null })
  update(core, (state) => ({ ...state, cursor: null, rev: 0, missing: { reason: 'emptied' } }), 'stored')
}

/**
 * The database is new, or was emptied: it gets all that this tab knows of the session. Where that is not all that was
 * stored, the cursors claim no more than these rows, and the other side is asked for the rest.
 */
export function writeAnew(lobby: Lobby, room: Room): void {
  const { core } = room
  room.stored = undefined
  room.queued.clear()
  if (core.fields.unread && lobby.runtime.truth === 'server') {
    claimNothing(room)
    room.sync?.wake()
  }
  setFields(core, { unread: false })
  lobby.persist.noteAll(core)
  // The others are in the same place, and find it out by writing.
  for (const other of lobby.rooms.values()) if (other.stored) lobby.persist.note(other.core, newTrace())
  problem(lobby, { code: 'storage', message: 'the database was emptied while it was in use' })
}

/** Tells of rows that the storage could not read, each once. */
export function noteUnreadable(lobby: Lobby, { unreadable = [] }: { unreadable?: readonly string[] }): void {
  const fresh = unreadable.filter((key) => !lobby.unreadable.has(key))
  for (const key of fresh) lobby.unreadable.add(key)
  if (fresh.length > 0)
    problem(lobby, { code: 'storage', message: `stored rows could not be read: ${fresh}` }, fresh.length)
}

/**
 * What the rows of a session's newest window do not bear out is not believed: a browser, or somebody in it, may have taken
 * some of them away. The newest row has to be there; where nothing older is stored, so have all that others follow.
 */
export function doubt(room: Room, { session, rows, hasOlder, unreadable }: MessageWindow): void {
  const ids = new Set(rows.map(({ message }) => message.id))
  const { tidemark = null } = session ?? {}
  if (unreadable?.length || (tidemark !== null && !ids.has(tidemark))) claimNothing(room)
  const isTorn = rows.some(({ message: { parentId } }) => parentId !== null && !ids.has(parentId))
  if (!hasOlder && isTorn) setFields(room.core, { complete: false, tidemark: null })
}

/** The state with a head and, for a client that owns the truth, a session, where rows are stored but these are not. */
export function withHead(
  state: SessionState,
  { rows, hasOlder }: MessageWindow,
  owns: boolean,
): SessionState {
  const last = rows.at(-1)?.message
  if (!last || hasOlder || state.deleted || messageOf(state, state.headId ?? '')) return state
  if (state.session || !owns) return { ...state, headId: last.id }
  const rev = Math.max(...rows.map(({ message }) => message.rev ?? 0))
  return { ...state, headId: last.id, rev, session: newSession(state.sessionId, last.updatedAt) }
}

const LOST = { code: 'storage', message: 'what was to send this was lost' } as const

/** Messages that nobody will send, since their row in the outbox is lost: they can be sent again by hand. */
export function refuseStranded({ env, account }: Lobby, room: Room): void {
  const { core } = room
  const asked = new Set([...core.outbox.values()].map(askedId))
  const isStranded = ({ id, role, status, seq }: Message) =>
    role === 'user' && status === 'pending' && seq === undefined && !asked.has(id)
  const rows = messagesOf(core.state).flatMap((message): OutboxRow[] => {
    if (!isStranded(message) || message.role !== 'user') return []
    const { id, parentId, content } = message
    const body = { id, runId: env.createId(), parentId, content, ...besides(message) }
    const request = { type: 'send' as const, body }
    const row = newRow({ id, request, sessionId: core.id, account, position: nextPosition(room) })
    return [{ ...row, state: 'refused', error: LOST }]
  })
  update(core, (state, trace) => rows.reduce((now, { id }) => refuse(now, id, LOST, env.now(), trace), state))
  setOutbox(core, rows)
}
