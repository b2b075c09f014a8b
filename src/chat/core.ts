import type { Env } from '../lib/env.ts'
import { errorFrom } from '../lib/errors.ts'
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
import { waitingIn } from './calls.ts'
import { type CoreFields, UNKNOWN } from './fields.ts'
import { type Held, hold, letGo, noteAsked, nothingHeld } from './held.ts'
import { journalOf } from './journal.ts'
import { behindAnswers, DELETED, withoutQueue, withoutSession } from './local.ts'
import { askedAnew } from './outbox.ts'
import type { JournalEntry, OutboxRow } from './ports.ts'
import { tellAll } from './tell.ts'
import type { MessageStore, SessionSnapshot } from './types.ts'
import { type View, viewOf } from './view.ts'

type Listener = () => void

/** One open session: its state, what waits to be sent, and who watches. Changed only by the functions below. */
export interface Core {
  readonly id: string
  state: SessionState
  fields: CoreFields
  readonly outbox: Map<string, OutboxRow>
  readonly held: Held
  /** Runs that were stopped in this tab. */
  readonly stopped: Set<string>
  /** Messages of stopped runs, as they looked when they were stopped. */
  frozen: ReadonlyMap<string, Message>
  readonly answers: Answers
  readonly watchers: Watchers
  readonly deps: CoreDeps
}

/** What is handed to those who append. */
export type Appended = Pick<Piece, 'index' | 'offset' | 'text'>

interface Watchers {
  readonly listeners: Set<Listener>
  readonly messages: Map<string, { store: MessageStore; notify: Listener; append(piece: Appended): void }>
  /** Messages that changed since the last notification. */
  readonly stale: Set<string>
  scheduled: boolean
  /** The last snapshot, and what it was made of. */
  last?: {
    state: SessionState
    fields: CoreFields
    view: View
    snapshot: SessionSnapshot
    frozen: Core['frozen']
  }
}

export interface CoreDeps {
  env: Env
  /** Calls back once per frame, or soon when nobody sees frames. */
  schedule(flush: () => void): void
  /** What an update changed, for storage; `stored` where it came from there. */
  onChange(core: Core, trace: Trace, origin: Origin): void
  /** Outbox rows changed or are gone. */
  onOutbox(core: Core, ids: readonly string[], origin: Origin): void
  /** Something besides the fold changed: the line, or what waits to be sent. */
  onFields(core: Core): void
}

export const newCore = (id: string, deps: CoreDeps): Core => ({
  id,
  state: emptyState(id),
  fields: UNKNOWN,
  outbox: new Map(),
  held: nothingHeld(),
  stopped: new Set(),
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
    tellAll(watchers.listeners)
  })
}

/** Where a change came from: storage need not be told what it said itself. */
export type Origin = 'new' | 'stored'

/** What a stopped run still says is not shown: its messages stay as they were, new ones stay empty until they settle. */
function freezeStopped(core: Core, before: SessionState, changed: Iterable<string>): void {
  const frozen = new Map(core.frozen)
  for (const id of changed) {
    const message = messageOf(core.state, id)
    if (!message || isSettled(message)) frozen.delete(id)
    else if (message.role === 'assistant' && core.stopped.has(message.runId ?? '') && !frozen.has(id)) {
      // What had settled and goes on was resumed by somebody.
      if (messageOf(before, id)?.status === 'interrupted') core.stopped.delete(message.runId ?? '')
      else frozen.set(id, { ...message, status: 'pending', content: [] })
    }
  }
  core.frozen = frozen
}

/** What watched messages grew by that came as a whole: from another tab, or from a page. */
function grownBy({ state, watchers }: Core, before: SessionState, { changed }: Trace): JournalEntry[] {
  const pieces: JournalEntry[] = []
  for (const id of changed) {
    const was = watchers.messages.has(id) ? messageOf(before, id) : undefined
    const now = messageOf(state, id)
    if (was && now && !isSettled(was)) pieces.push(...(journalOf(was, now) ?? []))
  }
  return pieces
}

/** Folds something in, tells those who watch, and hands on what changed. */
export function update(
  core: Core,
  change: (state: SessionState, trace: Trace) => SessionState,
  origin: Origin = 'new',
): void {
  const trace = newTrace()
  const before = core.state
  const given = change(before, trace)
  const ends = given.deleted && !before.deleted
  const outbox = core.outbox.values()
  const next = ends
    ? withoutSession(given, outbox, trace)
    : hold(core.held, core.outbox, before, behindAnswers(given, outbox, trace))
  if (next === before) return
  core.state = next
  const changed = [...trace.changed, ...trace.removed]
  const wereFrozen = core.frozen
  if (core.frozen.size + core.stopped.size > 0) freezeStopped(core, before, changed)
  const { stale, messages } = core.watchers
  for (const id of changed) stale.add(id).add(messageOf(next, id)?.clientId ?? id)
  for (const { messageId } of trace.pieces) stale.add(messageId)
  core.deps.onChange(core, trace, origin)
  // Also where the answer settles at once: what a stopped run said last is seen, but not appended.
  for (const piece of [...trace.pieces, ...grownBy(core, before, trace)])
    if (!wereFrozen.has(piece.messageId) && !core.frozen.has(piece.messageId))
      messages.get(piece.messageId)?.append(piece)
  if (ends) {
    core.answers.end(errorFrom(DELETED))
    const { refused, gone } = withoutQueue(next, core.outbox.values())
    setOutbox(core, refused, gone)
  }
  // Deltas alone end nothing.
  else if (changed.length > 0 || trace.pieces.length === 0) core.answers.settle(next, core.outbox.values())
  touch(core)
}

/** Puts and removes outbox rows. */
export function setOutbox(
  core: Core,
  rows: readonly OutboxRow[],
  gone: readonly string[] = [],
  origin: Origin = 'new',
): void {
  if (rows.length + gone.length === 0) return
  noteAsked(core.held, core.state, rows)
  for (const row of rows) core.outbox.set(row.id, row)
  for (const id of gone) core.outbox.delete(id)
  core.deps.onOutbox(core, [...rows.map(({ id }) => id), ...gone], origin)
  update(core, (state) => letGo(core.held, core.outbox, state))
  core.answers.settle(core.state, core.outbox.values())
  setFields(core, { asked: [...core.outbox.values()].some(askedAnew) })
  core.deps.onFields(core)
  touch(core)
}

/** Whether all of these fields have the same values already, by identity. Asked with every chunk. */
function sameFields<T extends object>(present: T, fields: Partial<T>): boolean {
  for (const key in fields) if (present[key] !== fields[key]) return false
  return true
}

export function setFields(core: Core, fields: Partial<CoreFields>): void {
  if (sameFields(core.fields, fields)) return
  core.fields = { ...core.fields, ...fields }
  core.deps.onFields(core)
  touch(core)
}

/** Shows these runs as they are now until their messages settle: what a stopped run still sends is not shown. */
export function freeze(core: Core, runs: ReadonlySet<string>): void {
  for (const runId of runs) core.stopped.add(runId)
  const frozen = new Map(core.frozen)
  for (const message of core.state.live.values()) {
    const named = message.role === 'assistant' && message.runId !== undefined
    if (!frozen.has(message.id) && (!named || runs.has(message.runId ?? ''))) frozen.set(message.id, message)
  }
  core.frozen = frozen
}

/** The session as it looks now; the same object until something changes. */
export function snapshotOf(core: Core): SessionSnapshot {
  const { state, fields, watchers, frozen } = core
  const { last } = watchers
  if (last && last.state === state && last.fields === fields && last.frozen === frozen) return last.snapshot
  const view = viewOf(state, frozen, last)
  const made: SessionSnapshot = {
    id: core.id,
    session: state.session,
    messages: view.messages,
    waiting: waitingIn(state, last?.snapshot.waiting),
    status: fields.loading
      ? 'loading'
      : state.live.size > 0 || state.runs.size > 0 || fields.asked
        ? fields.stalled
          ? 'stalled'
          : 'running'
        : 'ready',
    connection: fields.connection,
    // Behind the first message may be other versions of it.
    hasOlder: fields.unread || (view.hasOlder && !fields.complete),
    tidemark: fields.tidemark,
    error: state.deleted ? DELETED : fields.error,
  }
  const snapshot = last && sameFields(last.snapshot, made) ? last.snapshot : made
  watchers.last = { state, fields, view, snapshot, frozen }
  return snapshot
}

export function subscribe(core: Core, listener: Listener): () => void {
  const own = () => listener()
  core.watchers.listeners.add(own)
  return () => core.watchers.listeners.delete(own)
}
