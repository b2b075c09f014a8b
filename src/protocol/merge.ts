import { isSettled, type Message, type Session, type ToolMessage } from '../message/schema.ts'
import { growingText } from './delta.ts'
import type { ChatEvent } from './events.ts'

/** Whether two plain JSON values are the same. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const left = Object.entries(a).filter(([, value]) => value !== undefined)
  const right = new Map(Object.entries(b).filter(([, value]) => value !== undefined))
  return (
    left.length === right.size &&
    left.every(([key, value]) => right.has(key) && sameJson(value, right.get(key)))
  )
}

function textLength(message: Message): number {
  let length = 0
  if (message.role === 'assistant')
    for (const block of message.content) length += 1 + (growingText(block)?.length ?? 0)
  return length
}

/**
 * What a row keeps of the one it replaces: fields that not every server repeats. A server without revisions may leave out
 * dates and parents as well; what stands in for them must not overwrite what is known.
 */
function inherit(present: Message, given: Message): Message {
  const kept: Partial<Message> = {}
  if (given.seq === undefined && present.seq !== undefined) kept.seq = present.seq
  if (given.clientId === undefined && present.clientId !== undefined) kept.clientId = present.clientId
  if (given.rev === undefined) {
    kept.createdAt = present.createdAt
    kept.parentId = given.parentId ?? present.parentId
  }
  return Object.keys(kept).length === 0 ? given : ({ ...given, ...kept } as Message)
}

/**
 * Which of two versions of a message stands: monotonic, and commutative for rows with revisions. The higher `rev` wins;
 * at the same `rev` the settled one, then the one that has streamed further; without revisions an authoritative settled
 * row wins. What is known already returns the very same object.
 */
export function mergeMessage(present: Message | undefined, given: Message): Message {
  if (!present) return given
  const winner = inherit(present, given)
  // Without a revision a later date alone is no news: a server that names none is dated by when it was asked.
  const news = given.rev === undefined ? { ...winner, updatedAt: present.updatedAt } : winner
  if (sameJson(present, news)) return present
  if (given.rev !== undefined && present.rev !== undefined && given.rev !== present.rev) {
    return given.rev > present.rev ? winner : present
  }
  if (given.rev === undefined && present.rev !== undefined)
    return isSettled(present) ? present : preferSettled(present, winner)
  if (given.rev !== undefined && present.rev === undefined) return winner
  return preferSettled(present, winner)
}

function preferSettled(present: Message, given: Message): Message {
  if (isSettled(present) !== isSettled(given)) return isSettled(given) ? given : present
  // Both final, without revisions to compare: the owner's later word. Both in flight: the further, then the longer.
  if (isSettled(given)) return given.rev === undefined ? given : present
  if (present.status !== given.status) return given.status === 'streaming' ? given : present
  return textLength(given) > textLength(present) ? given : present
}

/**
 * The result that a call has already, where an event brings it another: the first stands, whoever comes later takes it.
 * Undefined where the event stands.
 */
export function settledBefore(
  event: ChatEvent,
  find: (id: string) => Message | undefined,
): ToolMessage | undefined {
  if (event.type !== 'message.completed' && event.type !== 'message.updated') return undefined
  const known = find(event.message.id)
  return known?.role === 'tool' && isSettled(known) ? known : undefined
}

/** The newer of two session rows. */
export function newerSession(present: Session | undefined, given: Session): Session {
  if (!present) return given
  if (given.rev !== undefined && present.rev !== undefined && given.rev <= present.rev) return present
  return sameJson(present, given) ? present : given
}
