import type { Env } from '../lib/env.ts'

/**
 * Resolves when a call has waited long enough, or is not wanted any more.
 * @param patience milliseconds
 * @param wait aborted by who has what was waited for
 */
export async function lateness(
  { env, signal }: { env: Env; signal: AbortSignal },
  patience: number,
  wait: AbortController,
): Promise<'late' | 'aborted'> {
  const end = () => wait.abort()
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  try {
    await env.sleep(patience, wait.signal)
    return 'late'
  } catch {
    return 'aborted'
  } finally {
    signal.removeEventListener('abort', end)
  }
}
