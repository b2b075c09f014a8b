import type { Decision, Needs, Scope, TransactOptions, View } from '../ports.ts'
import type { ChatContext } from './context.ts'
import { publish } from './publish.ts'

/** Commits a decision and brings its events to a log of its own, if there is one. */
export async function write<T>(
  ctx: ChatContext,
  scope: Scope,
  needs: Needs,
  decide: (view: View) => Decision<T>,
  options?: TransactOptions,
): Promise<T> {
  const answer = await ctx.store.transact(scope, needs, decide, options)
  // Not waited for: what is committed is safe, and whoever reads brings what is missing.
  if (ctx.external) publishNow(ctx, scope).catch(ctx.report)
  return answer
}

async function publishNow(ctx: ChatContext, scope: Scope): Promise<void> {
  const { session } = await ctx.store.read(scope, {})
  if (session) await publish(ctx, scope.sessionId, session.published)
}
