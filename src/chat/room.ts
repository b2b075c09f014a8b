import type { Env } from '../lib/env.ts'
import { TidemarkError } from '../lib/errors.ts'
import type { Message } from '../message/schema.ts'
import { pathTo } from '../message/tree.ts'
import type { CallWord } from '../protocol/commands.ts'
import type { ChatEvent } from '../protocol/events.ts'
import { settledBefore } from '../protocol/merge.ts'
import { reduceAll } from '../protocol/reduce.ts'
import { messageOf, messagesOf } from '../protocol/state.ts'
import { isSaved, type SessionFields } from './batch.ts'
import { type Core, setFields, update } from './core.ts'
import type { Drain } from './drain.ts'
import { numberEvents } from './number.ts'
import type { Persist } from './persist.ts'
import { type Change, LOCAL_POSITION, type OutboxRow, type StoredSession } from './ports.ts'
import type { Serving } from './serving.ts'
import type { Sync } from './sync.ts'
import type { ChatSession } from './types.ts'
import { tidemarkOf } from './view.ts'

/** How many messages are read at once. */
export const WINDOW = 50

/** An open session, and what serves it in this tab. */
export interface Room {
  readonly core: Core
  readonly session: ChatSession
  /** Resolves when what is stored is loaded, or could not be. */
  ready: Promise<unknown>
  /** Reads the next older window. Resolves with whether it brought anything. */
  readOlder(): Promise<boolean>
  /** Places of what is not acknowledged yet. */
  readonly places: Map<string, number>
  nextLocal: number
  /** The lowest stored position that is loaded, and the highest that was. */
  floor: number
  top: number
  /** Whether what is stored was read. Until then nothing is written: it would be written over that. */
  loaded: boolean
  /** The head that was looked for last, where it was not loaded. */
  sought?: string | null | undefined
  /** What is stored is being read for the first time. */
  reading?: Promise<void> | undefined
  /** The session's row as it was stored last; undefined where there is none, null where it cannot be read. */
  stored?: StoredSession | null | undefined
  /** Outbox rows as they were stored last. */
  queued: Map<string, OutboxRow>
  /** Called once this tab leads in the place of another that it was to take the session over from. */
  takesOver?: (() => void) | undefined
  /** Which of all askings for a session was the last for this one; 0 where nobody but the chat itself opened it. */
  used: number
  /** Whether this tab writes the session; `drain` and `sync` serve it then. */
  leading: boolean
  /** Whether something of when it led is not stored yet: it is written as the one that leads would, or not at all. */
  ending?: boolean
  drain?: Drain | undefined
  sync?: Sync | undefined
  serving?: Serving | undefined
  /** Puts what is said of a call that waits into the outbox. */
  say(messageId: string, word: CallWord): Promise<void>
  /** Gives the session to other tabs, and leads it again after them. */
  giveWay(): void
  /** Gives the session to other tabs. Absent while the page is kept for somebody who may come back to it. */
  leave?: (() => void) | undefined
}

/** What a batch needs to know of a room. */
export const fieldsOf = (room: Room): SessionFields => ({
  positions: room.places,
  tidemark: room.core.fields.tidemark,
  complete: room.core.fields.complete,
  nextLocal: room.nextLocal,
  term: room.core.fields.term,
  stored: room.stored,
  owns: room.leading || !!room.ending || !room.stored,
})

/** What this tab has stored itself, it need not read. */
export function noteStored(room: Room, changes: readonly Change[], { unsaved }: Persist): void {
  room.ending &&= !isSaved(unsaved(room.core))
  for (const change of changes)
    if (change.type === 'session') room.stored = change.row
    else if (change.type === 'outbox') room.queued.set(change.row.id, change.row)
    else if (change.type === 'deleteOutbox') room.queued.delete(change.id)
}

export function nextPosition(room: Room, messageId?: string): number {
  const position = LOCAL_POSITION + room.nextLocal++
  if (messageId) room.places.set(messageId, position)
  return position
}

/** Notes where the settled part ends now. Before everything older is known, nothing is known to be complete. */
export function moveTidemark({ core }: Room): void {
  const { complete, tidemark } = core.fields
  if (complete) setFields(core, { tidemark: tidemarkOf(core.state, tidemark) })
}

const isDelta = ({ type }: ChatEvent) => type === 'message.delta'

/** Events of a client that owns its truth: numbered, folded in, and, where they settle something, stored. */
export async function appendEvents(
  room: Room,
  events: readonly ChatEvent[],
  persist: Persist,
  env: Env,
): Promise<Message[]> {
  const { core } = room
  if (!room.leading) throw new TidemarkError('conflict', 'another tab goes on with the session')
  const standing: Message[] = []
  const news = events.filter((event) => {
    const known = settledBefore(event, (id) => messageOf(core.state, id))
    if (known) standing.push(known)
    return !known
  })
  update(core, (state, trace) => reduceAll(state, numberEvents(state, news, env.createId), env.now(), trace))
  // Deltas are collected: a crash costs their last moment, and nothing that was ended.
  if (!events.every(isDelta)) await persist.commit(core)
  return standing
}

/** The branch up to a message as far as it is loaded, and whether that is all of it. */
export function branchTo({ core }: Room, messageId: string): { path: Message[]; whole: boolean } {
  const path = pathTo(messagesOf(core.state), messageId)
  return { path, whole: path[0]?.parentId === null }
}
