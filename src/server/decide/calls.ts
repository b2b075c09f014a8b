import { isSettled, type Message, type ToolMessage } from '../../message/schema.ts'
import type { CallCommand } from '../../protocol/commands.ts'
import { decided, decisionEvent } from '../../turn/decision.ts'
import { isWaiting } from '../../turn/next.ts'
import type { Tool } from '../../turn/tool.ts'
import type { MessageRow } from '../ports.ts'
import { activeIn, type Draft, emit, messageIn, nextRev, putMessage, putRun } from './draft.ts'

/** What a run has not settled yet, as far as the draft has come. The view must hold the unsettled messages. */
export function unsettledOf(draft: Draft, runId: string): Message[] {
  const ids = new Set([...draft.view.messages.keys(), ...draft.messages.keys()])
  return [...ids].flatMap((id) => {
    const row = messageIn(draft, id)
    const isOpen = row?.runId === runId && !isSettled(row.message) && row.message.role !== 'user'
    return isOpen ? [row.message] : []
  })
}

/** Its calls that have no result yet. */
export const openCalls = (draft: Draft, runId: string): ToolMessage[] =>
  unsettledOf(draft, runId).filter((message) => message.role === 'tool')

/** Whether a run that waits has something to do: a call was decided about, or has waited long enough. */
export function isDue(draft: Draft, runId: string): boolean {
  const open = openCalls(draft, runId)
  return open.length === 0 || open.some((message) => !isWaiting(message, draft.terms.now))
}

/** Until when a run waits, if nobody says anything. Milliseconds since the epoch; 0 where it need not wait at all. */
export function waitsUntil(draft: Draft, runId: string): number {
  if (isDue(draft, runId)) return 0
  const ends = openCalls(draft, runId).map(({ expiresAt = Number.MAX_SAFE_INTEGER }) => expiresAt)
  return Math.ceil(Math.min(...ends))
}

/** Takes somebody's word about a call, unless somebody else was first. */
export function decideCall(
  draft: Draft,
  { message, runId }: MessageRow,
  command: CallCommand,
  tools: readonly Tool[],
): void {
  const next = decided(message, command, tools, draft.terms.now)
  if (!next) return
  const changed: ToolMessage = { ...next, rev: nextRev(draft) }
  emit(draft, decisionEvent(changed))
  putMessage(draft, changed, runId)
  const run = activeIn(draft)
  // It may wait for something else now, and not as long.
  if (run?.state === 'waiting') putRun(draft, { ...run, leaseUntil: waitsUntil(draft, run.id) })
}
