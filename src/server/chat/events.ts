import * as z from 'zod/mini'
import { TidemarkError } from '../../lib/errors.ts'
import { type EventId, parseEventId } from '../../protocol/events.ts'
import { type Call, openSession, query, scopeOf, streamEvents } from './request.ts'

const FeedQuery = z.object({ lastEventId: z.optional(z.string()) })

/** The cursor, from the header that `EventSource` sends by itself, or from the query for those who cannot set one. */
function cursorOf(call: Call): EventId | undefined {
  const text = call.request.headers.get('last-event-id') || query(call, FeedQuery).lastEventId
  if (!text) return undefined
  const id = parseEventId(text)
  if (id) return id
  throw new TidemarkError('invalid-request', 'last-event-id: expected <number>.<tag>')
}

/** `GET /sessions/:id/events`: the session's feed, from a cursor or from the beginning. */
export async function getEvents(call: Call): Promise<Response> {
  const cursor = cursorOf(call)
  await openSession(call)
  const release = call.ctx.feeds.take(call.account)
  return streamEvents(call, release, { scope: scopeOf(call), ...(cursor && { cursor }) })
}
