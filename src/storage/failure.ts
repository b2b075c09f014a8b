import { TidemarkError } from '../lib/errors.ts'

/** An error's name, and that of the one which Dexie wrapped in it. */
function namesOf(thrown: unknown): string[] {
  if (typeof thrown !== 'object' || thrown === null) return []
  const own = 'name' in thrown ? [String(thrown.name)] : []
  return 'inner' in thrown ? [...own, ...namesOf(thrown.inner)] : own
}

/** What the browser threw as the port's own error: `quota` where the disk is full, else `storage`, with the browser's name for it. */
export function storageError(thrown: unknown): TidemarkError {
  if (thrown instanceof TidemarkError) return thrown
  const names = namesOf(thrown)
  const code = names.includes('QuotaExceededError') ? 'quota' : 'storage'
  const detail = thrown instanceof Error || thrown instanceof DOMException ? thrown.message : String(thrown)
  return new TidemarkError(code, `${names.at(-1) ?? 'Error'}: ${detail}`, { cause: thrown })
}

/** What every call answers after `close()`. */
export const closedError = (): TidemarkError => new TidemarkError('storage', 'The storage is closed')
