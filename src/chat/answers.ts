import { errorFrom, type TidemarkError } from '../lib/errors.ts'
import { isSettled, type Message } from '../message/schema.ts'
import { messageOf, messagesOf, type SessionState } from '../protocol/state.ts'
import { runOf } from './outbox.ts'
import type { OutboxRow } from './ports.ts'

/** Who asked: the message to be answered, and the run that answers it. */
export interface Question {
  messageId: string
  runId: string
}

type Outcome = { type: 'answer'; message: Message } | { type: 'refused'; row: OutboxRow }

/**
 * How a question ended, or undefined while it has not. A run ends with its newest answer once nothing of it is in flight;
 * servers that name no runs answer with a child of the question.
 */
export function outcomeOf(
  state: SessionState,
  { messageId, runId }: Question,
  outbox: Iterable<OutboxRow>,
): Outcome | undefined {
  for (const row of outbox) {
    if (row.state === 'refused' && runOf(row) === runId) return { type: 'refused', row }
  }
  if (state.runs.has(runId)) return undefined
  let newest: Message | undefined
  for (const message of messagesOf(state)) {
    if (message.role !== 'assistant') continue
    const ours = message.runId === runId || (message.runId === undefined && message.parentId === messageId)
    if (ours && !isSettled(message)) return undefined
    if (ours && (message.seq ?? 0) >= (newest?.seq ?? 0)) newest = message
  }
  return newest && { type: 'answer', message: newest }
}

/** Promises of answers, kept until their run has ended. */
export interface Answers {
  wait(question: Question): Promise<Message>
  /** Looks again whether something has ended. */
  settle(state: SessionState, outbox: Iterable<OutboxRow>): void
  /** Rejects those who still wait. */
  end(error: TidemarkError): void
}

export function createAnswers(): Answers {
  const waiting = new Set<
    Question & { resolve(message: Message): void; reject(error: TidemarkError): void }
  >()
  return {
    wait({ messageId, runId }) {
      const answer = new Promise<Message>((resolve, reject) =>
        waiting.add({ messageId, runId, resolve, reject }),
      )
      // Whoever only sends need not catch; whoever awaits the promise still gets the error.
      answer.catch(() => undefined)
      return answer
    },
    settle(state, outbox) {
      for (const waiter of waiting) {
        const outcome = outcomeOf(state, waiter, outbox)
        if (!outcome) continue
        waiting.delete(waiter)
        if (outcome.type === 'answer') waiter.resolve(messageOf(state, outcome.message.id) ?? outcome.message)
        else waiter.reject(errorFrom(outcome.row.error ?? { code: 'invalid-request', message: 'refused' }))
      }
    },
    end(error) {
      for (const waiter of waiting) waiter.reject(error)
      waiting.clear()
    },
  }
}
