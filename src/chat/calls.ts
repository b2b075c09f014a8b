import type { Message, ToolMessage } from '../message/schema.ts'
import { messageOf, messagesOf, type SessionState } from '../protocol/state.ts'

/** The run that a message belongs to: an answer's own, of a call's result that of the answer that made the call. */
export function runOfMessage(state: SessionState, message: Message): string | undefined {
  let found: Message | undefined = message
  const passed = new Set<string>()
  while (found?.role === 'tool' && found.parentId !== null && !passed.has(found.id)) {
    passed.add(found.id)
    found = messageOf(state, found.parentId)
  }
  return found?.role === 'assistant' ? found.runId : undefined
}

/** Answers of a run, and results of their calls, oldest first. */
export const messagesOfRun = (state: SessionState, runId: string): Message[] =>
  messagesOf(state)
    .filter((message) => runOfMessage(state, message) === runId)
    .sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0))

const isWaiting = (message: Message): message is ToolMessage =>
  message.role === 'tool' && (message.stage === 'approval' || message.stage === 'client')

/** Calls that wait for somebody; the same list as before where that has not changed. */
export function waitingIn(
  { live }: SessionState,
  before: readonly ToolMessage[] = [],
): readonly ToolMessage[] {
  const waiting = [...live.values()].filter(isWaiting)
  const isSame = waiting.length === before.length && waiting.every((message, at) => message === before[at])
  return isSame ? before : waiting
}
