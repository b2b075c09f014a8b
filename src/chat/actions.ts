import { errorFrom, TidemarkError } from '../lib/errors.ts'
import { leafOf } from '../message/tree.ts'
import { type CallWord, type Command, PatchSession } from '../protocol/commands.ts'
import { idIn, messageOf, messagesOf, putMessages, type SessionState, type Trace } from '../protocol/state.ts'
import { answersTo } from './answers.ts'
import { runOfMessage } from './calls.ts'
import { type Core, freeze, setOutbox, snapshotOf, update } from './core.ts'
import { noteAsked } from './held.ts'
import {
  callIntent,
  editIntent,
  type Given,
  type Intent,
  regenerateIntent,
  runUnder,
  selectIntent,
  sendIntent,
} from './intents.ts'
import { DELETED, retryLocally, without, withoutMessage } from './local.ts'
import { askedId, cancelledRun, dueNow, newRow, runOf } from './outbox.ts'
import type { OutboxRequest, OutboxRow } from './ports.ts'
import type { CallResult, SendOptions, Sent, UserInput } from './types.ts'

/** What the actions of a session need of the chat around it. */
export interface ActionDeps {
  account: string
  given(): Given
  /**
   * Resolves when what is stored is loaded. Every action waits for it once, before anything else: in the order in which they
   * are called they go on, and a stop finds what was sent right before it. Throws `aborted` once the chat is closed.
   */
  ready(): Promise<void>
  /** The next place in the local order. */
  nextPosition(messageId?: string): number
  /** Stores what changed, in one transaction; resolves with whether it is on disk. */
  save(): Promise<boolean>
}

/**
 * Throws `not-found` for a session that was deleted. Asked in the same step as what is done then: a deletion that was called
 * right before comes between a wait and what follows it.
 */
export function assertThere({ state }: Core): void {
  if (state.deleted) throw errorFrom(DELETED)
}

/** An intent in the state: shown at once. */
function show(state: SessionState, intent: Intent, now: number, trace: Trace): SessionState {
  const session = state.session ?? intent.session
  const put = putMessages(state, intent.message ? [intent.message] : [], trace)
  const dated = session && intent.message ? { ...session, updatedAt: now } : session
  return { ...put, session: dated, headId: intent.headId === undefined ? state.headId : intent.headId }
}

/** Shows an intent and stores it with the rows that will say it. */
function carryOut(core: Core, deps: ActionDeps, intent: Intent): Promise<boolean> {
  if (intent.message) deps.nextPosition(intent.message.id)
  const { account } = deps
  const rows = intent.requests.map((asked) =>
    newRow({ ...asked, sessionId: core.id, account, position: deps.nextPosition() }),
  )
  noteAsked(core.held, core.state, rows)
  update(core, (state, trace) => show(state, intent, deps.given().now, trace))
  setOutbox(core, rows)
  return deps.save()
}

/** Carries out what will be answered. Who waits for the answer does so from the start: it may come before `save` has ended. */
async function ask(
  core: Core,
  messageId: string,
  runId: string,
  save: () => Promise<boolean>,
): Promise<Sent> {
  const answer = core.answers.wait({
    messageId,
    runId,
    known: answersTo(core.state, messageId),
    again: messageOf(core.state, messageId)?.seq !== undefined,
  })
  return { id: messageId, saved: (await save()) ? 'disk' : 'memory', answer }
}

export async function send(
  core: Core,
  deps: ActionDeps,
  input: UserInput,
  given: SendOptions,
): Promise<Sent> {
  await deps.ready()
  assertThere(core)
  const { id } = given
  const known = id && messageOf(core.state, idIn(core.state, id))
  if (id && known) {
    if (known.role !== 'user') throw new TidemarkError('conflict', `id: ${id} is not a message of the user`)
    const sent = ask(core, id, runUnder(id), deps.save)
    core.answers.settle(core.state, core.outbox.values()) // It may have been answered long ago.
    return sent
  }
  const parentId = snapshotOf(core).messages.at(-1)?.id ?? core.state.headId
  const intent = sendIntent(core.state, parentId, input, given, deps.given())
  return ask(core, intent.message.id, intent.runId, () => carryOut(core, deps, intent))
}

export async function regenerate(
  core: Core,
  deps: ActionDeps,
  messageId: string,
  type?: 'continue',
): Promise<Sent> {
  await deps.ready()
  assertThere(core)
  return askAnew(core, deps, messageId, type)
}

function askAnew(core: Core, deps: ActionDeps, messageId: string, type?: 'continue'): Promise<Sent> {
  const intent = regenerateIntent(core.state, messageId, deps.given(), type)
  return ask(core, intent.questionId, intent.runId, () => carryOut(core, deps, intent))
}

export async function edit(core: Core, deps: ActionDeps, messageId: string, input: UserInput): Promise<Sent> {
  await deps.ready()
  assertThere(core)
  const intent = editIntent(core.state, messageId, input, deps.given())
  return ask(core, intent.message.id, intent.runId, () => carryOut(core, deps, intent))
}

export async function selectBranch(core: Core, deps: ActionDeps, messageId: string): Promise<void> {
  await deps.ready()
  assertThere(core)
  await carryOut(core, deps, selectIntent(core.state, messageId, deps.given()))
}

/** Says something about a call that waits. Whether it was the first to do so is seen in the call's message. */
export async function sayOf(core: Core, deps: ActionDeps, callId: string, given: CallWord): Promise<void> {
  await deps.ready()
  assertThere(core)
  await carryOut(core, deps, callIntent(core.state, callId, given, deps.given()))
}

export const approve = (core: Core, deps: ActionDeps, callId: string, options: { arguments?: unknown }) =>
  sayOf(core, deps, callId, { ...options, type: 'approve' })

export const reject = (core: Core, deps: ActionDeps, callId: string, reason?: string) =>
  sayOf(core, deps, callId, { type: 'reject', reason })

export const toolResult = (core: Core, deps: ActionDeps, callId: string, result: CallResult) =>
  sayOf(core, deps, callId, { ...result, type: 'toolResult' })

/** The runs that a stop ends: those in flight, those not yet accepted, and those that were and are not told of yet. */
function runsInFlight(core: Core): Set<string> {
  const runs = new Set([...core.state.runs, ...core.answers.runs()])
  for (const message of core.state.live.values()) {
    const runId = runOfMessage(core.state, message)
    if (runId) runs.add(runId)
  }
  for (const row of core.outbox.values()) {
    const runId = row.state === 'waiting' && runOf(row)
    if (runId) runs.add(runId)
  }
  return runs
}

export async function stop(core: Core, deps: ActionDeps): Promise<void> {
  await deps.ready()
  if (core.state.deleted) return
  const { createId } = deps.given()
  const runs = runsInFlight(core)
  // What is stopped already is told only once.
  const told = new Set([...core.outbox.values()].map(cancelledRun))
  // The one in flight last: what waits behind it would begin before it is known to be stopped, too.
  const requests = [...runs].reverse().flatMap((runId) => {
    if (told.has(runId) || core.stopped.has(runId)) return []
    const body: Command = { id: createId(), type: 'cancel', runId }
    return [{ id: body.id, request: { type: 'command' as const, body } }]
  })
  core.answers.stop(runs)
  freeze(core, runs)
  if (requests.length > 0) await carryOut(core, deps, { requests })
}

/** The waiting or refused row that would bring a message into being. */
const rowFor = (core: Core, messageId: string) =>
  [...core.outbox.values()].find((row) => askedId(row) === messageId)

export async function retry(core: Core, deps: ActionDeps, messageId: string): Promise<Sent> {
  await deps.ready()
  assertThere(core)
  const row = rowFor(core, messageId)
  const runId = row && runOf(row)
  if (!row || !runId) return askAnew(core, deps, messageId)
  update(core, (state, trace) => retryLocally(state, messageId, deps.given().now, trace))
  setOutbox(core, [dueNow(row)])
  return ask(core, messageId, runId, deps.save)
}

/** Where the branch ends without a message that is given up: before it, or at the end of what it would have replaced. */
function endWithout(core: Core, { request }: OutboxRow, parentId: string | null): string | null {
  if (request.type !== 'command' || request.body.type !== 'edit') return parentId
  return leafOf(messagesOf(core.state), request.body.messageId)?.id ?? parentId
}

export async function discard(core: Core, deps: ActionDeps, messageId: string): Promise<void> {
  await deps.ready()
  const row = rowFor(core, messageId)
  const message = messageOf(core.state, messageId)
  if (!row || !message)
    throw new TidemarkError('not-found', `messageId: ${messageId} does not wait to be sent`)
  if (message.status === 'completed')
    throw new TidemarkError('conflict', `messageId: ${messageId} was accepted already`)
  const end = endWithout(core, row, message.parentId)
  const runId = runOf(row)
  update(core, (state, trace) => without(state, messageId, runId, end, trace))
  const { followers, gone } = withoutMessage(core.outbox.values(), messageId, end)
  setOutbox(core, followers, gone)
  core.answers.end(new TidemarkError('aborted', 'the message was discarded'), runId)
  await deps.save()
}

/** A change of the session itself: shown now, said to the server when it can be. */
function changeSession(
  core: Core,
  deps: ActionDeps,
  change: (state: SessionState) => SessionState,
  request: OutboxRequest,
): Promise<boolean> {
  update(core, change)
  return carryOut(core, deps, { requests: [{ id: deps.given().createId(), request }] })
}

export async function rename(core: Core, deps: ActionDeps, title: string): Promise<void> {
  await deps.ready()
  assertThere(core)
  const body = PatchSession.safeParse({ title })
  if (!body.success) throw new TidemarkError('invalid-request', 'title: expected at most 500 characters')
  const { session } = core.state
  if (!session) throw new TidemarkError('not-found', 'nothing was said in this session yet')
  await changeSession(core, deps, (state) => ({ ...state, session: { ...session, title } }), {
    type: 'patchSession',
    body: body.data,
  })
}

export async function deleteSession(core: Core, deps: ActionDeps): Promise<void> {
  await deps.ready()
  if (core.state.deleted) return
  // What waits to be said in it is not said any more.
  setOutbox(core, [], [...core.outbox.keys()])
  await changeSession(core, deps, (state) => ({ ...state, deleted: true }), { type: 'deleteSession' })
}
