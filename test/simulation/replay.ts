import type { Plan } from './plan.ts'
import { type Outcome, walk } from './walk.ts'
import type { Planted } from './world.ts'

/** Lines of what happened last that a report shows. */
const LAST = 40

/** A failing walk with fewer actions that fails as well, and how it ends. At most so many walks are tried. */
export async function shrink(
  plan: Plan,
  planted: Planted = {},
  most = 60,
): Promise<{ plan: Plan; outcome: Outcome }> {
  let best = plan
  let outcome = await walk(plan, planted)
  let tries = 0
  for (let size = Math.ceil(plan.actions.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < best.actions.length && tries < most; ) {
      const fewer = { ...best, actions: [...best.actions.slice(0, at), ...best.actions.slice(at + size)] }
      const tried = await walk(fewer, planted)
      tries++
      if (tried.problems.length > 0) {
        best = fewer
        outcome = tried
      } else at += size
    }
  }
  return { plan: best, outcome }
}

/** What somebody needs to see a walk fail again. */
export async function report(plan: Plan, planted: Planted = {}): Promise<string> {
  const { plan: least, outcome } = await shrink(plan, planted)
  const kept = least.actions.map((action) => plan.actions.indexOf(action))
  return [
    `seed ${plan.seed} fails; again with TIDEMARK_SEED=${plan.seed}:${kept}`,
    ...outcome.problems.slice(0, 3),
    '...',
    ...outcome.trace.slice(-LAST),
    JSON.stringify(least),
  ].join('\n')
}

/** What was injected and done, in all. */
export function addCounts(total: Map<string, number>, counts: ReadonlyMap<string, number>): void {
  for (const [what, times] of counts) total.set(what, (total.get(what) ?? 0) + times)
}

export const printCounts = (total: ReadonlyMap<string, number>): string =>
  [...total]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([what, times]) => `${what} ${times}`)
    .join(' · ')
