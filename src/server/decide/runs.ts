import type { Message } from '../../message/schema.ts'
import type { ChatEvent } from '../../protocol/events.ts'
import { settledBefore } from '../../protocol/merge.ts'
import type { Decision, Needs, RunRow, Scope, View } from '../ports.ts'
import { isDue, unsettledOf } from './calls.ts'
import {
  activeIn,
  type Draft,
  decided,
  emit,
  messageIn,
  moveHead,
  openDraft,
  putMessage,
  putRun,
  queueIn,
  type Terms,
} from './draft.ts'
import { endRun, isSend, parentOf, record } from './record.ts'

/** The right to write a run. It ends when another epoch is given, when the run ends, or unnoticed when it lapses. */
export interface Lease {
  scope: Scope
  runId: string
  epoch: number
  /** The user message to answer, or the answer to go on from. */
  answers: string
  continues: boolean
  /** What the run has written already, in order. */
  messages: readonly string[]
}

/** What changed for those who produce: a run to begin, runs that have been ended. */
export interface Handover {
  lease?: Lease
  ended: readonly string[]
}

/** Whether the lease of a run has lapsed: nobody writes it any more, or it has waited long enough. */
export const isLapsed = (run: RunRow | undefined, now: number): boolean =>
  (run?.state === 'running' || run?.state === 'waiting') && run.leaseUntil < now

/** Gives a lease on a run that is to begin, or to be gone on with, under the next epoch. */
export function beginRun(draft: Draft, run: RunRow): Lease | undefined {
  if (run.answers === null) return undefined
  const { now, lease } = draft.terms
  const epoch = draft.session.epoch + 1
  draft.session = { ...draft.session, epoch }
  putRun(draft, { ...run, state: 'running', epoch, leaseUntil: now + lease })
  const row = messageIn(draft, run.answers)
  const continues = run.kind === 'continue'
  if (row && row.runId !== run.id && !continues) putMessage(draft, row.message, run.id)
  emit(draft, { type: 'run.started', runId: run.id })
  // Its answer will be a sibling of the one that is shown: what it writes becomes the head only from here.
  if (!isSend(run) && run.messages.length === 0) moveHead(draft, parentOf(draft, run))
  const { account, session } = draft.session
  const { id: runId, answers, messages } = run
  return { scope: { account, sessionId: session.id }, runId, epoch, answers, continues, messages }
}

/** Begins the first run that waits, where none is running. */
export function beginNext(draft: Draft): Lease | undefined {
  const [first] = queueIn(draft)
  return first && !activeIn(draft) ? beginRun(draft, first) : undefined
}

/** Goes on with a run that waits, where there is something to do. The view must hold the unsettled messages. */
export function goOn(draft: Draft): Lease | undefined {
  const run = activeIn(draft)
  return run?.state === 'waiting' && isDue(draft, run.id) ? beginRun(draft, run) : undefined
}

/**
 * Whether a run was cut off where it can be gone on with: among its calls, all of which can still be answered, or before a
 * model had said anything of its next answer.
 */
const canGoOn = (draft: Draft, { id }: RunRow): boolean =>
  unsettledOf(draft, id).every(({ status }) => status === 'pending')

export const ADVANCE: Needs = { unsettled: true, queue: true }

/**
 * Ends a run whose producer is gone, as `interrupted`, and begins the next one if `begin`. One that was cut off among its
 * calls or between two model calls, or waits and has something to do, is gone on with.
 */
export function advance(view: View, terms: Terms, { begin }: { begin: boolean }): Decision<Handover> {
  if (!view.session || view.session.deleted) return { changes: [], answer: { ended: [] } }
  const draft = openDraft(view, terms)
  const { active } = view
  const isDead = active?.state === 'running' && isLapsed(active, terms.now)
  const goesOn = isDead && canGoOn(draft, active)
  const ended = isDead && !goesOn ? [active.id] : []
  if (active && ended.length > 0) endRun(draft, active, 'interrupted')
  const next = () => (goesOn ? beginRun(draft, active) : (goOn(draft) ?? beginNext(draft)))
  const lease = begin ? next() : undefined
  if (!lease && ended.length === 0) return { changes: [], answer: { ended: [] } }
  return decided(draft, { ...(lease && { lease }), ended })
}

/** What stands instead of what was to be written, where somebody else was first; a lost lease writes nothing. */
export type Written = readonly Message[] | 'lost'

const holds = (view: View, { runId, epoch }: Lease): RunRow | undefined =>
  view.active?.id === runId && view.active.epoch === epoch && view.active.state === 'running'
    ? view.active
    : undefined

/**
 * What `append` has to see to write these events.
 * @param fold deltas are to be written into the rows, too, so that nobody has to add up too many of them
 */
export function needsOf(events: readonly ChatEvent[], fold = false): Needs {
  const messages = new Set<string>()
  for (const event of events) {
    if (event.type === 'message.started' || (fold && event.type === 'message.delta')) messages.add(event.id)
    else if (event.type === 'message.failed' || event.type === 'message.interrupted') messages.add(event.id)
    else if (event.type === 'message.completed' || event.type === 'message.updated')
      messages.add(event.message.id)
  }
  return {
    messages: [...messages],
    queue: events.some(({ type }) => type === 'message.created'),
    unsettled: events.some(({ type }) => type === 'run.waiting'),
  }
}

/** Writes a run's events under its lease, which lives on by that. */
export function append(
  view: View,
  lease: Lease,
  events: readonly ChatEvent[],
  terms: Terms,
): Decision<Written> {
  const run = holds(view, lease)
  if (!run || !view.session || view.session.deleted) return { changes: [], answer: 'lost' }
  const draft = openDraft(view, terms)
  if (run.leaseUntil - terms.now < (terms.lease * 2) / 3) {
    putRun(draft, { ...run, leaseUntil: terms.now + terms.lease })
  }
  const standing: Message[] = []
  for (const event of events) {
    const known = settledBefore(event, (id) => messageIn(draft, id)?.message)
    if (known) standing.push(known)
    else record(draft, run.id, event)
  }
  return decided(draft, standing)
}

/** Keeps a lease while there is nothing to write. */
export function renew(view: View, lease: Lease, terms: Terms): Decision<Written> {
  const run = holds(view, lease)
  if (!run) return { changes: [], answer: 'lost' }
  const row: RunRow = { ...run, leaseUntil: terms.now + terms.lease }
  return { changes: [{ type: 'run', row }], answer: [] }
}

/** Ends a run that its producer cannot go on with. */
export function abandon(view: View, lease: Lease, terms: Terms): Decision<Written> {
  const run = holds(view, lease)
  if (!run) return { changes: [], answer: 'lost' }
  const draft = openDraft(view, terms)
  endRun(draft, run, 'interrupted')
  return decided(draft, [])
}
