import {
  type AssistantMessage,
  type Message,
  SCHEMA_VERSION,
  type TextBlock,
  type UserMessage,
} from '../message/schema.ts'
import { textOf } from '../message/text.ts'

/** Why a message is not in a context. */
export type DropReason =
  /** It is on another branch. */
  | 'branch'
  /** The same message comes a second time. */
  | 'duplicate'
  /** It is not settled: not yet accepted, or still being written. */
  | 'unsettled'
  | 'failed'
  /** It was cut off, and the options say to leave such messages out. */
  | 'interrupted'
  /** There is nothing in it that a model could read. */
  | 'empty'
  /** A result without its call, or a second one for the same call. */
  | 'orphan'
  /** It consists of calls that nothing answers. */
  | 'dangling'
  /** Its turn, or a newer one, does not fit. */
  | 'budget'
  /** Its turn is older than the turns that are wanted. */
  | 'window'
  /** A summary stands for it. */
  | 'summary'
  /** It belongs to a finished task, for which one line stands. */
  | 'task'

/** What stands at the end of a text that was cut off. */
export const INTERRUPTED_MARK = '[interrupted]'

/** What stands before instructions that came in mid-session. */
export const INSTRUCTIONS_MARK = '[changed instructions]'

/** Thinking and citations are not content by themselves: a message of nothing else says nothing. */
function says({ content }: Message): boolean {
  for (const block of content) {
    if (block.type === 'text' ? /\S/.test(block.text) : block.type !== 'thinking' && block.type !== 'source')
      return true
  }
  return false
}

/** A message that says this instead: no revision of the other, and nothing that was counted or measured of it. */
const saying = (
  { id, sessionId, parentId, createdAt, updatedAt, metadata }: Message,
  text: string,
): Omit<UserMessage, 'role'> & { content: TextBlock[] } => ({
  id,
  sessionId,
  parentId,
  status: 'completed',
  content: [{ type: 'text', text }],
  createdAt,
  updatedAt,
  ...(metadata && { metadata }),
  v: SCHEMA_VERSION,
})

/** A half answer as text that says so: what else is in it may be cut anywhere. */
const asMarkedText = (message: AssistantMessage): AssistantMessage => ({
  role: 'assistant',
  ...saying(message, `${textOf(message).trimEnd()} ${INTERRUPTED_MARK}`),
})

/** The message as a model may see it, or why it may not. */
export function sendable(message: Message, interrupted: 'text' | 'drop'): Message | DropReason {
  if (message.status === 'pending' || message.status === 'streaming') return 'unsettled'
  if (message.status === 'failed') return 'failed'
  // An empty result is an answer, too.
  if (message.role === 'tool') return message
  if (message.status === 'completed') return says(message) ? message : 'empty'
  if (interrupted === 'drop' || message.role !== 'assistant') return 'interrupted'
  return textOf(message).trim() === '' ? 'empty' : asMarkedText(message)
}

/** A later system message as a note of the user, so that the first instructions stay on top and alone. */
export const asNote = (message: Message): UserMessage => ({
  role: 'user',
  ...saying(message, `${INSTRUCTIONS_MARK}\n${textOf(message)}`),
})

/** The ids of a message's calls that are ours to answer, where it has any. */
export function callsOf(message: AssistantMessage): string[] | undefined {
  let ids: string[] | undefined
  for (const block of message.content)
    if (block.type === 'toolCall' && !block.server) {
      if (ids) ids.push(block.id)
      else ids = [block.id]
    }
  return ids
}

/** The message with those of its own calls that have a result, once each; the very same where that is all of them. */
export function withAnsweredCalls(
  message: AssistantMessage,
  answered: ReadonlySet<string>,
): Message | 'dangling' {
  const seen = new Set<string>()
  const content = message.content.filter((block) => {
    if (block.type !== 'toolCall' || block.server) return true
    const kept = answered.has(block.id) && !seen.has(block.id)
    seen.add(block.id)
    return kept
  })
  if (content.length === message.content.length) return message
  const { rev: _rev, usage: _usage, ...rest } = message
  const stripped = { ...rest, content }
  return says(stripped) ? stripped : 'dangling'
}
