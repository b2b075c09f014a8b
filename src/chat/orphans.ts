import { type AssistantMessage, isSettled, type Message, type ToolMessage } from '../message/schema.ts'
import type { ChatEvent } from '../protocol/events.ts'
import { runOfMessage } from './calls.ts'
import type { Core } from './core.ts'
import { cancelledRun, newRow, runOf } from './outbox.ts'
import type { OutboxRow } from './ports.ts'
import type { Runtime } from './runtime-port.ts'

/** What the model is told of a tool whose run was cut off: it may have had its effect. */
const CUT_OFF = JSON.stringify({
  ok: false,
  error: 'cut off before it answered; it may have been carried out',
})

/** How a message ends whose run is gone: the partial answer is kept, a tool's result will not come. */
function orphaned(message: AssistantMessage | ToolMessage): ChatEvent {
  const { id } = message
  if (message.role === 'tool') {
    const content = [{ type: 'text' as const, text: CUT_OFF }]
    return { type: 'message.completed', message: { ...message, status: 'completed', content, isError: true } }
  }
  return {
    type: 'message.interrupted',
    id,
    message: { ...message, status: 'interrupted', stopReason: 'aborted' },
  }
}

/** What asks for the rest of an answer: before all else that waits, which follows it. Asked twice, it is the same row. */
const resumeOf = ({ id, sessionId }: Message, runId: string, account: string): OutboxRow =>
  newRow({
    id: runId,
    sessionId,
    account,
    position: 0,
    request: { type: 'resume', body: { messageId: id, runId } },
  })

/**
 * The ends of answers whose run died with its tab, and what asks for the rest of those that can be gone on with. What waits
 * in the outbox is not dead: it will be sent.
 * @param among ids of messages that may be such
 */
export function endOrphans(
  { state, outbox }: Core,
  among: ReadonlySet<string>,
  account: string,
  runtime: Runtime,
): { events: ChatEvent[]; rows: OutboxRow[] } {
  const waiting = new Set([...outbox.values()].map(runOf))
  const stopped = new Set([...outbox.values()].map(cancelledRun))
  const events: ChatEvent[] = []
  const rows: OutboxRow[] = []
  for (const message of state.live.values()) {
    if (!among.has(message.id) || isSettled(message) || message.role === 'user' || message.role === 'system')
      continue
    const runId = runOfMessage(state, message)
    const isOpen = message.status === 'pending'
    if (isOpen && message.role === 'assistant' && waiting.has(runId)) continue
    if (isOpen && runId !== undefined && runtime.continues) {
      rows.push(resumeOf(message, runId, account))
      continue
    }
    if (message.role === 'assistant' && runId !== undefined) {
      if (!stopped.has(runId) && runtime.canResume?.(message)) {
        rows.push(resumeOf(message, runId, account))
        events.push({ type: 'message.interrupted', id: message.id })
        continue
      }
    }
    events.push(orphaned(message))
  }
  return { events, rows }
}
