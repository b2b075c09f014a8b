import type { Message } from '../message/schema.ts'
import type { ChatEvent, Envelope } from '../protocol/events.ts'
import { messageOf, type SessionState } from '../protocol/state.ts'

/**
 * Events of a client that owns its own truth, numbered as a server would: consecutive numbers, a rising `rev` for each
 * change, a place for each new message.
 */
export function numberEvents(
  state: SessionState,
  events: readonly ChatEvent[],
  createTag: () => string,
): Envelope[] {
  let n = state.cursor?.n ?? 0
  let { rev, nextSeq } = state
  const places = new Map<string, number>()
  const place = (message: Message): number => {
    const seq = message.seq ?? messageOf(state, message.id)?.seq ?? places.get(message.id) ?? nextSeq++
    places.set(message.id, seq)
    return seq
  }
  return events.map((event) => {
    const id = { n: ++n, tag: createTag() }
    switch (event.type) {
      case 'message.created':
      case 'message.completed':
      case 'message.updated':
        return {
          id,
          event: { ...event, message: { ...event.message, seq: place(event.message), rev: ++rev } },
        }
      case 'message.failed':
      case 'message.interrupted': {
        const { message } = event
        const whole = message && { message: { ...message, seq: place(message), rev: rev + 1 } }
        return { id, event: { ...event, ...whole, rev: ++rev } }
      }
      case 'message.started':
        return { id, event: { ...event, rev: ++rev } }
      default:
        return { id, event }
    }
  })
}
