import type { Change } from '../../src/chat/ports.ts'
import type { Actor } from '../../src/testing/sim/schedule.ts'

interface Claim {
  /** The tab that made it, by the beginning of its token. */
  tab: string
  /** Milliseconds since the epoch, by the device's clock. */
  until: number
}

/** What tabs without Web Locks claim of a device's outbox, as it is stored. */
export interface Claims {
  /** Notes what a batch makes of them; returns what it should not. */
  note(changes: readonly Change[], now: number): string[]
  /** What is wrong with a tab that sends a row now. */
  sends(rowId: string, tab: Actor, now: number): string[]
  clear(): void
}

/** @param troubled whether the storage fails at times: one that does keeps nobody apart, so that a claim need not be there */
export function createClaims(troubled: boolean): Claims {
  const claims = new Map<string, Claim>()
  const note = (change: Change, now: number): string[] => {
    if (change.type === 'deleteOutbox') claims.delete(change.id)
    if (change.type !== 'outbox') return []
    const { id, claim, nextAttemptAt: until } = change.row
    const before = claims.get(id)
    claims.delete(id)
    if (claim === null) return []
    const tab = claim.slice(0, claim.lastIndexOf('-'))
    claims.set(id, { tab, until })
    return before && before.tab !== tab && before.until > now
      ? [`${tab} claims ${id}, which ${before.tab} has claimed until ${before.until}: it is ${now}`]
      : []
  }
  return {
    note: (changes, now) => changes.flatMap((change) => note(change, now)),
    sends(rowId, tab, now) {
      const claim = claims.get(rowId)
      return !troubled && claim && claim.tab !== tab.name && claim.until > now
        ? [`${tab.name} sends ${rowId}, which ${claim.tab} has claimed until ${claim.until}: it is ${now}`]
        : []
    },
    clear: () => claims.clear(),
  }
}
