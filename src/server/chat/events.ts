import * as z from 'zod/mini'
import { type Call, lastEvent, openSession, query, scopeOf, streamEvents } from './request.ts'

const FeedQuery = z.object({ lastEventId: z.optional(z.string()) })

/** `GET /sessions/:id/events`: the session's feed, from a cursor or from the beginning. Who cannot set a header says it in the query. */
export async function getEvents(call: Call): Promise<Response> {
  const cursor = lastEvent(call, query(call, FeedQuery).lastEventId)
  await openSession(call)
  const release = call.ctx.feeds.take(call.account)
  return streamEvents(call, release, { scope: scopeOf(call), ...(cursor && { cursor }) })
}
