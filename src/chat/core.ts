import type { Env } from '../lib/env.ts'
import { isSettled, type Message } from '../message/schema.ts'
import {
  emptyState,
  messageOf,
  newTrace,
  type Piece,
  type SessionState,
  type Trace,
} from '../protocol/state.ts'
import { type Answers, createAnswers } from './answers.ts'
import type { OutboxRow } from './ports.ts'
import type { Connection, MessageStore, SessionSnapshot } from './types.ts'
import { type View, viewOf } from './view.ts'

type Listener = () => void

/** What is known of a session besides the fold of its events. */
export interface CoreFields {
  connection: Connection
  loading: boolean
  tidemark: string | null
  /** Whether everything older is loaded or stored. */
  complete: boolean
}

/** One open session: its state, what waits to be sent, and who watches. Changed only by the functions below. */
export interface Core {
  readonly id: string
  state: SessionState
  fields: CoreFields
  readonly outbox: Map<string, OutboxRow>
  /** Messages of stopped runs, as they looked when they were stopped. */
  readonly frozen: Map<string, Message>
  readonly answers: Answers
  readonly watchers: Watchers
  readonly deps: CoreDeps
}

interface Watchers {
  readonly listeners: Set<Listener>
  readonly messages: Map<string, { store: MessageStore; notify: Listener; append(piece: Piece): void }>
  /** Messages that changed since the last notification. */
  readonly stale: Set<string>
  scheduled: boolean
  /** The last snapshot, and what it was made of. */
  last?: { state: SessionState; fields: CoreFields; view: View; snapshot: SessionSnapshot; frozen: number }
}

export interface CoreDeps {
  env: Env
  /** Calls back once per frame, or soon when nobody sees frames. */
  schedule(flush: () => void): void
  /** What an update changed, for storage; `stored` where it came from there. */
  onChange(core: Core, trace: Trace, origin: Origin): void
  /** Something besides the fold changed: the line, or what waits to be sent. */
  onFields(core: Core): void
}

export const newCore = (id: string, deps: CoreDeps): Core => ({
  id,
  state: emptyState(id),
  fields: { connection: 'idle', loading: true, tidemark: null, complete: false },
  outbox: new Map(),
  frozen: new Map(),
  answers: createAnswers(),
  watchers: { listeners: new Set(), messages: new Map(), stale: new Set(), scheduled: false },
  deps,
})

function touch(core: Core): void {
  const { watchers } = core
  if (watchers.scheduled) return
  watchers.scheduled = true
  core.deps.schedule(() => {
    watchers.scheduled = false
    const ids = [...watchers.stale]
    watchers.stale.clear()
    for (const id of ids) watchers.messages.get(id)?.notify()
    for (const listener of [...watchers.listeners]) listener()
  })
}

/** Where a change came from: storage need not be told what it said itself. */
export type Origin = 'new' | 'stored'

/** Folds something in, tells those who watch, and hands on what changed. */
export function update(
  core: Core,
  change: (state: SessionState, trace: Trace) => SessionState,
  origin: Origin = 'new',
): void {
  const trace = newTrace()
  const next = change(core.state, trace)
  if (next === core.state) return
  core.state = next
  const { stale, messages } = core.watchers
  for (const piece of trace.pieces) {
    stale.add(piece.messageId)
    if (!core.frozen.has(piece.messageId)) messages.get(piece.messageId)?.append(piece)
  }
  const settled = [...trace.changed, ...trace.removed]
  for (const id of settled) {
    stale.add(id)
    const message = messageOf(next, id)
    if (!message || isSettled(message)) core.frozen.delete(id)
  }
  core.deps.onChange(core, trace, origin)
  // Deltas alone end nothing.
  if (settled.length > 0 || trace.pieces.length === 0) core.answers.settle(next, core.outbox.values())
  touch(core)
}

/** Puts and removes outbox rows, as they are stored. */
export function setOutbox(core: Core, rows: readonly OutboxRow[], gone: readonly string[] = []): void {
  for (const row of rows) core.outbox.set(row.id, row)
  for (const id of gone) core.outbox.delete(id)
  core.answers.settle(core.state, core.outbox.values())
  core.deps.onFields(core)
  touch(core)
}

export function setFields(core: Core, fields: Partial<CoreFields>): void {
  const next = { ...core.fields, ...fields }
  const { connection, loading, tidemark, complete } = core.fields
  const same =
    next.connection === connection &&
    next.loading === loading &&
    next.tidemark === tidemark &&
    next.complete === complete
  if (same) return
  core.fields = next
  core.deps.onFields(core)
  touch(core)
}

/** Shows a message as it is now until it settles: what a stopped run still sends is not shown. */
export function freeze(core: Core, messageId: string): void {
  const message = messageOf(core.state, messageId)
  if (message && !isSettled(message)) core.frozen.set(messageId, message)
}

/** The session as it looks now; the same object until something changes. */
export function snapshotOf(core: Core): SessionSnapshot {
  const { state, fields, watchers, frozen } = core
  const { last } = watchers
  if (last && last.state === state && last.fields === fields && last.frozen === frozen.size)
    return last.snapshot
  const view = viewOf(state, frozen, last)
  const snapshot: SessionSnapshot = {
    id: core.id,
    session: state.session,
    messages: view.messages,
    status: fields.loading ? 'loading' : state.live.size > 0 || state.runs.size > 0 ? 'running' : 'ready',
    connection: fields.connection,
    hasOlder: view.hasOlder,
    tidemark: fields.tidemark,
  }
  watchers.last = { state, fields, view, snapshot, frozen: frozen.size }
  return snapshot
}

export function subscribe(core: Core, listener: Listener): () => void {
  const own = () => listener()
  core.watchers.listeners.add(own)
  return () => core.watchers.listeners.delete(own)
}

/** One message's store; the same object for the same id. */
export function messageStore(core: Core, id: string): MessageStore {
  const { messages } = core.watchers
  const present = messages.get(id)
  if (present) return present.store
  const listeners = new Set<Listener>()
  const appended = new Set<(piece: Piece) => void>()
  const store: MessageStore = {
    get: () => core.frozen.get(id) ?? messageOf(core.state, id),
    subscribe(listener) {
      const own = () => listener()
      listeners.add(own)
      return () => listeners.delete(own)
    },
    onAppend(listener) {
      const own = (piece: Piece) => listener({ index: piece.index, offset: piece.offset, text: piece.text })
      appended.add(own)
      return () => appended.delete(own)
    },
  }
  messages.set(id, {
    store,
    notify: () => {
      for (const listener of [...listeners]) listener()
    },
    append: (piece) => {
      for (const listener of [...appended]) listener(piece)
    },
  })
  return store
}
