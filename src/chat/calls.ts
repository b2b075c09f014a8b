import type { AssistantBlock, Message, ToolCallBlock, ToolMessage } from '../message/schema.ts'
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

/** The call that a tool message answers or will answer, with what names it among all there are; where both are loaded. */
export function callOf(
  state: SessionState,
  { toolCallId, parentId }: ToolMessage,
): { call: ToolCallBlock; key: string } | undefined {
  let found = parentId === null ? undefined : messageOf(state, parentId)
  while (found?.role === 'tool' && found.parentId !== null) found = messageOf(state, found.parentId)
  if (found?.role !== 'assistant') return undefined
  const isCall = (block: AssistantBlock) => block.type === 'toolCall' && block.id === toolCallId
  const index = found.content.findIndex(isCall)
  const call = found.content[index]
  return call?.type === 'toolCall' ? { call, key: `${found.id}_${index}` } : undefined
}

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
