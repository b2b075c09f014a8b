import type { Message } from '../message/schema.ts'
import { parseEventId } from '../protocol/events.ts'
import { messagesOf, putMessages, type SessionState, type Trace } from '../protocol/state.ts'
import { LOCAL_POSITION, type MessageWindow } from './ports.ts'

/**
 * What this client said and numbered before it could read what is stored, moved behind that: as if it had been read first.
 * Only for a client that owns the truth; a server's numbers stand.
 */
export function behindStored(state: SessionState, window: MessageWindow, trace: Trace): SessionState {
  const { session, rows } = window
  const places = rows.filter(({ position }) => position < LOCAL_POSITION).map(({ position }) => position)
  const seqs = Math.max(0, ...places)
  const revs = session?.rev ?? 0
  const events = (session?.eventId && parseEventId(session.eventId)?.n) || 0
  if (seqs + revs + events === 0) return state
  const moved = [...messagesOf(state)].map(
    (message): Message => ({
      ...message,
      ...(message.seq !== undefined && { seq: message.seq + seqs }),
      ...(message.rev !== undefined && { rev: message.rev + revs }),
    }),
  )
  const { cursor } = state
  return {
    ...putMessages(state, moved, trace),
    cursor: cursor && { ...cursor, n: cursor.n + events },
    rev: state.rev + revs,
    nextSeq: state.nextSeq + seqs,
  }
}

/** The next local position after what is stored. */
export function localAfter({ session, outbox, rows }: MessageWindow): number {
  const positions = [...outbox, ...rows].map(({ position }) => position - LOCAL_POSITION + 1)
  return Math.max(0, session?.nextLocal ?? 0, ...positions)
}
