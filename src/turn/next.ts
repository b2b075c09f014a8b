import { isSettled, type Message, type ToolCallBlock, type ToolMessage } from '../message/schema.ts'
import type { RunOutcome } from '../protocol/events.ts'

/** A run so far: all that its next step depends on. */
export interface RunState {
  /** The messages of the run, oldest first: settled answers, and the results of their calls, settled or not. */
  trail: readonly Message[]
  /** Most answers in one run. */
  maxSteps: number
  /** Somebody asked it to stop. */
  stopped: boolean
  /** When the trail was read, in milliseconds since the epoch. */
  now: number
}

/** What a run does next. */
export type NextStep =
  | { type: 'callModel' }
  | { type: 'runTools'; calls: readonly ToolCallBlock[] }
  /** Until somebody else decides about these calls, or brings their results. */
  | { type: 'wait'; calls: readonly string[] }
  | { type: 'end'; outcome: RunOutcome }

const end = (outcome: RunOutcome): NextStep => ({ type: 'end', outcome })

/** Whether a call waits for somebody: to be allowed, or to be answered from elsewhere. */
export const isWaiting = (
  { status, stage, expiresAt = Number.POSITIVE_INFINITY }: ToolMessage,
  now: number,
) => status === 'pending' && (stage === 'approval' || stage === 'client') && expiresAt > now

/**
 * The next step of a run. Calls of a completed answer are always answered, also in a run that was stopped: an unanswered
 * one would break every later request. A run that was stopped before its first answer still gets one, which says so.
 */
export function nextStep({ trail, maxSteps, stopped, now }: RunState): NextStep {
  const answer = trail.findLast((message) => message.role === 'assistant')
  if (answer?.role !== 'assistant') return { type: 'callModel' }
  if (answer.status === 'failed') return end('failed')
  if (answer.status === 'interrupted') return end('interrupted')
  const results = new Map<string, ToolMessage>()
  for (const message of trail.slice(trail.indexOf(answer)))
    if (message.role === 'tool') results.set(message.toolCallId, message)
  const calls = answer.content.filter((block) => block.type === 'toolCall').filter((call) => !call.server)
  const resultOf = ({ id }: ToolCallBlock) => results.get(id) ?? { status: 'pending' as const }
  const open = calls.filter((call) => !isSettled(resultOf(call)))
  const due = open.filter((call) => {
    const result = results.get(call.id)
    return stopped || !result || !isWaiting(result, now)
  })
  if (due.length > 0) return { type: 'runTools', calls: due }
  if (open.length > 0) return { type: 'wait', calls: open.map(({ id }) => id) }
  if (calls.length === 0) return end('completed')
  if (stopped) return end('interrupted')
  const steps = trail.filter((message) => message.role === 'assistant').length
  return steps < maxSteps ? { type: 'callModel' } : end('completed')
}
