import { pathTo } from '../message/tree.ts'
import { messagesOf, type SessionState } from '../protocol/state.ts'
import { runOf } from './outbox.ts'
import type { OutboxRow } from './ports.ts'

/** Where a row wants the shown branch to end. */
function headOf({ id, request }: OutboxRow): string | undefined {
  if (request.type === 'send') return id
  if (request.type !== 'command') return undefined
  const { body } = request
  if (body.type === 'edit') return body.newId
  return body.type === 'regenerate' || body.type === 'selectBranch' ? body.messageId : undefined
}

/** Whether the shown branch is where the row wants it, or further: its answer may have begun. */
function isShown(state: SessionState, row: OutboxRow, head: string): boolean {
  const runId = runOf(row)
  const regenerates = row.request.type === 'command' && row.request.body.type === 'regenerate'
  return pathTo(messagesOf(state), state.headId).some(
    (message) =>
      (!regenerates && message.id === head) ||
      (message.role === 'assistant' && message.runId === runId && !!runId),
  )
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
  const head = isTried(row) ? undefined : headOf(row)
  return head === undefined || head === state.headId || isShown(state, row, head)
    ? state
    : { ...state, headId: head }
}

/**
 * The state as those want it who wait in the outbox: what another tab asked for is shown here as well, before the other
 * side has said anything about it.
 */
export function asAsked(state: SessionState, rows: readonly OutboxRow[]): SessionState {
  const inOrder = rows.toSorted((a, b) => a.position - b.position)
  return inOrder.reduce(withRow, state)
}
