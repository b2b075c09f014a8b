import type { Env } from '../lib/env.ts'
import { type AssistantMessage, isSettled, type Message, type ToolMessage } from '../message/schema.ts'
import { pathTo } from '../message/tree.ts'
import { type ChatEvent, parseEventId } from '../protocol/events.ts'
import { mergeMessage } from '../protocol/merge.ts'
import { reduceAll } from '../protocol/reduce.ts'
import {
  messageOf,
  messagesOf,
  putMessages,
  removeMessage,
  type SessionState,
  type Trace,
} from '../protocol/state.ts'
import type { SessionFields } from './batch.ts'
import { type Core, setFields, setOutbox, update } from './core.ts'
import type { Drain } from './drain.ts'
import { numberEvents } from './number.ts'
import { runOf } from './outbox.ts'
import type { Persist } from './persist.ts'
import { LOCAL_POSITION, type MessageWindow, type StoredMessage } from './ports.ts'
import type { Sync } from './sync.ts'
import type { ChatSession } from './types.ts'
import { tidemarkOf } from './view.ts'

/** How many messages are read at once. */
export const WINDOW = 50

/** An open session, and what serves it in this tab. */
export interface Room {
  readonly core: Core
  readonly session: ChatSession
  /** Resolves when what is stored is loaded. */
  ready: Promise<void>
  /** Reads the next older window. Resolves with whether it brought anything. */
  readOlder(): Promise<boolean>
  /** Places of what is not acknowledged yet. */
  readonly places: Map<string, number>
  nextLocal: number
  /** The lowest stored position that is loaded. */
  floor: number
  /** Whether the session has a row of its own in storage. */
  stored: boolean
  /** Whether this tab writes the session; `drain` and `sync` serve it then. */
  leading: boolean
  drain?: Drain
  sync?: Sync
  leave(): void
}

/** What a batch needs to know of a room. */
export const fieldsOf = (room: Room): SessionFields => ({
  positions: room.places,
  tidemark: room.core.fields.tidemark,
  complete: room.core.fields.complete,
  nextLocal: room.nextLocal,
  owns: room.leading || !room.stored,
})

export function nextPosition(room: Room, messageId?: string): number {
  const position = LOCAL_POSITION + room.nextLocal++
  if (messageId) room.places.set(messageId, position)
  return position
}

/** Notes where the settled part ends now. */
export function moveTidemark({ core }: Room): void {
  setFields(core, { tidemark: tidemarkOf(core.state, core.fields.tidemark) })
}

/** What another tab took away: messages nobody acknowledged that are stored no more. */
function withoutStrays(state: SessionState, window: MessageWindow, trace: Trace): SessionState {
  const stored = new Set(window.rows.map(({ message }) => message.id))
  let kept = state
  for (const message of state.rest.values()) {
    if (message.seq === undefined && !stored.has(message.id)) kept = removeMessage(kept, message.id, trace)
  }
  return kept
}

function placeRows(room: Room, rows: readonly StoredMessage[]): void {
  for (const { message, position } of rows) {
    if (position >= LOCAL_POSITION) room.places.set(message.id, position)
    room.floor = Math.min(room.floor, position)
  }
}

const mergeRows = (state: SessionState, rows: readonly StoredMessage[], trace: Trace): SessionState =>
  putMessages(
    state,
    rows.map(({ message }) => mergeMessage(messageOf(state, message.id), message)),
    trace,
  )

/** Folds older stored messages in. */
export function takeOlder(room: Room, rows: readonly StoredMessage[]): void {
  placeRows(room, rows)
  update(room.core, (state, trace) => mergeRows(state, rows, trace), 'stored')
}

/**
 * Folds what is stored into what is known. A tab that does not lead the session mirrors it: the stored head and outbox
 * stand, since the leading tab wrote them.
 */
export function takeWindow(room: Room, window: MessageWindow): void {
  const { core } = room
  const { session: stored, rows, outbox } = window
  const mirror = !room.leading
  placeRows(room, rows)
  for (const position of [...room.places.values(), ...outbox.map((row) => row.position)]) {
    room.nextLocal = Math.max(room.nextLocal, position - LOCAL_POSITION + 1)
  }
  room.nextLocal = Math.max(room.nextLocal, stored?.nextLocal ?? 0)
  room.stored ||= stored !== undefined
  const kept = new Set(outbox.map(({ id }) => id))
  setOutbox(core, outbox, mirror ? [...core.outbox.keys()].filter((id) => !kept.has(id)) : [])
  const take = (state: SessionState, trace: Trace): SessionState => {
    const put = mergeRows(mirror ? withoutStrays(state, window, trace) : state, rows, trace)
    if (!stored) return put
    const cursor = (stored.eventId && parseEventId(stored.eventId)) || null
    const session = mirror ? stored.session : (state.session ?? stored.session)
    const headId = mirror ? stored.session.headId : (state.headId ?? stored.session.headId)
    const ahead = (cursor?.n ?? 0) > (state.cursor?.n ?? 0)
    return {
      ...put,
      session,
      headId,
      cursor: ahead ? cursor : state.cursor,
      rev: Math.max(state.rev, stored.rev),
    }
  }
  update(core, take, 'stored')
  if (stored) setFields(core, { tidemark: stored.tidemark, complete: stored.complete })
}

const isDelta = ({ type }: ChatEvent) => type === 'message.delta'

/** Events of a client that owns its truth: numbered, folded in, and, where they settle something, stored. */
export async function appendEvents(
  room: Room,
  events: readonly ChatEvent[],
  persist: Persist,
  env: Env,
): Promise<void> {
  const { core } = room
  update(core, (state, trace) =>
    reduceAll(state, numberEvents(state, events, env.createId), env.now(), trace),
  )
  if (!events.every(isDelta)) await persist.commit(core)
}

/** How a message ends whose run is gone: the partial answer is kept, a tool's result will not come. */
function orphaned(message: AssistantMessage | ToolMessage): ChatEvent {
  const { id } = message
  if (message.role === 'tool') {
    return {
      type: 'message.failed',
      id,
      error: { code: 'aborted', message: 'the run was cut off before the tool answered' },
    }
  }
  return {
    type: 'message.interrupted',
    id,
    message: { ...message, status: 'interrupted', stopReason: 'aborted' },
  }
}

/** The ends of answers whose run died with its tab. What waits in the outbox is not dead: it will be sent. */
export function endOrphans({ core }: Room): ChatEvent[] {
  const waiting = new Set([...core.outbox.values()].map(runOf))
  const events: ChatEvent[] = []
  for (const message of core.state.live.values()) {
    if (isSettled(message) || message.role === 'user' || message.role === 'system') continue
    if (message.role === 'assistant' && message.status === 'pending' && waiting.has(message.runId)) continue
    events.push(orphaned(message))
  }
  return events
}

/** The branch up to a message as far as it is loaded, and whether that is all of it. */
export function branchTo({ core }: Room, messageId: string): { path: Message[]; whole: boolean } {
  const path = pathTo(messagesOf(core.state), messageId)
  return { path, whole: path[0]?.parentId === null }
}
