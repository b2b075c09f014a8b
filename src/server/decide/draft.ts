import { TidemarkError } from '../../lib/errors.ts'
import type { Message, Session } from '../../message/schema.ts'
import type { ChatEvent, EventId } from '../../protocol/events.ts'
import type { Change, Decision, EventRow, MessageRow, RunRow, SessionRow, View } from '../ports.ts'

/** What a decision has to know besides its view. */
export interface Terms {
  /** Milliseconds since the epoch. */
  now: number
  /** By this, the events of this decision are told from those of another history. */
  tag: string
  /** Milliseconds for which a run may write without renewing its lease. */
  lease: number
  /** Events kept of a session, at least, for feeds that come back. */
  keep: number
  /** There is an event log of its own: what is not yet in it is kept. */
  external: boolean
}

/** A decision in the making. It belongs to one call of one decision, which alone changes it. */
export interface Draft {
  readonly view: View
  readonly terms: Terms
  session: SessionRow
  readonly messages: Map<string, MessageRow>
  readonly runs: Map<string, RunRow>
  readonly events: EventRow[]
  readonly rest: Change[]
  recent: boolean
}

/** The session, if it is there to be changed. Throws `not-found`, with status 410 for a deleted one. */
export function liveSession(view: View): SessionRow {
  if (!view.session) throw new TidemarkError('not-found', 'no such session', { status: 404 })
  if (view.session.deleted) throw new TidemarkError('not-found', 'the session was deleted', { status: 410 })
  return view.session
}

/** What is refused since it names something that the session does not have: the field tells a client to read it anew. */
export const notInSession = (field: string, id: string): TidemarkError =>
  new TidemarkError('invalid-request', `${field}: ${id} is not in this session`, { field })

export const openDraft = (view: View, terms: Terms, session = liveSession(view)): Draft => ({
  view,
  terms,
  session,
  messages: new Map(),
  runs: new Map(),
  events: [],
  rest: [],
  recent: false,
})

export const messageIn = (draft: Draft, id: string): MessageRow | undefined =>
  draft.messages.get(id) ?? draft.view.messages.get(id)

export const runIn = (draft: Draft, id: string): RunRow | undefined =>
  draft.runs.get(id) ?? draft.view.runs.get(id)

/** The run that is running, or waits, as far as the draft has come. */
export function activeIn(draft: Draft): RunRow | undefined {
  for (const run of draft.runs.values()) if (run.state === 'running' || run.state === 'waiting') return run
  const { active } = draft.view
  return active && !draft.runs.has(active.id) ? active : undefined
}

/** The runs that wait, as far as the draft has come. */
export function queueIn(draft: Draft): RunRow[] {
  const known = draft.view.queue.map((run) => draft.runs.get(run.id) ?? run)
  const added = [...draft.runs.values()].filter((run) => !draft.view.queue.some(({ id }) => id === run.id))
  return [...known, ...added].filter((run) => run.state === 'queued')
}

/** Gives an event the next number. */
export function emit(draft: Draft, event: ChatEvent): EventId {
  const id = { n: draft.session.events + 1, tag: draft.terms.tag }
  draft.session = { ...draft.session, events: id.n, tag: id.tag }
  draft.events.push({ id, event })
  return id
}

export function nextRev(draft: Draft): number {
  const rev = draft.session.rev + 1
  draft.session = { ...draft.session, rev }
  return rev
}

export function nextSeq(draft: Draft): number {
  const seq = draft.session.seq + 1
  draft.session = { ...draft.session, seq }
  return seq
}

/** Puts a message as of the last event. */
export function putMessage(draft: Draft, message: Message, runId: string | null): void {
  draft.messages.set(message.id, { message, runId, folded: draft.session.events })
}

export const putRun = (draft: Draft, run: RunRow): void => {
  draft.runs.set(run.id, run)
}

/** Changes what clients see of the session, and tells them. */
export function changeSession(
  draft: Draft,
  fields: Partial<Pick<Session, 'title' | 'metadata' | 'headId'>>,
): void {
  const rev = nextRev(draft)
  const session: Session = { ...draft.session.session, ...fields, rev, updatedAt: draft.terms.now }
  draft.session = { ...draft.session, session }
  draft.recent = true
  emit(draft, { type: 'session.updated', session })
}

export function moveHead(draft: Draft, headId: string | null): void {
  if (draft.session.session.headId !== headId) changeSession(draft, { headId })
}

export function decided<T>(draft: Draft, answer: T): Decision<T> {
  const changes: Change[] = [
    { type: 'session', row: draft.session, recent: draft.recent },
    ...[...draft.messages.values()].map((row): Change => ({ type: 'message', row })),
    ...[...draft.runs.values()].map((row): Change => ({ type: 'run', row })),
    ...draft.events.map((row): Change => ({ type: 'event', row })),
    ...draft.rest,
  ]
  return { changes, answer }
}
