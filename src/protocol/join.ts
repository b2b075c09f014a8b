import { growingText } from './delta.ts'
import type { ChatEvent, Envelope, EventId } from './events.ts'
import { messageOf, type SessionState } from './state.ts'

type Delta = Extract<ChatEvent, { type: 'message.delta' }>

/** Several events as one: `first` is the number of the first of them. */
export interface Joined extends Envelope {
  first?: number
}

const continues = (last: EventId | undefined, id: EventId | undefined): boolean =>
  last ? id?.n === last.n + 1 : id === undefined

/** Whether `event` goes on exactly where `length` characters of the same block, begun at `offset`, end. */
const follows = (head: Delta, event: ChatEvent, length: number): event is Delta =>
  event.type === 'message.delta' &&
  event.id === head.id &&
  event.index === head.index &&
  event.block === undefined &&
  event.offset === (head.offset === undefined ? undefined : head.offset + length)

/**
 * Whether a delta begins where its block ends now, and its number is the next one: only then is a run of them one delta.
 * What is known, behind a hole or of another history is told apart event by event.
 */
function begins(state: SessionState, number: EventId | undefined, { id, index, offset }: Delta): boolean {
  if (number && number.n !== (state.cursor?.n ?? 0) + 1) return false
  if (offset === undefined) return true
  const message = messageOf(state, id)
  const block = message?.role === 'assistant' ? message.content[index] : undefined
  return offset === ((block && growingText(block)?.length) ?? 0)
}

/**
 * The event at `at`, joined with the deltas that go on where it ends, and the place of the next one: a burst is folded in
 * once per block and not once per event.
 */
export function joinFrom(
  state: SessionState,
  envelopes: readonly Envelope[],
  at: number,
  head: Envelope,
): [Joined, number] {
  const { event } = head
  let next = at + 1
  if (event.type !== 'message.delta' || !envelopes[next] || !begins(state, head.id, event))
    return [head, next]
  let { id } = head
  let { delta } = event
  for (let other = envelopes[next]; other; other = envelopes[++next]) {
    if (!continues(id, other.id) || !follows(event, other.event, delta.length)) break
    delta += other.event.delta
    id = other.id
  }
  const joined = { ...event, delta }
  return [head.id && id ? { id, first: head.id.n, event: joined } : { event: joined }, next]
}
