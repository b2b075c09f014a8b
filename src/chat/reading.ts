import { backoffDelay } from '../lib/backoff.ts'
import { errorData, isRetryable, TidemarkError } from '../lib/errors.ts'
import { mergePage } from '../protocol/page.ts'
import { newestId } from '../protocol/place.ts'
import { messageOf } from '../protocol/state.ts'
import { catchUp } from './catch-up.ts'
import { type Core, setFields, setOutbox, snapshotOf, update } from './core.ts'
import { type Lobby, problem, storageFailed, storageWorks } from './lobby.ts'
import { doubt, noteUnreadable, writeAnew } from './lost.ts'
import { endOrphans } from './orphans.ts'
import { type MessageWindow, rowName, type StoredMessage } from './ports.ts'
import { appendEvents, type Room, WINDOW } from './room.ts'
import { isUnrevised, tellUnread } from './round.ts'
import { inTerm, isNews, olderInTerm } from './taken.ts'
import { takeOlder, takeWindow } from './window.ts'

export const closedError = (): TidemarkError => new TidemarkError('aborted', 'the chat was closed')

/** The newest rows that are stored, as far back as the message with which the shown branch ends: somebody may have chosen an old one. */
async function newestRows({ storage }: Lobby, { id, state, fields }: Core): Promise<MessageWindow> {
  let window = await storage.window(id, { limit: WINDOW })
  const { session, term = 0 } = window.session ?? {}
  const headId = session?.headId ?? ''
  // What is known of an earlier term is about to go.
  const isKnown = term <= fields.term && messageOf(state, headId)
  const isThere = ({ message }: StoredMessage) => message.id === headId
  let { rows } = window
  while (headId && window.hasOlder && rows[0] && !rows.some(isThere) && !isKnown) {
    const older = await storage.window(id, { before: rows[0].position, limit: WINDOW })
    const unreadable = [...(older.unreadable ?? []), ...(window.unreadable ?? [])]
    ;({ rows } = older)
    window = { ...window, rows: [...rows, ...window.rows], hasOlder: older.hasOlder, unreadable }
  }
  return window
}

/** Takes what is stored of a session, as it is between two writes. */
export async function read(lobby: Lobby, room: Room): Promise<void> {
  const { core } = room
  const window = await newestRows(lobby, core)
  const { session, unreadable } = window
  noteUnreadable(lobby, window)
  const isUnread = unreadable?.includes(rowName('sessions', [core.id]))
  const { stored } = room
  // Epochs only rise: a lower one is of a new database, in which another tab has written already.
  const isNew = stored && !isUnread && (!session || session.epoch < stored.epoch)
  if (isNew) writeAnew(lobby, room)
  if (isNew && !session) return
  const owns = lobby.runtime.truth === 'client'
  const unsaved = lobby.persist.unsaved(core)
  takeWindow(room, inTerm(lobby, room, window, unsaved), unsaved, owns)
  room.stored = isUnread ? null : session
  if (!room.leading && !owns) doubt(room, window)
}

/** Reads what is stored again, after another tab may have written it. */
export async function readAgain(lobby: Lobby, room: Room): Promise<void> {
  await room.ready
  if (room.loaded) await lobby.persist.between(room.core, () => read(lobby, room))
}

/** The same, where it is another than this tab knows: every batch raises the epoch of the session's row. */
export async function readSince(lobby: Lobby, room: Room): Promise<void> {
  const { core } = room
  await lobby.persist.between(core, async () => {
    if (!room.loaded) return
    const { session } = await lobby.storage.window(core.id, { limit: 1 })
    if (!session || session.epoch !== room.stored?.epoch) await read(lobby, room)
  })
}

/** A session that the other side has told of: what is said in it follows its head. */
export function adopt(lobby: Lobby, { core, loaded }: Room): void {
  const session = lobby.listed.get(core.id)
  if (!session || !loaded || core.state.session || core.state.deleted || lobby.runtime.truth === 'client')
    return
  update(core, (state) => ({ ...state, session, headId: state.headId ?? session.headId }))
}

/** Answers that were in flight when their tab went are over, or gone on with. */
export async function endRuns(lobby: Lobby, room: Room, among: Iterable<string>): Promise<void> {
  if (lobby.runtime.truth === 'server') return
  const { runtime, account, persist, env } = lobby
  const { events, rows } = endOrphans(room.core, new Set(among), account, runtime)
  // In one transaction: whoever finds the one has the other.
  setOutbox(room.core, rows)
  if (events.length > 0) await appendEvents(room, events, persist, env)
  if (rows.length > 0) room.drain?.kick()
}

/** Reads what is stored, where that is not done yet. Where storage fails the session opens empty: the other side may still have it. */
export async function load(lobby: Lobby, room: Room): Promise<boolean> {
  const { core } = room
  const known = new Set(core.state.live.keys())
  try {
    // One at a time: what a second one reads may be older than what was written after the first.
    room.reading ??= room.loaded ? undefined : read(lobby, room)
    await room.reading
  } catch (thrown) {
    if (!lobby.closed) storageFailed(lobby, thrown)
  }
  room.reading = undefined
  setFields(core, { loading: false })
  if (room.loaded) adopt(lobby, room)
  // Late: it is led already, over what could be read only now.
  // Not waited for: what is written waits for this.
  const found = [...core.state.live.keys()].filter((id) => !known.has(id))
  if (room.loaded && room.leading) void endRuns(lobby, room, found)
  return room.loaded
}

/** Goes on trying to read what could not be read at first. */
export async function loadLater(lobby: Lobby, room: Room): Promise<void> {
  const { env, ended } = lobby
  for (let attempt = 0; !room.loaded && !lobby.closed; attempt++) {
    // Ended with the chat, which is no failure.
    await env.sleep(backoffDelay(attempt, env.random()), ended.signal).catch(() => undefined)
    if (lobby.closed || !(await load(lobby, room))) continue
    storageWorks(lobby)
    room.drain?.kick()
  }
}

/** The next older window of what is stored. Returns whether it brought anything. */
async function readStored(lobby: Lobby, room: Room): Promise<boolean> {
  const { core } = room
  if (!(await load(lobby, room)) || !core.fields.unread) return false
  const { floor } = room
  try {
    const window = await lobby.storage.window(core.id, { before: floor, limit: WINDOW })
    const { rows, hasOlder } = window
    const unsaved = lobby.persist.unsaved(core)
    takeOlder(room, olderInTerm(lobby, room, window, unsaved), unsaved)
    room.floor = rows[0]?.position ?? floor
    setFields(core, { unread: rows.length > 0 && hasOlder })
    return rows.length > 0
  } catch (thrown) {
    if (lobby.closed) throw closedError()
    storageFailed(lobby, thrown)
    return false
  }
}

/**
 * Reads what is stored before anything is written: in another history all of it, so that what that one does not have goes
 * with the first batch. Returns whether it could.
 */
export async function readFirst(lobby: Lobby, room: Room): Promise<boolean> {
  const { core } = room
  if (!(await load(lobby, room))) return false
  while (core.fields.unread && core.fields.complete && isNews(lobby, room))
    if (!(await readStored(lobby, room).catch(() => false)) && core.fields.unread) return false
  return true
}

/**
 * Reads what changed, in a tab that another one follows the session for, or that does not follow it yet. Like a tab that does
 * it goes on trying while nobody can be reached.
 */
export async function resync(lobby: Lobby, room: Room): Promise<void> {
  const { runtime, env, ended } = lobby
  const { core } = room
  for (let attempt = 0; !lobby.closed && !core.state.deleted; attempt++) {
    if (room.sync) return room.sync.resync()
    const byMessage = core.fields.complete && isUnrevised(core.state)
    try {
      const malformed = await catchUp(core, { runtime, env, byMessage, looksOn: true }, ended.signal)
      return tellUnread((...told) => problem(lobby, ...told), malformed, 'messages')
    } catch (thrown) {
      const error = errorData(thrown, 'protocol')
      // What the other side does not have, there is none of.
      if (lobby.closed || error.code === 'not-found') return
      if (!isRetryable(error)) throw thrown
    }
    // Ended with the chat, which is no failure.
    await env.sleep(backoffDelay(attempt, env.random()), ended.signal).catch(() => undefined)
  }
}

/** The next older window, from storage or else from the server. Returns whether it brought anything. */
export async function readOlder(lobby: Lobby, room: Room): Promise<boolean> {
  const { core } = room
  if (await readStored(lobby, room)) return true
  const oldest = () => snapshotOf(core).messages[0]
  const shown = oldest()
  if (lobby.runtime.truth === 'client' || shown?.parentId === null) return false
  const from = shown?.seq === undefined ? newestId(core.state) : shown.id
  // What the shown branch goes on with may be many pages away.
  for (let before = from; before !== null && messageOf(core.state, before); ) {
    const query = { before, limit: WINDOW }
    const { page, malformed } = await lobby.runtime.page(core.id, query, lobby.ended.signal)
    tellUnread((...told) => problem(lobby, ...told), malformed, 'messages')
    update(core, (state, trace) => mergePage(state, page, trace))
    const [first] = page.messages
    if (!first && malformed === 0) setFields(core, { complete: true })
    // A server may not know what is asked of it.
    if (!first || first.id === before) return false
    if (oldest()?.id !== shown?.id) return true
    before = first.id
  }
  return false
}

/** Whether something is there, and not the message with which the shown branch is to end. */
const isHeadless = ({ state, fields }: Core): boolean =>
  state.headId !== null &&
  state.rest.size > 0 &&
  !messageOf(state, state.headId) &&
  // Between two pages of all that there is: it comes with the last one.
  (fields.complete || state.cursor !== null || state.rev === 0)

/** Reads on where the shown branch is to end with a message that is not loaded: somebody elsewhere chose an old one. */
export async function seekHead(lobby: Lobby, room: Room): Promise<void> {
  const { core } = room
  const { headId } = core.state
  if (!room.loaded || room.sought === headId || !isHeadless(core)) return
  room.sought = headId
  try {
    // What a tab that does not lead lacks, the one that does will store.
    while (isHeadless(core) && (core.fields.unread || (room.leading && !core.fields.complete)))
      if (!(await readOlder(lobby, room))) return
  } catch {
    // The line is told of by those who hold it. Looked for again with whatever comes next.
    room.sought = undefined
  }
}
