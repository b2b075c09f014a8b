import { TidemarkError } from '../../lib/errors.ts'
import { besides } from '../../message/besides.ts'
import { type Message, SCHEMA_VERSION, type UserMessage } from '../../message/schema.ts'
import type { SendMessage } from '../../protocol/commands.ts'
import type { EventId } from '../../protocol/events.ts'
import type { Tool } from '../../turn/tool.ts'
import type { Decision, KeyRow, Needs, Place, RunRow, View } from '../ports.ts'
import {
  activeIn,
  changeSession,
  type Draft,
  decided,
  emit,
  liveSession,
  moveHead,
  nextRev,
  nextSeq,
  notInSession,
  openDraft,
  putMessage,
  putRun,
  queueIn,
  type Terms,
} from './draft.ts'
import { endRun, finishRun, isSend } from './record.ts'
import { beginNext, type Handover } from './runs.ts'

/** What became of a request that has an idempotency key. */
export interface Accepted extends Handover {
  key: KeyRow
  message?: Message
  /** The run it started, where it has ended. */
  run?: RunRow
}

export interface Asked {
  /** Of the body, for the key. */
  hash: string
  /** Most runs that may wait in a session. */
  queue: number
  /** What calls can be executed by. */
  tools: readonly Tool[]
}

export const needsOfSend = (body: SendMessage): Needs => ({
  key: body.id,
  messages: [body.id],
  ...(body.parentId !== null && { below: body.parentId }),
  runs: [body.runId],
  queue: true,
  unsettled: body.whenBusy === 'interrupt',
})

/** What an earlier request with this key and body got; `conflict` for another body; undefined for a new key. */
export function repeated(view: View, hash: string): Accepted | undefined {
  const { key } = view
  if (!key) return undefined
  if (key.hash !== hash) {
    throw new TidemarkError('conflict', `the key ${key.key} stands for another request`, { status: 409 })
  }
  const message = key.messageId === null ? undefined : view.messages.get(key.messageId)?.message
  const run = key.runId === null ? undefined : view.runs.get(key.runId)
  return { key, ended: [], ...(message && { message }), ...(run && { run }) }
}

/** Throws where an id that the client brought is in use already. */
export function assertFree(view: View, id: string, field: string): void {
  if (view.messages.has(id) || view.taken.has(id)) {
    throw new TidemarkError('conflict', `${field}: ${id} is in use`, { status: 409 })
  }
}

/** The newest message below `id` that nothing follows. */
export function leafBelow(places: readonly Place[]): Place | undefined {
  const parents = new Set(places.map(({ parentId }) => parentId))
  const leaves = places.filter(({ id }) => !parents.has(id))
  return leaves.reduce<Place | undefined>((a, b) => (a && a.seq > b.seq ? a : b), undefined)
}

/**
 * The message that a new one really follows: the end of the branch its sender looked at, or of the selected one. A client may
 * not yet know how far the answer has come, or what another device has said meanwhile, and must not branch by that; who
 * wants to, edits.
 */
function tipOf({ view, session }: Draft, parentId: string | null): string | null {
  const { headId } = session.session
  const { below } = view
  if (parentId === null || below.some(({ id }) => id === headId)) return headId
  if (below.length === 0) throw notInSession('parentId', parentId)
  return leafBelow(below)?.id ?? parentId
}

/** Stores a user message as accepted: completed, in its place, and the head. */
export function addUserMessage(
  draft: Draft,
  given: Pick<UserMessage, 'id' | 'parentId' | 'content' | 'name' | 'metadata' | 'output'>,
  runId: string,
): { message: Message; event: EventId } {
  const { now } = draft.terms
  const message: Message = {
    role: 'user',
    ...given,
    sessionId: draft.session.session.id,
    seq: nextSeq(draft),
    rev: nextRev(draft),
    status: 'completed',
    createdAt: now,
    updatedAt: now,
    v: SCHEMA_VERSION,
  }
  const event = emit(draft, { type: 'message.created', message })
  putMessage(draft, message, runId)
  moveHead(draft, message.id)
  return { message, event }
}

/** Puts a run into the queue; under a tombstone it ends at once, which an answer without a word says to a new question. */
export function enqueue(draft: Draft, run: Pick<RunRow, 'id' | 'kind' | 'answers'>, limit: number): void {
  const known = draft.view.runs.get(run.id)
  if (known?.kind === 'tombstone' && known.answers === null) {
    const ended = { ...known, answers: run.answers }
    putRun(draft, ended)
    if (isSend(run)) {
      endRun(draft, ended, 'interrupted')
      return
    }
    // Who asked for another answer looks at where it would be: said again, the head takes them back.
    changeSession(draft, {})
    finishRun(draft, run.id, { type: 'run.finished', runId: run.id, outcome: 'interrupted' })
    return
  }
  if (known || draft.view.taken.has(run.id)) {
    throw new TidemarkError('conflict', `runId: ${run.id} is in use`, { status: 409 })
  }
  if (queueIn(draft).length >= limit) {
    throw new TidemarkError('rate-limit', `${limit} runs wait in this session already`, { status: 429 })
  }
  putRun(draft, {
    ...run,
    sessionId: draft.session.session.id,
    state: 'queued',
    place: 1 + Math.max(activeIn(draft)?.place ?? 0, ...queueIn(draft).map(({ place }) => place)),
    messages: [],
    epoch: 0,
    leaseUntil: 0,
    outcome: null,
    ended: null,
  })
}

/** Binds a key to what was accepted under it. */
export function bind(draft: Draft, key: Omit<KeyRow, 'sessionId'>): KeyRow {
  const row: KeyRow = { ...key, sessionId: draft.session.session.id }
  draft.rest.push({ type: 'key', row })
  return row
}

/** Ends the run in flight, where the sender asks for that. */
function makeWay(draft: Draft, whenBusy: SendMessage['whenBusy']): string[] {
  const active = activeIn(draft)
  if (!active) return []
  if (whenBusy === 'refuse') throw new TidemarkError('conflict', 'a run is in flight', { status: 409 })
  if (whenBusy !== 'interrupt') return []
  endRun(draft, active, 'interrupted')
  return [active.id]
}

/**
 * Accepts a message: stores it, binds its key, and begins its run or lets it wait. With `interrupt` the run in flight ends
 * first, with `steer` it makes way before its next model call; what has been waiting longer still goes first.
 */
export function send(view: View, body: SendMessage, terms: Terms, asked: Asked): Decision<Accepted> {
  liveSession(view)
  const before = repeated(view, asked.hash)
  if (before) return { changes: [], answer: before }
  assertFree(view, body.id, 'id')
  const { id, runId, content, whenBusy } = body
  const draft = openDraft(view, terms)
  const ended = makeWay(draft, whenBusy)
  const parentId = tipOf(draft, body.parentId)
  const { message, event } = addUserMessage(draft, { id, parentId, content, ...besides(body) }, runId)
  enqueue(draft, { id: runId, kind: whenBusy === 'steer' ? 'steer' : 'send', answers: id }, asked.queue)
  const key = bind(draft, { key: id, hash: asked.hash, messageId: id, runId, event })
  const lease = beginNext(draft)
  const run = draft.runs.get(runId)
  return decided(draft, { key, message, ended, ...(lease && { lease }), ...(run && { run }) })
}
