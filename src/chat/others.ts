import { leafOf, pathTo } from '../message/tree.ts'
import { idIn, messageOf, messagesOf, type SessionState } from '../protocol/state.ts'
import { headFor } from './local.ts'
import { askedAnew, runOf } from './outbox.ts'
import type { OutboxRow } from './ports.ts'

/** The message by which a row says where the shown branch is to end. */
function namedIn(row: OutboxRow): string | undefined {
  const { id, request } = row
  if (request.type === 'send') return id
  if (request.type !== 'command') return undefined
  const { body } = request
  if (body.type === 'edit') return body.newId
  return body.type === 'regenerate' || body.type === 'continue' || body.type === 'selectBranch'
    ? body.messageId
    : undefined
}

/** Where a row wants the shown branch to end. */
function headOf(state: SessionState, row: OutboxRow): string | undefined {
  const asked = askedAnew(row)
  if (asked) return headFor(state, asked)
  const named = namedIn(row)
  const chooses = row.request.type === 'command' && row.request.body.type === 'selectBranch'
  // Where it was chosen, what follows it may not have been known yet.
  return (chooses && named && leafOf(messagesOf(state), named)?.id) || named
}

/** Whether a row, besides what it says, says where the shown branch ends or what the session is called. */
export const isChoice = (row: OutboxRow): boolean =>
  row.state === 'waiting' &&
  (row.request.type === 'patchSession' || (row.request.type === 'command' && namedIn(row) !== undefined))

/** Whether the shown branch is where the row wants it, or further: its answer may have begun. */
function isShown(state: SessionState, row: OutboxRow, wanted: string): boolean {
  const head = idIn(state, wanted)
  const runId = runOf(row)
  return pathTo(messagesOf(state), state.headId).some(
    (message) =>
      (!askedAnew(row) && message.id === head) ||
      (message.role === 'assistant' && message.runId === runId && !!runId),
  )
}

/** Whether the other side has said what it would not have said without the row: what it says of the head is newer than that. */
export function isAnswered(state: SessionState, row: OutboxRow): boolean {
  const runId = runOf(row)
  if (!runId) return false
  if (!askedAnew(row) && messageOf(state, namedIn(row) ?? '')?.seq !== undefined) return true
  for (const message of messagesOf(state))
    if (message.role === 'assistant' && message.runId === runId) return true
  return false
}

/**
 * Whether somebody has begun to send it. The head was stored together with that, as the row wants it: what it is now, the
 * other side has said since.
 */
const isTried = ({ claim, attempts }: OutboxRow): boolean => claim !== null || attempts > 0

function withRow(state: SessionState, row: OutboxRow): SessionState {
  const { request } = row
  if (request.type === 'deleteSession') return state.deleted ? state : { ...state, deleted: true }
  if (request.type === 'patchSession') {
    const { title } = request.body
    if (!state.session || title === undefined || state.session.title === title) return state
    return { ...state, session: { ...state.session, title } }
  }
  const head = headOf(state, row)
  return head === undefined || head === state.headId || isShown(state, row, head)
    ? state
    : { ...state, headId: idIn(state, head) }
}

const inOrder = (rows: readonly OutboxRow[]): OutboxRow[] => rows.toSorted((a, b) => a.position - b.position)

/**
 * The state as those want it who wait in the outbox: what another tab asked for is shown here as well, before the other
 * side has said anything about it.
 * @param owns whether this client owns the truth: nobody else says what became of a choice
 */
export const asAsked = (state: SessionState, rows: readonly OutboxRow[], owns = false): SessionState =>
  inOrder(
    rows.filter((row) => !isAnswered(state, row) && (!isTried(row) || (isChoice(row) && !owns))),
  ).reduce(withRow, state)

/**
 * The state as these choices want it, though the other side has said something else of the session.
 * @param headId where the shown branch ended before
 */
export function asWanted(
  state: SessionState,
  headId: string | null,
  rows: readonly OutboxRow[],
): SessionState {
  const last = inOrder(rows).findLast((row) => namedIn(row))
  const head = (last && headOf(state, last)) ?? ''
  const isThere = messageOf(state, idIn(state, head))
  const kept = last && isThere && !isShown(state, last, head) ? { ...state, headId } : state
  return inOrder(rows.filter((row) => (row === last ? isThere : !namedIn(row)))).reduce(withRow, kept)
}
