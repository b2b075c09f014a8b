import type { Draft } from './draft.ts'

/** Token counts as a provider reports them, before we know whether they add up. */
export interface Counts {
  /** Everything that was read, cached parts included. */
  prompt?: number | undefined
  /** Everything that was written. */
  completion?: number | undefined
  cacheRead?: number | undefined
  cacheWrite?: number | undefined
  reasoning?: number | undefined
  total?: number | undefined
}

/**
 * What the call has cost so far, from counts where cached tokens are a part of the prompt; a later report replaces an earlier
 * one. Numbers that contradict each other are kept as they came (`found`), and are no usage: an absent measurement can be
 * estimated, a wrong one misleads whoever calibrates by it.
 */
export function setUsage(draft: Draft, found: unknown, counts: Counts): void {
  const { prompt, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = counts
  if (prompt === undefined) return
  const { completion = 0, total = prompt + completion } = counts
  const input = prompt - cacheRead - cacheWrite
  // Some count reasoning beside the completion instead of within it (xAI); their total tells which.
  const output = total === prompt + completion + reasoning ? completion + reasoning : completion
  if (input < 0 || output < 0 || total !== prompt + output) draft.spent = { usageRaw: found }
  else {
    const usage = { input, output, cacheRead, cacheWrite, total, ...(reasoning > 0 && { reasoning }) }
    draft.spent = { usage }
    draft.events.push({ type: 'usage', usage })
  }
}
