import type { Message, ToolCallBlock } from '../message/schema.ts'
import type { RunOutcome } from '../protocol/events.ts'

/** A run so far: all that its next step depends on. */
export interface RunState {
  /** The messages of the run, all settled, oldest first: answers and tool results. */
  trail: readonly Message[]
  /** Most answers in one run. */
  maxSteps: number
  /** Somebody asked it to stop. */
  stopped: boolean
}

/** What a run does next. */
export type NextStep =
  | { type: 'callModel' }
  | { type: 'runTools'; calls: readonly ToolCallBlock[] }
  | { type: 'end'; outcome: RunOutcome }

const end = (outcome: RunOutcome): NextStep => ({ type: 'end', outcome })

/**
 * The next step of a run. Calls of a completed answer are always answered, also in a run that was stopped: an unanswered
 * one would break every later request. A run that was stopped before its first answer still gets one, which says so.
 */
export function nextStep({ trail, maxSteps, stopped }: RunState): NextStep {
  const answer = trail.findLast((message) => message.role === 'assistant')
  if (answer?.role !== 'assistant') return { type: 'callModel' }
  if (answer.status === 'failed') return end('failed')
  if (answer.status === 'interrupted') return end('interrupted')
  const answered = new Set<string>()
  for (const message of trail.slice(trail.indexOf(answer)))
    if (message.role === 'tool') answered.add(message.toolCallId)
  const calls = answer.content.filter((block) => block.type === 'toolCall').filter((call) => !call.server)
  const open = calls.filter((call) => !answered.has(call.id))
  if (open.length > 0) return { type: 'runTools', calls: open }
  if (calls.length === 0) return end('completed')
  if (stopped) return end('interrupted')
  const steps = trail.filter((message) => message.role === 'assistant').length
  return steps < maxSteps ? { type: 'callModel' } : end('completed')
}
