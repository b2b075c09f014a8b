import { TidemarkError } from '../../lib/errors.ts'
import { traceparentAfter } from '../../lib/trace.ts'
import type { Message } from '../../message/schema.ts'
import type { ChatEvent } from '../../protocol/events.ts'
import { callLog } from '../../turn/call-log.ts'
import { runTurn } from '../../turn/run-turn.ts'
import { structured } from '../../turn/structured.ts'
import { ADVANCE, abandon, append, type Lease, needsOf, renew } from '../decide/runs.ts'
import type { Scope } from '../ports.ts'
import type { ChatContext } from './context.ts'
import { type BatchedLog, createBatchedLog } from './run-log.ts'
import { write } from './write.ts'

/** A run that this instance produces. */
export interface LiveRun {
  readonly lease: Lease
  readonly controller: AbortController
  readonly log: BatchedLog
}

const lost = (): TidemarkError => new TidemarkError('conflict', 'the run was ended by another')

/** Commits of deltas alone after which the message's row is written again. */
const FOLD_EVERY = 128

async function appendEvents(
  ctx: ChatContext,
  lease: Lease,
  events: readonly ChatEvent[],
  fold: boolean,
): Promise<readonly Message[]> {
  const relaxed = events.every(({ type }) => type === 'message.delta')
  const terms = ctx.terms()
  const decide = (view: Parameters<typeof append>[0]) => append(view, lease, events, terms)
  const written = await write(ctx, lease.scope, needsOf(events, fold), decide, { relaxed })
  if (written === 'lost') throw lost()
  return written
}

export function openLiveRun(ctx: ChatContext, lease: Lease): LiveRun {
  const { batch = 30 } = ctx.options
  let commits = 0
  const commit = (events: readonly ChatEvent[]) =>
    appendEvents(ctx, lease, events, ++commits % FOLD_EVERY === 0)
  return { lease, controller: new AbortController(), log: createBatchedLog({ commit, env: ctx.env, batch }) }
}

/** Keeps the lease of a run that says nothing for a while. Ends with its signal. */
async function keepLease(ctx: ChatContext, { lease, controller }: LiveRun): Promise<void> {
  const { signal } = controller
  for (;;) {
    await ctx.env.sleep(ctx.lease / 3, signal).catch(() => undefined)
    if (signal.aborted) return
    try {
      const terms = ctx.terms()
      const held = await ctx.store.transact(lease.scope, {}, (view) => renew(view, lease, terms), {
        relaxed: true,
      })
      if (held === 'lost') controller.abort(lost())
    } catch (error) {
      // The lease lives on until it lapses; if the store is back before, nothing has happened.
      ctx.report(error)
    }
  }
}

/** Whether somebody wants a run to make way for what was said meanwhile. A store that cannot say so ends no run by that. */
async function isSteered(ctx: ChatContext, scope: Scope): Promise<boolean> {
  try {
    return (await ctx.store.read(scope, {})).queue.some(({ kind }) => kind === 'steer')
  } catch (error) {
    ctx.report(error)
    return false
  }
}

async function answer(ctx: ChatContext, { lease, controller, log }: LiveRun): Promise<void> {
  const { scope, runId, answers, messages, continues } = lease
  const { model, tools, system, call, context, maxSteps } = ctx.options
  const needs = { path: messages.at(-1) ?? answers, messages: [answers] }
  const { path: whole, messages: rows } = await ctx.store.read(scope, needs)
  const asked = continues ? rows.get(answers)?.message : undefined
  const cut = asked?.role === 'assistant' ? asked : undefined
  // It is beside what the run makes, not before.
  const path = whole.filter(({ id }) => id !== cut?.id)
  const from = path.findIndex(({ id }) => id === messages[0])
  const end = from < 0 ? path.length : from
  const records = ctx.store.records?.(scope)
  const calls = records && callLog(records, { keep: ctx.options.keepCalls, onError: ctx.report })
  const { watch = [] } = ctx.options
  await runTurn({
    runId,
    sessionId: scope.sessionId,
    history: path.slice(0, end),
    trail: path.slice(end),
    ...(cut && { continues: cut }),
    model,
    log,
    env: ctx.env,
    signal: controller.signal,
    yields: () => isSteered(ctx, scope),
    ...(tools && { tools }),
    ...(system !== undefined && { system }),
    ...(call && { call }),
    structured,
    ...(context && { context }),
    ...(maxSteps !== undefined && { maxSteps }),
    ...(records && { records }),
    watch: calls ? [calls.watch, ...watch] : watch,
    traceparent: ctx.traces.take(runId) ?? traceparentAfter(undefined, ctx.env.random),
  }).finally(calls?.flush)
}

/** Ends a run that can no longer say so itself, if it has not ended; what it said is kept. */
export async function abandonRun(ctx: ChatContext, lease: Lease): Promise<void> {
  try {
    const terms = ctx.terms()
    await write(ctx, lease.scope, ADVANCE, (view) => abandon(view, lease, terms))
  } catch (error) {
    // Left to the lease.
    ctx.report(error)
  }
}

/** From the lease to the end, whatever happens. Never rejects. */
export async function produce(ctx: ChatContext, run: LiveRun): Promise<void> {
  const { lease, controller } = run
  void keepLease(ctx, run)
  try {
    await answer(ctx, run)
  } catch (error) {
    // A lost lease is somebody's decision. Anything else ended the run before it could say so itself.
    if (!(error instanceof TidemarkError && error.code === 'conflict')) ctx.report(error)
  }
  await abandonRun(ctx, lease)
  controller.abort()
}
