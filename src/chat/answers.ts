import { errorFrom, TidemarkError } from '../lib/errors.ts'
import { isSettled, type Message } from '../message/schema.ts'
import { idIn, messageOf, messagesOf, type SessionState } from '../protocol/state.ts'
import { cancelledRun, runOf } from './outbox.ts'
import type { OutboxRow } from './ports.ts'

/** Who asked: the message to be answered, and the run that answers it. */
export interface Question {
  messageId: string
  runId: string
  /** Answers that were there before, of servers that name no runs. */
  known?: ReadonlySet<string>
  /** Somebody wanted the run ended. */
  stopped?: boolean
  /** The message was there and known to the other side: another answer was asked for. */
  again?: boolean
  /** The message was there. */
  seen?: boolean
}

type Outcome =
  | { type: 'answer'; message: Message }
  | { type: 'refused'; row: OutboxRow }
  | { type: 'stopped' }

/** Answers to a question that nobody said the run of. */
export function answersTo(state: SessionState, messageId: string): Set<string> {
  const ids = new Set<string>()
  for (const { id, role, parentId } of messagesOf(state))
    if (role === 'assistant' && parentId === messageId) ids.add(id)
  return ids
}

/**
 * How a question ended, or undefined while it has not. A run ends with its newest answer once nothing of it is in flight;
 * servers that name no runs answer with a child of the question. A run that was stopped before it said anything ends
 * without an answer.
 */
export function outcomeOf(
  state: SessionState,
  { messageId, runId, known, stopped, seen }: Question,
  outbox: Iterable<OutboxRow>,
): Outcome | undefined {
  let waits = false
  for (const row of outbox) {
    if (row.state === 'refused' && runOf(row) === runId) return { type: 'refused', row }
    waits ||= runOf(row) === runId || cancelledRun(row) === runId
  }
  if (state.runs.has(runId)) return undefined
  const asked = idIn(state, messageId)
  let newest: Message | undefined
  for (const message of messagesOf(state)) {
    if (message.role !== 'assistant') continue
    const unnamed = message.runId === undefined && message.parentId === asked && !known?.has(message.id)
    if (message.runId !== runId && !unnamed) continue
    if (!isSettled(message)) return undefined
    if ((message.seq ?? 0) >= (newest?.seq ?? 0)) newest = message
  }
  if (newest) return { type: 'answer', message: newest }
  // Stopped, or taken back in another tab.
  return (stopped || (seen && !messageOf(state, asked))) && !waits ? { type: 'stopped' } : undefined
}

/** Promises of answers, kept until their run has ended. */
export interface Answers {
  wait(question: Question): Promise<Message>
  /** The runs that somebody waits for. */
  runs(): string[]
  /** Looks again whether something has ended. */
  settle(state: SessionState, outbox: Iterable<OutboxRow>): void
  /** Somebody wants these runs ended: no answer is an answer from now on. */
  stop(runs: ReadonlySet<string>): void
  /** The other side may have lost them: another answer that nobody says anything of does not come. */
  doubt(outbox: Iterable<OutboxRow>): void
  /** Rejects those who still wait, or only for one run; without one, whoever comes later, too. */
  end(error: TidemarkError, runId?: string): void
}

const stoppedError = () => new TidemarkError('aborted', 'stopped or discarded before it was answered')

export function createAnswers(): Answers {
  const waiting = new Set<
    Question & { resolve(message: Message): void; reject(error: TidemarkError): void }
  >()
  let ended: TidemarkError | undefined
  return {
    wait(question) {
      const answer = new Promise<Message>((resolve, reject) => {
        if (ended) reject(ended)
        else waiting.add({ ...question, resolve, reject })
      })
      // Whoever only sends need not catch; whoever awaits the promise still gets the error.
      answer.catch(() => undefined)
      return answer
    },
    runs: () => [...waiting].map(({ runId }) => runId),
    settle(state, outbox) {
      if (waiting.size === 0) return
      const rows = [...outbox]
      const cancelled = new Set(rows.map(cancelledRun))
      for (const waiter of waiting) {
        // Somebody may have stopped it in another tab.
        waiter.stopped ||= cancelled.has(waiter.runId)
        const outcome = outcomeOf(state, waiter, rows)
        waiter.seen ||= !!messageOf(state, waiter.messageId)
        if (!outcome) continue
        waiting.delete(waiter)
        if (outcome.type === 'answer') waiter.resolve(outcome.message)
        else if (outcome.type === 'stopped') waiter.reject(stoppedError())
        else waiter.reject(errorFrom(outcome.row.error ?? { code: 'invalid-request', message: 'refused' }))
      }
    },
    stop(runs) {
      for (const waiter of waiting) if (runs.has(waiter.runId)) waiter.stopped = true
    },
    doubt(outbox) {
      const asked = new Set([...outbox].map(runOf))
      for (const waiter of waiting) waiter.stopped ||= !!waiter.again && !asked.has(waiter.runId)
    },
    end(error, runId) {
      if (runId === undefined) ended = error
      for (const waiter of waiting) {
        if (runId !== undefined && waiter.runId !== runId) continue
        waiting.delete(waiter)
        waiter.reject(error)
      }
    },
  }
}
