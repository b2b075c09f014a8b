import type { Usage } from '../message/schema.ts'

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
 * Usage from counts where cached tokens are a part of the prompt. Numbers that contradict each other give none at all:
 * an absent measurement can be estimated, a wrong one misleads whoever calibrates by it.
 */
export function usageOf(counts: Counts): Usage | undefined {
  const { prompt, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = counts
  if (prompt === undefined) return undefined
  const { completion = 0, total = prompt + completion } = counts
  const input = prompt - cacheRead - cacheWrite
  // Some count reasoning beside the completion instead of within it (xAI); their total tells which.
  const output = total === prompt + completion + reasoning ? completion + reasoning : completion
  if (input < 0 || total !== prompt + output) return undefined
  return { input, output, cacheRead, cacheWrite, total, ...(reasoning > 0 ? { reasoning } : {}) }
}
