import { TidemarkError } from '../../lib/errors.ts'
import { isSettled, type Message, SCHEMA_VERSION } from '../../message/schema.ts'
import type { ChatEvent, ChatEventType, RunOutcome } from '../../protocol/events.ts'
import { CUT_OFF, failure, settled } from '../../turn/result.ts'
import type { MessageRow, RunRow } from '../ports.ts'
import { waitsUntil } from './calls.ts'
import {
  type Draft,
  emit,
  messageIn,
  moveHead,
  nextRev,
  nextSeq,
  putMessage,
  putRun,
  runIn,
} from './draft.ts'
import { foldDelta } from './fold.ts'

type EventOf<T extends ChatEventType> = Extract<ChatEvent, { type: T }>
type Recorder<T extends ChatEventType> = (draft: Draft, runId: string, event: EventOf<T>) => void

const refuse = (_: Draft, runId: string, { type }: ChatEvent): void => {
  throw new TidemarkError('protocol', `run ${runId} cannot write ${type}`)
}

/** What each event of a run changes. Numbered and dated here: a run knows neither places nor revisions. */
const RECORD: { readonly [T in ChatEventType]: Recorder<T> } = {
  'message.created': (draft, runId, { message }) => createMessage(draft, runId, message),
  'message.started': (draft, runId, event) => {
    const { message } = written(draft, runId, event.id)
    const rev = nextRev(draft)
    const { type: _, id: __, rev: ___, status = 'streaming', ...fields } = event
    emit(draft, { ...event, rev, runId })
    const started = { ...message, ...(message.role === 'assistant' && { ...fields, runId }) }
    putMessage(draft, { ...started, status, rev, updatedAt: draft.terms.now }, runId)
  },
  'message.delta': (draft, runId, event) => {
    const row = assertOwn(draft, runId, event.id)
    emit(draft, event)
    // Kept as an event alone where its row is not at hand: a row that grows is not written again for each delta.
    if (row) putMessage(draft, foldDelta(row.message, event), runId)
  },
  'message.completed': (draft, runId, { type, message }) =>
    settle(draft, runId, { ...message, status: 'completed' }, type),
  'message.updated': (draft, runId, event) => {
    const message = merged(draft, written(draft, runId, event.message.id), event.message)
    emit(draft, { type: 'message.updated', message })
    putMessage(draft, message, runId)
  },
  'message.failed': (draft, runId, { type, id, error, message }) => {
    const known = message ?? written(draft, runId, id).message
    settle(draft, runId, { ...known, status: 'failed', error }, type)
  },
  'message.interrupted': (draft, runId, { type, id, message }) => {
    const known = message ?? written(draft, runId, id).message
    settle(draft, runId, { ...known, status: 'interrupted' }, type)
  },
  'run.finished': (draft, runId, event) => finishRun(draft, runId, event),
  // Said when the lease was given.
  'run.started': () => undefined,
  'run.waiting': (draft, runId, event) => {
    emit(draft, event)
    const run = runIn(draft, runId)
    if (run) putRun(draft, { ...run, state: 'waiting', leaseUntil: waitsUntil(draft, runId) })
  },
  'message.finished': refuse,
  'message.deleted': refuse,
  'session.updated': refuse,
  'session.deleted': refuse,
  unknown: refuse,
  gap: refuse,
}

/** Writes one event of a run: numbers it, and changes the rows it speaks of. Throws `protocol` for what no run may say. */
export function record<T extends ChatEventType>(
  draft: Draft,
  runId: string,
  event: EventOf<T> & { type: T },
): void {
  const apply: Recorder<T> = RECORD[event.type]
  apply(draft, runId, event)
}

/** That a message is this run's and not settled, as far as its row is at hand: a delta need not have it. */
function assertOwn(draft: Draft, runId: string, id: string): MessageRow | undefined {
  const row = messageIn(draft, id)
  if (!runIn(draft, runId)?.messages.includes(id)) {
    throw new TidemarkError('protocol', `run ${runId} did not create message ${id}`)
  }
  if (row && isSettled(row.message)) throw new TidemarkError('protocol', `message ${id} is settled already`)
  return row
}

/** A message of this run that is not settled. */
function written(draft: Draft, runId: string, id: string): MessageRow {
  const row = assertOwn(draft, runId, id)
  if (!row) throw new TidemarkError('protocol', `message ${id} is gone`)
  return row
}

function createMessage(draft: Draft, runId: string, given: Message): void {
  const run = runIn(draft, runId)
  if (!run || messageIn(draft, given.id)) throw new TidemarkError('protocol', `message ${given.id} exists`)
  const { sessionId } = run
  const message: Message = { ...given, sessionId, seq: nextSeq(draft), rev: nextRev(draft) }
  emit(draft, { type: 'message.created', message })
  putMessage(draft, message, runId)
  putRun(draft, { ...run, messages: [...run.messages, message.id] })
  moveSaid(draft, message)
  if (draft.session.session.headId === message.parentId) moveHead(draft, message.id)
}

/** Whether a run answers a message that came with it. */
export const isSend = ({ kind }: Pick<RunRow, 'kind'>): boolean => kind === 'send' || kind === 'steer'

/**
 * What is said during a run hangs from the newest message of that run, wherever it ends: what waits, its edits, and what was
 * stopped before its turn came.
 */
function moveSaid(draft: Draft, created: Message): void {
  for (const id of new Set([...draft.view.messages.keys(), ...draft.messages.keys()])) {
    const said = messageIn(draft, id)
    if (said?.message.role !== 'user' || said.message.parentId !== created.parentId) continue
    const message: Message = { ...said.message, parentId: created.id, rev: nextRev(draft) }
    emit(draft, { type: 'message.updated', message })
    putMessage(draft, message, said.runId)
  }
}

/** The run's version of a message, with what only the session knows of it. */
function merged(draft: Draft, row: MessageRow, given: Message): Message {
  const { id, sessionId, parentId, seq, createdAt } = row.message
  return {
    ...given,
    id,
    sessionId,
    parentId,
    createdAt,
    ...(seq !== undefined && { seq }),
    rev: nextRev(draft),
    updatedAt: draft.terms.now,
  }
}

function settle(
  draft: Draft,
  runId: string,
  given: Message,
  type: 'message.completed' | 'message.failed' | 'message.interrupted',
): void {
  const message = merged(draft, written(draft, runId, given.id), given)
  const rev = message.rev ?? 0
  if (type === 'message.completed') emit(draft, { type, message })
  else if (type === 'message.interrupted') emit(draft, { type, id: message.id, rev, message })
  else if (message.error) emit(draft, { type, id: message.id, rev, error: message.error, message })
  putMessage(draft, message, runId)
}

/** The end of a run, as it says itself or as somebody else does. */
export function finishRun(draft: Draft, runId: string, said: EventOf<'run.finished'>): void {
  const run = runIn(draft, runId)
  if (!run) throw new TidemarkError('protocol', `run ${runId} is unknown`)
  const { n } = emit(draft, { ...said, runId })
  putRun(draft, { ...run, state: 'finished', outcome: said.outcome, ended: n })
  trim(draft)
}

/** Between two runs nothing is unsettled, so that no event is needed to tell what a message holds. */
function trim(draft: Draft): void {
  const { keep, external } = draft.terms
  const { events, trimmed, published } = draft.session
  const upTo = Math.min(events - keep, external ? published : events)
  // Not event by event: a run's worth at a time.
  if (upTo - trimmed < keep) return
  draft.session = { ...draft.session, trimmed: upTo }
  draft.rest.push({ type: 'trim', upTo })
}

/** What an unsettled message becomes when its run has ended without it. */
function abandoned(message: Message, now: number): Message {
  if (message.role === 'assistant') return { ...message, status: 'interrupted', stopReason: 'aborted' }
  if (message.role !== 'tool') return message
  // The model has to learn of it: it may have had its effect.
  const isBegun = message.stage !== 'approval' && message.stage !== 'approved'
  return settled(message, failure(isBegun ? CUT_OFF : 'the run ended before the tool was executed'), now)
}

/** What the first answer of a run hangs from. The view must hold what the run answers, where that is gone on from. */
export function parentOf(draft: Draft, { kind, answers }: RunRow): string | null {
  const asked = kind === 'continue' && answers !== null ? messageIn(draft, answers) : undefined
  return asked ? asked.message.parentId : answers
}

/** The answer of a run that ended before it said anything: whoever waits for it sees that, by whatever way they learn of it. */
const unsaid = ({ terms: { tag: id, now } }: Draft, run: RunRow, parentId: string | null): Message => ({
  id,
  sessionId: run.sessionId,
  role: 'assistant',
  parentId,
  status: 'interrupted',
  stopReason: 'aborted',
  content: [],
  runId: run.id,
  createdAt: now,
  updatedAt: now,
  v: SCHEMA_VERSION,
})

/**
 * Ends a run from outside: everything unsettled is kept as far as it came. The view must hold the unsettled messages.
 */
export function endRun(draft: Draft, run: RunRow, outcome: RunOutcome): void {
  if (!runIn(draft, run.id)) putRun(draft, run)
  if (run.messages.length === 0 && run.answers !== null)
    createMessage(draft, run.id, unsaid(draft, run, parentOf(draft, run)))
  for (const row of draft.view.messages.values()) {
    const current = messageIn(draft, row.message.id) ?? row
    if (current.runId !== run.id || isSettled(current.message) || current.message.role === 'user') continue
    const message = abandoned(current.message, draft.terms.now)
    const isResult = message.role === 'tool'
    settle(draft, run.id, message, isResult ? 'message.completed' : 'message.interrupted')
  }
  finishRun(draft, run.id, { type: 'run.finished', runId: run.id, outcome })
}
