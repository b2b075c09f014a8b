import { TidemarkError } from '../../lib/errors.ts'
import { ADVANCE, advance, type Handover, type Lease } from '../decide/runs.ts'
import type { Decision, Needs, Scope, View } from '../ports.ts'
import type { ChatContext } from './context.ts'
import type { FetchContext } from './options.ts'
import { abandonRun, type LiveRun, openLiveRun, produce } from './producer.ts'
import { write } from './write.ts'

/** The runs that this instance produces, by id, with what ends when they have ended. */
export type Runs = Map<string, { run: LiveRun; done: Promise<void> }>

/** Milliseconds for which a closing handler waits for its runs to end by themselves. */
const PATIENCE = 5_000

/** Stops a run that is produced here; elsewhere its void lease stops it. */
function stop(runs: Runs, runId: string): void {
  runs.get(runId)?.run.controller.abort(new TidemarkError('aborted', 'the run was ended'))
}

function start(ctx: ChatContext, runs: Runs, lease: Lease, platform: FetchContext | undefined): void {
  const run = openLiveRun(ctx, lease)
  // Accepted while the handler was closing: it says so itself, and at once.
  if (ctx.closing.aborted) run.controller.abort(new TidemarkError('aborted', 'the server is shutting down'))
  const done = produce(ctx, run)
    .then(() => {
      runs.delete(lease.runId)
      return ctx.closing.aborted ? undefined : advanceSession(ctx, runs, lease.scope, platform)
    })
    .catch(ctx.report)
  runs.set(lease.runId, { run, done })
  platform?.waitUntil?.(done)
}

/** Commits a decision, and does what follows from it for runs: begins one, stops those that were ended. */
export async function commit<T extends Handover>(
  ctx: ChatContext,
  runs: Runs,
  scope: Scope,
  needs: Needs,
  decide: (view: View) => Decision<T>,
  platform?: FetchContext,
): Promise<T> {
  const answer = await write(ctx, scope, needs, decide)
  for (const runId of answer.ended) stop(runs, runId)
  if (answer.lease) start(ctx, runs, answer.lease, platform)
  return answer
}

/** Ends a run of the session whose producer is gone, and begins the next that waits. */
export async function advanceSession(
  ctx: ChatContext,
  runs: Runs,
  scope: Scope,
  platform?: FetchContext,
): Promise<void> {
  const terms = ctx.terms()
  const begin = !ctx.closing.aborted
  await commit(ctx, runs, scope, ADVANCE, (view) => advance(view, terms, { begin }), platform)
}

/** Commits what a run of this session has said so far, where it is produced here. */
export async function flush(runs: Runs, { sessionId }: Scope): Promise<void> {
  for (const { run } of runs.values()) {
    if (run.lease.scope.sessionId === sessionId) await run.log.flush()
  }
}

/** Stops all runs, and waits until they have said so; those that cannot are ended for them. */
export async function closeRuns(ctx: ChatContext, runs: Runs): Promise<void> {
  for (const runId of runs.keys()) stop(runs, runId)
  const timer = new AbortController()
  const late = ctx.env.sleep(PATIENCE, timer.signal).catch(() => undefined)
  const ended = async () => {
    while (runs.size > 0 && !timer.signal.aborted) {
      await Promise.all([...runs.values()].map(({ done }) => done))
    }
  }
  await Promise.race([ended(), late])
  timer.abort()
  for (const { run } of runs.values()) await abandonRun(ctx, run.lease)
}
