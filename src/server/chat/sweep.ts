import type { ChatContext } from './context.ts'
import { publishAll } from './publish.ts'
import { advanceSession, type Runs } from './runs.ts'

/** Sessions taken over at once. */
const CHUNK = 100

/** Ends what dead producers left behind, and begins what waits behind it. */
export async function sweep(ctx: ChatContext, runs: Runs): Promise<void> {
  for (;;) {
    const stale = await ctx.store.stale(ctx.env.now(), CHUNK)
    for (const scope of stale) {
      if (ctx.closing.aborted) return
      await advanceSession(ctx, runs, scope)
    }
    if (stale.length < CHUNK) break
  }
  await publishAll(ctx)
}

/** Sweeps again and again until the handler closes: a process may die at any time, and nobody may ask for its sessions. */
export async function keepSweeping(ctx: ChatContext, runs: Runs): Promise<void> {
  while (!ctx.closing.aborted) {
    await ctx.env.sleep(ctx.lease / 2, ctx.closing).catch(() => undefined)
    if (!ctx.closing.aborted) await sweep(ctx, runs).catch(ctx.report)
  }
}
