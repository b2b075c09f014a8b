import type { Message, Session } from '../message/schema.ts'
import { parseEventId } from '../protocol/events.ts'
import { mergeMessage, sameJson } from '../protocol/merge.ts'
import { messageOf, putMessages, type SessionState, type Trace } from '../protocol/state.ts'
import { type Unsaved, withoutStored } from './batch.ts'
import { type Core, setFields, setOutbox, update } from './core.ts'
import { behindStored, localAfter } from './late.ts'
import { without, withoutMessage } from './local.ts'
import { withHead } from './lost.ts'
import { asAsked } from './others.ts'
import { askedId } from './outbox.ts'
import { LOCAL_POSITION, type MessageWindow, type OutboxRow, type StoredMessage } from './ports.ts'
import type { Room } from './room.ts'

/** What nobody has acknowledged is as it is stored: any tab may change it, and has written what it changed. */
function standing(present: Message | undefined, stored: Message, unsaved: Unsaved): Message {
  const isLocal = present?.seq === undefined && stored.seq === undefined && !unsaved.messages.has(stored.id)
  return present && isLocal && !sameJson(present, stored) ? stored : mergeMessage(present, stored)
}

const mergeRows = (
  state: SessionState,
  rows: readonly StoredMessage[],
  unsaved: Unsaved,
  trace: Trace,
): SessionState =>
  putMessages(
    state,
    rows.flatMap(({ message }) => {
      const present = messageOf(state, message.id)
      // What was taken away here is not written yet.
      return present || !unsaved.messages.has(message.id) ? [standing(present, message, unsaved)] : []
    }),
    trace,
  )

/** What another tab took away: messages nobody acknowledged that are stored no more. */
function straysIn({ core, places }: Room, { rows, hasOlder }: MessageWindow, unsaved: Unsaved): Message[] {
  const stored = new Set(rows.map(({ message }) => message.id))
  const floor = hasOlder ? (rows[0]?.position ?? 0) : 0
  return [...core.state.rest.values()].filter(
    ({ id, seq }) =>
      seq === undefined && !stored.has(id) && !unsaved.messages.has(id) && (places.get(id) ?? 0) >= floor,
  )
}

/** What this tab took away itself, which is not written yet: another may have said something after it meanwhile. */
const takenAway = ({ core }: Room, { rows }: MessageWindow, unsaved: Unsaved): Message[] =>
  rows.flatMap(({ message }) =>
    message.seq === undefined && unsaved.messages.has(message.id) && !messageOf(core.state, message.id)
      ? [message]
      : [],
  )

/** Takes them away here as well. What was said after them by somebody who had not seen that follows what they followed. */
function removeStrays(core: Core, strays: readonly Message[]): void {
  for (const { id, parentId } of strays) {
    const { followers, gone } = withoutMessage(core.outbox.values(), id, parentId)
    const origin = followers.length > 0 ? 'new' : 'stored'
    update(core, (state, trace) => without(state, id, undefined, parentId, trace), origin)
    setOutbox(core, followers, gone)
  }
}

function placeRows(room: Room, rows: readonly StoredMessage[]): void {
  for (const { message, position } of rows) {
    if (position >= LOCAL_POSITION) room.places.set(message.id, position)
    else room.top = Math.max(room.top, position)
  }
}

/** Folds older stored messages in. */
export function takeOlder(room: Room, { rows }: MessageWindow, unsaved: Unsaved): void {
  placeRows(room, rows)
  update(room.core, (state, trace) => mergeRows(state, rows, unsaved, trace), 'stored')
}

/** Notes which part of what is stored is loaded. A window that does not touch it is where older ones are read from next. */
function bound(room: Room, { rows, hasOlder }: MessageWindow): void {
  const lowest = rows[0]?.position ?? room.floor
  const apart = hasOlder && lowest > room.top
  if (room.floor === Number.POSITIVE_INFINITY || (apart && !room.leading)) {
    room.floor = lowest
    setFields(room.core, { unread: hasOlder })
  }
  placeRows(room, rows)
}

/** Makes place for what was stored before, where somebody has spoken already. */
function moveBehind(room: Room, window: MessageWindow, owns: boolean): void {
  const { core, places } = room
  const { live, rest } = core.state
  if (live.size + rest.size + core.outbox.size === 0) return
  const shift = localAfter(window)
  for (const [id, position] of places) places.set(id, position + shift)
  room.nextLocal += shift
  setOutbox(
    core,
    [...core.outbox.values()].map((row) => ({ ...row, position: row.position + shift })),
  )
  if (owns) update(core, (state, trace) => behindStored(state, window, trace))
}

/** What this tab has said and not written follows what another wrote meanwhile: no two stand in one place. */
function moveAside(room: Room, window: MessageWindow, unsaved: Unsaved): void {
  const { core, places, queued } = room
  const free = LOCAL_POSITION + localAfter(window)
  const stored = new Set(window.rows.map(({ message }) => message.id))
  // A write that was said to have failed may have been done: others have read it, and stand behind it.
  const waiting = new Set([...queued.keys(), ...window.outbox.map(({ id }) => id)])
  const said = [...places].filter(([id]) => unsaved.messages.has(id) && !stored.has(id))
  const asked = [...core.outbox.values()].filter(
    ({ id, position }) => position > 0 && unsaved.outbox.has(id) && !waiting.has(id),
  )
  const taken = [...said.map(([, position]) => position), ...asked.map(({ position }) => position)]
  const shift = free - Math.min(free, ...taken)
  room.nextLocal += shift
  for (const [id, position] of said) places.set(id, position + shift)
  if (shift > 0)
    setOutbox(
      core,
      asked.map((row) => ({ ...row, position: row.position + shift })),
    )
}

/**
 * What this tab has not written yet of rows that another has changed or taken away meanwhile: that one was faster. The end
 * of a row stands whoever wrote it.
 */
function yieldTo(
  { core, queued }: Room,
  { rows, outbox }: MessageWindow,
  unsaved: Unsaved,
  owns: boolean,
): void {
  const stored = new Map(outbox.map((row) => [row.id, row]))
  const accepted = new Set(
    rows.flatMap(({ message: { id, seq } }) => (owns || seq === undefined ? [] : [id])),
  )
  for (const [id, was] of queued) {
    const row = stored.get(id)
    const asked = askedId(was)
    // Given up here, and accepted before that was written: it is said.
    if (accepted.has(asked) && !messageOf(core.state, asked)) unsaved.messages.delete(asked)
    if (row && (!core.outbox.has(id) || sameJson(row, was))) continue
    unsaved.outbox.delete(id)
    if (!row && messageOf(core.state, asked)?.seq === undefined) unsaved.messages.delete(asked)
  }
}

/** Outbox rows as they are stored, except those that this tab has changed since. Returns those that it did not know. */
function takeOutbox(room: Room, window: MessageWindow, unsaved: Unsaved, owns: boolean): OutboxRow[] {
  const { core } = room
  const { outbox: stored } = window
  yieldTo(room, window, unsaved, owns)
  room.queued = new Map(stored.map((row) => [row.id, row]))
  const ids = new Set(stored.map(({ id }) => id))
  const theirs = stored.filter(({ id }) => !unsaved.outbox.has(id))
  const news = theirs.filter(({ id }) => !core.outbox.has(id))
  const changed = theirs.filter((row) => !sameJson(core.outbox.get(row.id), row))
  const gone = [...core.outbox.keys()].filter((id) => !ids.has(id) && !unsaved.outbox.has(id))
  setOutbox(core, changed, gone, 'stored')
  return news
}

/**
 * Where the stored branch ends. A tab that does not lead may have taken that message away: then where the branch ends without
 * it, as far as that is known, or else with the newest message.
 */
function headIn(
  state: SessionState,
  { headId, rev }: Session,
  { rows, hasOlder }: MessageWindow,
): string | null {
  const mayBeElsewhere = hasOlder || (rows.length === 0 && rev !== undefined)
  if (headId === null || mayBeElsewhere || messageOf(state, headId)) return headId
  return state.headId ?? rows.findLast(({ message }) => messageOf(state, message.id))?.message.id ?? null
}

/**
 * The session's own row: a tab that does not lead mirrors it, or one that another has overtaken; one that led before may know
 * more than it could store.
 */
function withSession(room: Room, state: SessionState, window: MessageWindow): SessionState {
  const { session: stored } = window
  if (!stored) return state
  if (stored.deleted) return state.deleted ? state : { ...state, deleted: true }
  const cursor = (stored.eventId && parseEventId(stored.eventId)) || null
  const news = (cursor?.n ?? 0) - (state.cursor?.n ?? 0)
  const ahead = news > 0
  const knows = room.leading || room.ending ? !ahead : news < 0
  const storedHead = headIn(state, stored.session, window)
  const own = knows ? state.session : undefined
  const session = own ?? (sameJson(state.session, stored.session) ? state.session : stored.session)
  const headId = knows ? (state.headId ?? storedHead) : storedHead
  const rev = Math.max(state.rev, stored.rev)
  const same = session === state.session && headId === state.headId && !ahead && rev === state.rev
  if (same) return state
  // Which runs began and ended in what was passed over, no row says.
  return { ...state, session, headId, rev, ...(ahead && { cursor, runs: new Set<string>() }) }
}

/**
 * Folds what is stored into what is known.
 * @param unsaved what this tab has not written yet: it stands
 * @param owns whether this client owns the truth, and numbers what it says
 */
export function takeWindow(room: Room, window: MessageWindow, unsaved: Unsaved, owns: boolean): void {
  const { core } = room
  const { session: stored, rows } = window
  const { cursor, headId } = core.state
  if (room.loaded) moveAside(room, window, unsaved)
  else moveBehind(room, window, owns)
  room.loaded = true
  bound(room, window)
  room.nextLocal = Math.max(room.nextLocal, localAfter(window))
  withoutStored(unsaved, rows)
  const news = takeOutbox(room, window, unsaved, owns)
  const take = (state: SessionState, trace: Trace): SessionState => {
    // What is stored of a session that was deleted here is on its way out.
    if (state.deleted && !stored?.deleted) return state
    const merged = withHead(withSession(room, mergeRows(state, rows, unsaved, trace), window), window, owns)
    // The events that made them so may still come.
    return merged.live.size > 0 && !merged.ahead ? { ...merged, ahead: true } : merged
  }
  if (!core.state.deleted || stored?.deleted) removeStrays(core, straysIn(room, window, unsaved))
  update(core, take, 'stored')
  removeStrays(core, takenAway(room, window, unsaved))
  if (stored && !room.leading) setFields(core, { tidemark: stored.tidemark, complete: stored.complete })
  if (owns) setFields(core, { complete: true })
  const isSame = headId !== null && core.state.cursor === cursor
  const asked = room.leading && isSame ? news : [...core.outbox.values()]
  update(core, (state) => asAsked(state, asked, owns), room.leading ? 'new' : 'stored')
}
