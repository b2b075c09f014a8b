import { TidemarkError } from '../lib/errors.ts'
import type { Command } from '../protocol/commands.ts'
import {
  messageOf,
  messagesOf,
  putMessages,
  removeMessage,
  type SessionState,
  type Trace,
} from '../protocol/state.ts'
import { type Core, freeze, setOutbox, snapshotOf, update } from './core.ts'
import { editIntent, type Given, type Intent, regenerateIntent, selectIntent, sendIntent } from './intents.ts'
import { retryLocally } from './local.ts'
import { askedId, dueNow, runOf } from './outbox.ts'
import type { OutboxRequest, OutboxRow } from './ports.ts'
import type { SendOptions, Sent, UserInput } from './types.ts'

/** What the actions of a session need of the chat around it. */
export interface ActionDeps {
  account: string
  given(): Given
  /** Resolves when what is stored is loaded. */
  ready(): Promise<void>
  /** The next place in the local order. */
  nextPosition(messageId?: string): number
  /** Stores rows together with what changed; resolves with whether they are on disk. */
  save(rows: readonly OutboxRow[], gone?: readonly string[]): Promise<boolean>
}

/** An intent in the state: shown at once. */
function show(state: SessionState, intent: Intent, now: number, trace: Trace): SessionState {
  const session = state.session ?? intent.session
  const put = putMessages(state, intent.message ? [intent.message] : [], trace)
  const dated = session && intent.message ? { ...session, updatedAt: now } : session
  return { ...put, session: dated, headId: intent.headId === undefined ? state.headId : intent.headId }
}

async function carryOut(core: Core, deps: ActionDeps, intent: Intent): Promise<boolean> {
  if (intent.message) deps.nextPosition(intent.message.id)
  const rows = intent.requests.map(
    ({ id, request }): OutboxRow => ({
      id,
      sessionId: core.id,
      account: deps.account,
      position: deps.nextPosition(),
      request,
      state: 'waiting',
      attempts: 0,
      nextAttemptAt: 0,
      claim: null,
    }),
  )
  update(core, (state, trace) => show(state, intent, deps.given().now, trace))
  setOutbox(core, rows)
  return deps.save(rows)
}

const sent = (core: Core, id: string, runId: string, onDisk: boolean): Sent => ({
  id,
  saved: onDisk ? 'disk' : 'memory',
  answer: core.answers.wait({ messageId: id, runId }),
})

export async function send(
  core: Core,
  deps: ActionDeps,
  input: UserInput,
  options: SendOptions,
): Promise<Sent> {
  await deps.ready()
  const parentId = snapshotOf(core).messages.at(-1)?.id ?? null
  const intent = sendIntent(core.state, parentId, input, options, deps.given())
  return sent(core, intent.message.id, intent.runId, await carryOut(core, deps, intent))
}

export async function regenerate(core: Core, deps: ActionDeps, messageId: string): Promise<Sent> {
  await deps.ready()
  const intent = regenerateIntent(core.state, messageId, deps.given())
  return sent(core, intent.questionId, intent.runId, await carryOut(core, deps, intent))
}

export async function edit(core: Core, deps: ActionDeps, messageId: string, input: UserInput): Promise<Sent> {
  await deps.ready()
  const intent = editIntent(core.state, messageId, input, deps.given())
  return sent(core, intent.message.id, intent.runId, await carryOut(core, deps, intent))
}

export async function selectBranch(core: Core, deps: ActionDeps, messageId: string): Promise<void> {
  await deps.ready()
  await carryOut(core, deps, selectIntent(core.state, messageId, deps.given()))
}

/** The runs that a stop ends: those in flight, and those not yet accepted. */
function runsInFlight(core: Core): Set<string> {
  const runs = new Set(core.state.runs)
  for (const message of core.state.live.values())
    if (message.role === 'assistant' && message.runId) runs.add(message.runId)
  for (const row of core.outbox.values()) {
    const runId = row.state === 'waiting' && runOf(row)
    if (runId) runs.add(runId)
  }
  return runs
}

export async function stop(core: Core, deps: ActionDeps): Promise<void> {
  await deps.ready()
  const { createId } = deps.given()
  const requests = [...runsInFlight(core)].map((runId) => {
    const body: Command = { id: createId(), type: 'cancel', runId }
    return { id: body.id, request: { type: 'command' as const, body } }
  })
  for (const id of core.state.live.keys()) freeze(core, id)
  if (requests.length > 0) await carryOut(core, deps, { requests })
}

/** The waiting or refused row that would bring a message into being. */
const rowFor = (core: Core, messageId: string) =>
  [...core.outbox.values()].find((row) => askedId(row) === messageId)

export async function retry(core: Core, deps: ActionDeps, messageId: string): Promise<Sent> {
  await deps.ready()
  const row = rowFor(core, messageId)
  const runId = row && runOf(row)
  if (!row || !runId) return regenerate(core, deps, messageId)
  const again = dueNow(row)
  update(core, (state, trace) => retryLocally(state, messageId, deps.given().now, trace))
  setOutbox(core, [again])
  return sent(core, messageId, runId, await deps.save([again]))
}

/** What waited behind a discarded row follows the row's own parent. */
function reparented(row: OutboxRow, from: string, to: string | null): OutboxRow | undefined {
  const { request } = row
  if (request.type !== 'send' || request.body.parentId !== from) return undefined
  return { ...row, request: { ...request, body: { ...request.body, parentId: to } } }
}

export async function discard(core: Core, deps: ActionDeps, messageId: string): Promise<void> {
  await deps.ready()
  const row = rowFor(core, messageId)
  const message = messageOf(core.state, messageId)
  if (!row || !message)
    throw new TidemarkError('not-found', `messageId: ${messageId} does not wait to be sent`)
  const { parentId } = message
  const followers = [...core.outbox.values()].flatMap((other) => reparented(other, messageId, parentId) ?? [])
  update(core, (state, trace) => {
    const children = [...messagesOf(state)].filter((child) => child.parentId === messageId)
    const moved = children.map((child) => ({ ...child, parentId }))
    return removeMessage(putMessages(state, moved, trace), messageId, trace)
  })
  setOutbox(core, followers, [row.id])
  await deps.save(followers, [row.id])
}

/** A change of the session itself: shown now, said to the server when it can be. */
export async function changeSession(
  core: Core,
  deps: ActionDeps,
  change: (state: SessionState) => SessionState,
  request: OutboxRequest,
): Promise<void> {
  await deps.ready()
  update(core, change)
  await carryOut(core, deps, { requests: [{ id: deps.given().createId(), request }] })
}
