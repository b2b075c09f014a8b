import type { Message } from '../message/schema.ts'
import type { ChatEvent, EventId } from './events.ts'
import type { Missing } from './state.ts'

/** How an event's number stands to the last applied one; `first` is the number of the first of several joined ones. */
export function order(
  cursor: EventId | null,
  id: EventId,
  first: number,
): 'known' | 'next' | 'hole' | 'diverged' {
  const last = cursor?.n ?? 0
  if (id.n === last) return id.tag === cursor?.tag ? 'known' : 'diverged'
  return id.n < last ? 'known' : first === last + 1 ? 'next' : 'hole'
}

const STOPPED: ReadonlySet<Missing['reason']> = new Set(['trimmed', 'diverged', 'restarted'])

/** Whether the other side cannot continue from here: no number proves anything until a snapshot has replaced the state. */
export const isStopped = ({ reason }: Missing): boolean => STOPPED.has(reason)

/** Whether the event with this number was the last one missing. */
export const isFilled = ({ reason, to }: Missing, { n }: EventId): boolean =>
  reason === 'hole' && to !== undefined && n >= to

/** The revision that an event brings, or 0 where it has none. */
export function revOf(event: ChatEvent): number {
  if ('rev' in event && event.rev !== undefined) return event.rev
  if ('message' in event && event.message) return event.message.rev ?? 0
  return 'session' in event ? (event.session.rev ?? 0) : 0
}

/** The message with the revision that its event names, where it names none itself. */
export const ofRev = (message: Message, rev: number | undefined): Message =>
  rev === undefined || message.rev !== undefined ? message : { ...message, rev }
