import type { ChatContext } from './context.ts'

const CHUNK = 500

/**
 * Brings a session's committed events into an event log of its own. Any instance may do it at any time, and two at once:
 * what is there already is left out.
 */
export async function publish(ctx: ChatContext, sessionId: string, after: number): Promise<void> {
  if (!ctx.external) return
  let at = after
  for (;;) {
    const entries = await ctx.store.events(sessionId, at, CHUNK)
    const last = entries.at(-1)
    if (!last) return
    await ctx.log.append(sessionId, entries)
    at = last.id.n
    await ctx.store.markPublished(sessionId, at)
  }
}

/** Publishes what any process committed and did not live to publish. */
export async function publishAll(ctx: ChatContext): Promise<void> {
  if (!ctx.external) return
  for (const { sessionId, published } of await ctx.store.unpublished(CHUNK)) {
    await publish(ctx, sessionId, published)
  }
}
